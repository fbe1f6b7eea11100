"""Tools for a model that acts on a user's files: registry, validation, policy, confinement. Knows nothing of `bridge`.

Only the plain models are imported at once; the rest (and jsonschema with it) when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tool_manager.models import JsonObject, JsonValue, ToolCall, ToolResult, ToolSpec, call_id, canonical_json

if TYPE_CHECKING:
    from tool_manager.errors import (
        ChangedError,
        MissingError,
        OutsideError,
        PathError,
        RegistrationError,
        ToolError,
    )
    from tool_manager.files import DiskFiles, FileBackend, Snapshot
    from tool_manager.manager import ToolManager, builtin_specs
    from tool_manager.middleware import Middleware, Next
    from tool_manager.plan import Approver, Change, Decision, Denial, Effect, EffectLog, Grant, Plan, Prepared
    from tool_manager.policy import Policy, Request
    from tool_manager.registry import ToolDefinition, tool
    from tool_manager.room import Room
    from tool_manager.validation import Invalid
    from tool_manager.workspace import Place, Workspace

__all__ = [
    "Approver",
    "Change",
    "ChangedError",
    "Decision",
    "Denial",
    "DiskFiles",
    "Effect",
    "EffectLog",
    "FileBackend",
    "Grant",
    "Invalid",
    "JsonObject",
    "JsonValue",
    "Middleware",
    "MissingError",
    "Next",
    "OutsideError",
    "PathError",
    "Place",
    "Plan",
    "Policy",
    "Prepared",
    "RegistrationError",
    "Request",
    "Room",
    "Snapshot",
    "ToolCall",
    "ToolDefinition",
    "ToolError",
    "ToolManager",
    "ToolResult",
    "ToolSpec",
    "Workspace",
    "builtin_specs",
    "call_id",
    "canonical_json",
    "tool",
]

_HOME = {
    name: module
    for module, names in {
        "errors": "ChangedError MissingError OutsideError PathError RegistrationError ToolError",
        "files": "DiskFiles FileBackend Snapshot",
        "manager": "ToolManager builtin_specs",
        "middleware": "Middleware Next",
        "plan": "Approver Change Decision Denial Effect EffectLog Grant Plan Prepared",
        "policy": "Policy Request",
        "registry": "ToolDefinition tool",
        "room": "Room",
        "validation": "Invalid",
        "workspace": "Place Workspace",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'tool_manager' has no attribute {name!r}")
    return getattr(import_module(f"tool_manager.{_HOME[name]}"), name)
