"""Calls and definitions of tools as XML; `bridge.protocol.xmlform.xmlblocks` reads the calls back (A11, A12)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from bridge.protocol.signatures import tool_line
from bridge.protocol.xmlform.xmltext import attribute, escape
from tool_manager.models import JsonObject, JsonValue, ToolCall, ToolSpec

_STEP = "    "


def call_lines(call: ToolCall, *, wrapped: bool) -> Iterator[str]:
    """`call` as a `<tool>` block, its arguments in `<arguments>` if `wrapped`.

    Every leaf is written as text, an empty object or list as nothing: which it was, the tool's schema says (A38).
    """
    yield f"<tool name={attribute(call.name)}>"
    depth = 2 if wrapped else 1
    lines = [line for name, value in call.args.items() for line in _argument(name, value, depth)]
    if wrapped and lines:
        yield f"{_STEP}<arguments>"
    yield from lines
    if wrapped and lines:
        yield f"{_STEP}</arguments>"
    yield "</tool>"


def definition(spec: ToolSpec) -> str:
    """`spec` as the prompt shows it (A12). Raises `ValueError` where its name or schema makes no sense."""
    tool_line(spec)  # says what is wrong with a schema
    lines = list(_parameters(spec.parameters, 2))
    head = f"<tool name={attribute(spec.name)} description={attribute(spec.description)}>"
    if not lines:
        return f"{head}\n{_STEP}<!-- This tool takes no arguments -->\n</tool>"
    return "\n".join([head, f"{_STEP}<arguments>", *lines, f"{_STEP}</arguments>", "</tool>"])


def _argument(name: str, value: JsonValue, depth: int) -> Iterator[str]:
    yield from _element(f"arg name={attribute(name)}", value, depth)


def _element(head: str, value: JsonValue, depth: int) -> Iterator[str]:
    indent, name = _STEP * depth, head.split(" ")[0]
    if not isinstance(value, dict | list) or not value:
        yield f"{indent}<{head}>{_leaf(value)}</{name}>"
        return
    yield f"{indent}<{head}>"
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _argument(key, each, depth + 1)
    else:
        for each in value:
            yield from _element("item", each, depth + 1)
    yield f"{indent}</{name}>"


def _leaf(value: JsonValue) -> str:
    if isinstance(value, dict | list):
        return ""
    return escape(value) if isinstance(value, str) else json.dumps(value, allow_nan=False)


def _parameters(schema: JsonObject, depth: int) -> Iterator[str]:
    required = schema.get("required", [])
    for name, each in schema.get("properties", {}).items():
        inner = each if isinstance(each, dict) else {}
        marks = [f"arg name={attribute(name)}", f"type={attribute(_type(inner))}"]
        if inner.get("description"):
            marks.append(f"description={attribute(str(inner['description']))}")
        marks.append(f'required="{"true" if name in required else "false"}"')
        if inner.get("default") is not None:
            marks.append(f"default={attribute(_plain(inner['default']))}")
        if inner.get("enum"):
            marks.append(f"enum_values={attribute(','.join(map(_plain, inner['enum'])))}")
        yield from _described(" ".join(marks), inner, depth)


def _described(head: str, schema: JsonObject, depth: int) -> Iterator[str]:
    """The element `head` with what `schema` says of the object's members or the list's items."""
    inside = list(_parameters(schema, depth + 1)) or list(_items(schema.get("items"), depth + 1))
    indent, name = _STEP * depth, head.split(" ")[0]
    if not inside:
        yield f"{indent}<{head} />"
        return
    yield from (f"{indent}<{head}>", *inside, f"{indent}</{name}>")


def _items(schema: JsonValue, depth: int) -> Iterator[str]:
    if isinstance(schema, Mapping):
        yield from _described(f"items type={attribute(_type(dict(schema)))}", dict(schema), depth)


def _type(schema: JsonObject) -> str:
    if schema.get("enum"):
        return "enum"
    kinds = schema.get("type")
    if kinds is None:
        branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
        kinds = list(dict.fromkeys(_type(each) for each in branches if isinstance(each, dict)))
    return kinds if isinstance(kinds, str) else "|".join(map(str, kinds)) or "any"


def _plain(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value)
