"""Calls as OpenAI's models write them: `{"tool_calls": [{"function": {"name", "arguments"}}]}` and its relatives
(A18–A21), any number in a reply."""

from __future__ import annotations

from collections.abc import Set
from functools import partial
from typing import ClassVar, Final

from bridge.protocol.dialect import StreamParser, Tools
from bridge.protocol.jsonform.jsonblobs import BlobStream
from bridge.protocol.jsonform.jsondialect import JsonDialect
from bridge.protocol.jsonform.jsonwalk import decode_text
from bridge.protocol.jsonform.reading import ARGUMENTS, Reading, sign
from bridge.protocol.jsontext import BadJson
from tool_manager.models import JsonObject, JsonValue, ToolCall, ToolSpec

_BARE: Final = frozenset({"name", "id", "type", "index", "call_id"})
"""What may stand in a call without arguments."""

_SIGN: Final = sign(
    r'tool_calls"\s*+:\s*+\[',
    r'tools"\s*+:\s*+\[\s*+\{',
    r'(?:tool|function)"\s*+:\s*+\{',
    r'arguments"\s*+:\s*+["{]',
)


class OpenAiJsonDialect(JsonDialect):
    name: ClassVar[str] = "openai_json"
    schema_key: ClassVar[str] = "parameters"

    def stream(self, *, multi: bool = False, tools: Tools | None = None) -> StreamParser:
        """A parser that tells of no call before the reply is over: arguments that are no JSON void all of it (A20)."""
        del multi
        return BlobStream(partial(read_calls, tools=tools), _SIGN, announces=False)

    def shape(self, call: ToolCall) -> JsonObject:
        return {"tool": {"function": {"name": call.name, "arguments": call.args}}}

    def schema(self, tool: ToolSpec) -> JsonObject:
        return {"type": "function", "function": super().schema(tool)}


def read_calls(value: JsonValue, *, tools: Tools | None = None) -> Reading:
    """The calls of a JSON value: of the list `tool_calls`, else of the list `tools`, else of the object `tool`, else
    of the value itself or its items (A18).

    Items that are no call are left out (A19), arguments that are a string but no JSON are fatal (A20).
    """
    items, is_wrapped = _items(value)
    beside = value.keys() & ARGUMENTS if isinstance(value, dict) and is_wrapped else set()
    calls: list[ToolCall] = []
    problem = ""
    for item in items:
        try:
            calls += _call(item, is_wrapped, tools, beside)
        except BadJson as error:
            return Reading(problem=f'the string in "arguments" is not valid JSON: {error}', is_fatal=True)
        except _NoCall as found:
            problem = problem or str(found)
    return Reading(calls, problem)


class _NoCall(Exception):
    """An item that was meant as a call and is none; the message says why, in half a sentence."""


def _items(value: JsonValue) -> tuple[list[JsonValue], bool]:
    """What may be calls, and whether something around them says so."""
    if not isinstance(value, dict):
        return (value if isinstance(value, list) else []), False
    for key in ("tool_calls", "tools"):
        if isinstance(value.get(key), list):
            return value[key], True
    if isinstance(value.get("tool"), dict):
        return [value["tool"]], True
    return [value], False


def _call(item: JsonValue, is_wrapped: bool, tools: Tools | None, beside: Set[str]) -> list[ToolCall]:
    if not isinstance(item, dict):
        return []
    if isinstance(item.get("function"), dict):
        beside = beside | (item.keys() - {"function"})
        item, is_wrapped = item["function"], True
    name = item.get("name")
    if "arguments" not in item:
        return _bare(item, is_wrapped or (tools is not None and _is_known(name, tools)), beside | item.keys())
    if not isinstance(name, str) or not name:
        raise _NoCall('a call needs "name", a string that names a tool, beside its "arguments"')
    return [ToolCall.of(name, _arguments(item["arguments"]))]


def _bare(item: JsonObject, is_meant: bool, keys: Set[str]) -> list[ToolCall]:
    """The call of an item without arguments: a tool's definition says "parameters" in the same place, a bare name is a
    call only where one is meant, and no other key may hold what is missing."""
    name = item.get("name")
    if "parameters" in item or not is_meant or not isinstance(name, str) or not name:
        return []
    if not keys <= _BARE:
        raise _NoCall('the arguments must stand under "arguments"')
    return [ToolCall.of(name, {})]


def _is_known(name: JsonValue, tools: Tools) -> bool:
    return isinstance(name, str) and name in tools


def _arguments(given: JsonValue) -> JsonObject:
    if given is None or (isinstance(given, str) and not given.strip()):
        return {}
    if isinstance(given, str):
        given = decode_text(given)
    if not isinstance(given, dict):
        raise _NoCall('"arguments" must be a JSON object')
    return given


DIALECT = OpenAiJsonDialect()
