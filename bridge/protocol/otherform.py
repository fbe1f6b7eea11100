"""A reply that calls a tool in the form of another interface: it cannot run here, but it was no answer either."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from bridge.protocol.jsontext import decode_prefix
from bridge.protocol.remarks import Remark
from bridge.protocol.tagged.edges import skip
from tool_manager.models import JsonValue

_NAMES: Final = ("name", "tool", "tool_name", "function", "recipient_name")
_ARGUMENTS: Final = frozenset({"arguments", "args", "parameters", "params", "input"})
_AROUND: Final = ("function", "tool", "functionCall", "tool_call")


def other_form(text: str, tools: Container[str]) -> Remark | None:
    """A remark if `text`, or the code fence at its end, is nothing but JSON that calls one of `tools`. Linear."""
    for start in {0, _last_fence(text)}:
        at, value = _only_json(text[start:] + "\n")
        elements = value if isinstance(value, list) else [value]
        if any(_calls(each, tools) for each in elements):
            told = "this is another way of writing calls; write it in the form that was shown to you"
            return Remark("malformed_call", "shape", told, start + at)
    return None


def _last_fence(text: str) -> int:
    """Where the fence begins that ends `text`; 0 if none does."""
    body = text.rstrip()
    return max(0, body.rfind("```", 0, len(body.rstrip("`")))) if body.endswith("```") else 0


def _only_json(text: str) -> tuple[int, JsonValue]:
    start, _ = skip(text, 0, marks=True)
    value, end = decode_prefix(text, start) if text.startswith(("{", "["), start) else (None, 0)
    return start, value if end and skip(text, end, marks=True)[0] == len(text) else None


def _calls(value: JsonValue, tools: Container[str]) -> bool:
    if not isinstance(value, dict):
        return False
    return any(_names(each, tools) for each in (value, *(value.get(key) for key in _AROUND)))


def _names(value: JsonValue, tools: Container[str]) -> bool:
    if not isinstance(value, dict) or _ARGUMENTS.isdisjoint(value):
        return False
    names = (value.get(key) for key in _NAMES)
    return any(isinstance(name, str) and name in tools for name in names)
