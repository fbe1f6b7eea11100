"""Calls as Gemini writes them: `{"name", "args"}`, or a list of such (A22), any number in a reply."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, Final

from bridge.protocol.dialect import StreamParser, Tools
from bridge.protocol.jsonform.jsonblobs import BlobStream
from bridge.protocol.jsonform.jsondialect import JsonDialect
from bridge.protocol.jsonform.reading import Reading, sign
from tool_manager.models import JsonObject, JsonValue, ToolCall

_SIGN: Final = sign(r'args"\s*+:\s*+\{')


class GeminiJsonDialect(JsonDialect):
    name: ClassVar[str] = "gemini_json"
    closed_block_is_final: ClassVar[bool] = True
    schema_key: ClassVar[str] = "parameters"

    def stream(self, *, multi: bool = False, tools: Tools | None = None) -> StreamParser:
        del multi
        return BlobStream(partial(read_calls, tools=tools), _SIGN)

    def shape(self, call: ToolCall) -> JsonObject:
        return {"name": call.name, "args": call.args}


def read_calls(value: JsonValue, *, tools: Tools | None = None) -> Reading:
    """The calls of a JSON value: `name` must be a string and `args` an object, or the item is left out (A22)."""
    items = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]
    calls = [ToolCall.of(item["name"], item["args"]) for item in items if _is_call(item)]
    was_meant = any(_was_meant(item, tools) for item in items if not _is_call(item))
    return Reading(calls, 'a call needs "name", a string, and "args", a JSON object' if was_meant else "")


def _is_call(item: JsonObject) -> bool:
    name = item.get("name")
    return isinstance(name, str) and bool(name) and isinstance(item.get("args"), dict)


def _was_meant(item: JsonObject, tools: Tools | None) -> bool:
    name = item.get("name")
    return isinstance(name, str) and ("args" in item or (item.keys() == {"name"} and name in (tools or ())))


DIALECT = GeminiJsonDialect()
