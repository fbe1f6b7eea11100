from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import tool_manager

ROOM = Path(tool_manager.__file__).parent


def test_public_names() -> None:
    assert sorted(tool_manager.__all__) == [
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
    assert all(getattr(tool_manager, name) is not None for name in tool_manager.__all__)


def test_the_room_knows_nothing_of_bridge() -> None:
    for path in ROOM.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.split(".")[0] == "bridge"], path


def test_the_plain_models_come_without_the_rest() -> None:
    code = "import sys, tool_manager.models; print([m for m in ('jsonschema', 'asyncio') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "[]"
