"""How a custom tool's handler is called."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any, TypeAlias

from tool_manager.models import JsonObject, JsonValue
from tool_manager.named import named
from tool_manager.plan import Plan
from tool_manager.registry import ToolDefinition
from tool_manager.room import Room
from tool_manager.schema import sole
from tool_manager.validation import handler_args

Bound: TypeAlias = tuple[list[JsonValue], JsonObject]
"""Positional arguments and those by name."""


async def plan_handler(room: Room, definition: ToolDefinition, args: JsonObject) -> Plan:
    """A plan that calls the handler. What it touches is unknown, so it waits for every write, and they for it."""
    assert definition.handler is not None
    given = handler_args(definition, args)
    bound = deepcopy(bind(definition.handler, given, definition))
    keys = named(given, definition.parameters, str(room.workspace.path))
    return Plan(run=partial(_call, room, definition.handler, bound), resources=("tree:.",), named=keys)


def bind(handler: Callable[..., Any], args: JsonObject, definition: ToolDefinition) -> Bound:
    """The arguments by name; the whole object for a handler with one parameter, if no property has its name (T37)."""
    try:
        parameters = inspect.signature(handler).parameters
    except (TypeError, ValueError):
        return [], args  # a C function without a signature
    whole = sole(parameters.values())
    if whole is not None and whole.name not in definition.parameters.get("properties", {}):
        return [args], {}
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return [], args
    return [], {key: value for key, value in args.items() if key in parameters}


async def _call(room: Room, handler: Callable[..., Any], bound: Bound) -> JsonValue:
    listed, by_name = bound
    if inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(getattr(handler, "__call__", None)):  # noqa: B004
        return await handler(*listed, **by_name)
    # a plain function may block: not on the event loop
    answer = await room.disk.run(handler, *listed, **by_name)
    return await answer if inspect.isawaitable(answer) else answer
