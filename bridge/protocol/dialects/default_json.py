"""Calls of models without a form of their own: `{"tool": {"function", "parameters"}}` (A23), any number in a reply."""

from __future__ import annotations

from typing import ClassVar, Final

from bridge.protocol.dialect import StreamParser, Tools
from bridge.protocol.jsonform.jsonblobs import BlobStream
from bridge.protocol.jsonform.jsondialect import JsonDialect
from bridge.protocol.jsonform.reading import ARGUMENTS, Reading, sign
from tool_manager.models import JsonObject, JsonValue, ToolCall

_SIGN: Final = sign(r'tool"\s*+:\s*+\{\s*+"(?:function|parameters)"')


class DefaultJsonDialect(JsonDialect):
    name: ClassVar[str] = "default_json"
    closed_block_is_final: ClassVar[bool] = True
    schema_key: ClassVar[str] = "inputSchema"

    def stream(self, *, multi: bool = False, tools: Tools | None = None) -> StreamParser:
        del multi, tools  # the wrapper says that a call is meant; an unknown name is for the ToolManager to refuse
        return BlobStream(read_calls, _SIGN)

    def shape(self, call: ToolCall) -> JsonObject:
        return {"tool": {"function": call.name, "parameters": call.args}}


def read_calls(value: JsonValue) -> Reading:
    """The call of a JSON object; `parameters` may be missing or null. A list of calls is none (A23)."""
    if isinstance(value, list):
        was_meant = any(read_calls(item).calls for item in value if isinstance(item, dict))
        return Reading(problem="calls must stand one after the other, not in a list" if was_meant else "")
    tool = value.get("tool") if isinstance(value, dict) else None
    if not isinstance(tool, dict):
        return Reading()
    name, args = tool.get("function"), tool.get("parameters")
    is_elsewhere = "parameters" not in tool and bool((tool.keys() | value.keys()) & ARGUMENTS)
    args = {} if args is None else args
    if isinstance(name, str) and name and isinstance(args, dict) and not is_elsewhere:
        return Reading([ToolCall.of(name, args)])
    was_meant = isinstance(name, str) or "parameters" in tool
    return Reading(problem='a call needs "function", a string, and "parameters", a JSON object' if was_meant else "")


DIALECT = DefaultJsonDialect()
