"""Forge's later form of a call: elements instead of JSON between `<tool>` and `</tool>` (F35).

No XML library reads it: those that stream expand what a document type declares. There is none here, and no attribute,
no namespace and no comment; whatever else stands between the tags is refused and never repaired. A bare `&` stays one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape

from bridge.protocol import limits
from bridge.protocol.tagged.blocks import BlockStream
from tool_manager.models import JsonObject, JsonValue, ToolCall

CHILDREN = ("<server_name>", "<tool_name>", "<arguments>")
"""What such a call may begin with."""

_NAMES = tuple(child[1:-1] for child in CHILDREN)
_LONGEST = max(map(len, CHILDREN))
_TOKEN = re.compile(
    r"<!\[CDATA\[(?P<data>.*?)\]\]>|<(?P<end>/?)(?P<name>[^\W\d][\w.-]*)\s*(?P<empty>/?)>|(?P<text>[^<]+)", re.S
)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6}|amp|lt|gt|quot|apos);")
_ENDS = {False: re.compile(r"<!\[CDATA\[|</tool>"), True: re.compile("]]>")}
_HELD = len("<![CDATA[") - 1


class BadMarkup(Exception):
    """What stands between the tags is no call; the message is half a sentence."""


@dataclass(slots=True)
class _Element:
    name: str
    text: list[str] = field(default_factory=list)
    children: list[_Element] = field(default_factory=list)


class ForgeStream(BlockStream):
    """Also takes blocks made of elements; `read` is given what they hold as if it had been JSON."""

    _in_data = False

    def _begins_nothing(self, data: str, at: int) -> bool:
        return len(data) - at >= _LONGEST and data.startswith("<", at) and not data.startswith(CHILDREN, at)

    def _no_json(self, data: str, at: int) -> None:
        if data[at] == "<":
            self._state = self._first_child
        else:
            super()._no_json(data, at)

    def _first_child(self, data: str, at: int) -> int:
        head = data[at : at + _LONGEST]
        if head.startswith(CHILDREN):
            self._state = self._in_markup
        elif any(child.startswith(head) for child in CHILDREN):
            self._carry = head
            return len(data)
        else:
            super()._no_json(data, at)
        return at

    def _in_markup(self, data: str, at: int) -> int:
        found = _ENDS[self._in_data].search(data, at)
        if found is None:
            keep = max(at, len(data) - _HELD)
            self._take(data, at, keep)
            self._carry = data[keep:]
            return len(data)
        self._take(data, at, found.end())
        if found[0] == self._close:
            self._end_markup(self._base + found.end())
        else:
            self._in_data = not self._in_data
        return found.end()

    def _end_markup(self, end: int) -> None:
        try:
            calls = self._read(read_markup(self._out.held[len(self._open) : -len(self._close)]))
        except BadMarkup as error:
            calls = f"failed to parse tool call XML: {error}"
        if isinstance(calls, str):
            self._fail("shape", calls, self._opened)
        else:
            self._block = [ToolCall.of(call.name, call.args, written={}) for call in calls]
            self._finish(end)

    def _end_of_reply(self, text: str) -> None:
        if self._state in (self._first_child, self._in_markup):
            self._fail("cut", f"the reply ends without {self._close}", self._length)
        super()._end_of_reply(text)


def read_markup(text: str) -> JsonObject:
    """The fields that `text` names, leaves as they were written. Raises `BadMarkup`; linear in `text`."""
    if len(text) > limits.MAX_MARKUP:
        raise BadMarkup(f"it is longer than {limits.MAX_MARKUP} characters")
    root = _tree(text)
    names = [child.name for child in root.children]
    if len(set(names)) < len(names):
        raise BadMarkup("an element stands there twice")
    if strange := set(names).difference(_NAMES):
        raise BadMarkup(f"{min(strange)[: limits.EXCERPT]!a} is none of {', '.join(_NAMES)}")
    fields = dict(zip(names, map(_value, root.children), strict=True))
    for name in ("server_name", "tool_name"):
        if isinstance(fields.get(name), str):
            fields[name] = fields[name].strip()
    if isinstance(fields.get("arguments"), str) and not fields["arguments"].strip():
        fields["arguments"] = {}
    _refuse_mixed(root)
    return fields


def _tree(text: str) -> _Element:
    stack, at = [_Element("")], 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise BadMarkup("a < begins no element; write it as &lt; or in CDATA")
        at = token.end()
        _grow(stack, token)
    if len(stack) > 1:
        raise BadMarkup("an element is not closed")
    return stack[0]


def _grow(stack: list[_Element], token: re.Match[str]) -> None:
    if token["name"] is None:
        plain = token["data"]
        stack[-1].text.append(_decoded(token["text"]) if plain is None else plain)
    elif token["end"]:
        if token["empty"] or stack[-1].name != token["name"]:
            raise BadMarkup("a closing tag does not match")
        stack.pop()
    else:
        element = _Element(token["name"])
        stack[-1].children.append(element)
        if not token["empty"]:
            stack.append(element)
        if len(stack) > limits.MAX_DEPTH:
            raise BadMarkup(f"it is nested more than {limits.MAX_DEPTH} levels deep")


def _decoded(text: str) -> str:
    return _ENTITY.sub(lambda found: unescape(found[0]), text)


def _value(element: _Element) -> JsonValue:
    if not element.children:
        return "".join(element.text)
    _refuse_mixed(element)
    grouped: dict[str, list[JsonValue]] = {}
    for child in element.children:
        grouped.setdefault(child.name, []).append(_value(child))
    return {name: values if len(values) > 1 else values[0] for name, values in grouped.items()}


def _refuse_mixed(element: _Element) -> None:
    if "".join(element.text).strip():
        raise BadMarkup("text stands beside elements")
