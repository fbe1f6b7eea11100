"""How a custom tool's handler is called."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

from tool_manager.models import JsonObject, JsonValue
from tool_manager.plan import Plan
from tool_manager.registry import ToolDefinition
from tool_manager.room import Room
from tool_manager.validation import handler_args


async def plan_handler(room: Room, definition: ToolDefinition, args: JsonObject) -> Plan:
    """A plan that calls the handler. What it touches is unknown, so it waits for every write, and they for it."""
    assert definition.handler is not None
    bound = deepcopy(bind(definition.handler, handler_args(definition, args), definition))
    return Plan(run=partial(_call, room, definition.handler, bound), resources=("tree:.",))


def bind(handler: Callable[..., Any], args: JsonObject, definition: ToolDefinition) -> JsonObject:
    """The keyword arguments: by name, or the whole object for a handler with one parameter named `args`."""
    try:
        parameters = inspect.signature(handler).parameters
    except (TypeError, ValueError):
        return args  # a C function without a signature
    if list(parameters) == ["args"] and "args" not in definition.parameters.get("properties", {}):
        return {"args": args}
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return args
    return {key: value for key, value in args.items() if key in parameters}


async def _call(room: Room, handler: Callable[..., Any], args: JsonObject) -> JsonValue:
    if inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(getattr(handler, "__call__", None)):  # noqa: B004
        return await handler(**args)
    answer = await room.disk.run(handler, **args)  # a plain function may block: not on the event loop
    return await answer if inspect.isawaitable(answer) else answer
