"""Formatting is the inverse of parsing (A11), with the types that the tool's schema knows (A38)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.protocol import ResponseParser, ToolCall, dialects
from bridge.protocol.xmlform.xmltext import escape, unescape
from tool_manager.coercion import coerced

HARD = [
    "<arg", "</arg>", "</tool>", "</arguments>", "<item>", "]]>", "<![CDATA[", "<!--", "&", "&lt;", "&amp;amp;", "````",
    "\n````\n", " ", "\n", "\t", "\r", "\x00", "\x7f", "\u200b", "\u00a0", "\ufeff", "\ud800", '"', "'", "é", "😀",
    "<think>",
]  # fmt: skip
PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
text = (
    st.lists(st.sampled_from(HARD) | st.text(max_size=4), max_size=5)
    .map("".join)
    .filter(lambda each: not PAIR.search(each))  # two halves become the character that they stand for
)
LEAVES: list[tuple[dict[str, Any], st.SearchStrategy[Any]]] = [
    ({"type": "string"}, text),
    ({"type": "integer"}, st.integers()),
    ({"type": "number"}, st.floats(allow_nan=False, allow_infinity=False) | st.integers()),
    ({"type": "boolean"}, st.booleans()),
    ({"type": ["integer", "null"]}, st.integers() | st.none()),
    ({"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "string"}]}, text.filter(bool)),
    ({"enum": ["a", 1, True, None]}, st.sampled_from(["a", 1, True, None])),
]


@st.composite
def typed_values(draw: st.DrawFn, depth: int = 2) -> tuple[dict[str, Any], Any]:
    """A schema, and a value that fits it."""
    kind = draw(st.integers(0, 8 if depth else 6))
    if kind < 7:
        schema, values = LEAVES[kind]
        return schema, draw(values)
    if kind == 7:
        schema, first = draw(typed_values(depth - 1))
        return {"type": "array", "items": schema}, [first] * draw(st.integers(0, 3))
    members = draw(st.dictionaries(text, typed_values(depth - 1), max_size=3))
    properties = {key: schema for key, (schema, _) in members.items()}
    return {"type": "object", "properties": properties}, {key: each for key, (_, each) in members.items()}


@st.composite
def schema_and_args(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    members = draw(st.dictionaries(text, typed_values(), max_size=4))
    schema = {"type": "object", "properties": {key: schema for key, (schema, _) in members.items()}}
    return schema, {key: each for key, (_, each) in members.items()}


@pytest.mark.requirement("A11")
@pytest.mark.requirement("X12")
@pytest.mark.requirement("A38")
@pytest.mark.parametrize("dialect", ["autobyteus_xml", "xml_style"])
@given(text.filter(str.strip), schema_and_args())
def test_a_formatted_call_parses_back(dialect: str, name: str, given: tuple[dict[str, Any], dict[str, Any]]) -> None:
    schema, args = given
    written = dialects.get(dialect).format_call(ToolCall.of(name, args))
    [found] = ResponseParser(dialect).parse(f"Before.\n{written}\nAfter.").calls
    back = coerced(found, schema)
    assert (back.name, json.dumps(back.args)) == (name, json.dumps(args))
    inner = written.removeprefix("````xml\n").removesuffix("\n````")
    assert "````" not in inner
    assert all(char.isprintable() or char == "\n" for char in written)


@pytest.mark.requirement("X12")
@given(text)
def test_escaping_is_undone(content: str) -> None:
    assert unescape(escape(content)) == content
    assert "<" not in escape(content)


@pytest.mark.requirement("X22")
@pytest.mark.parametrize(
    ("written", "path"), [("\n  a.py\n", "a.py"), ("&#32;a.py", " a.py"), ("<![CDATA[ a]]>", " a")]
)
def test_white_space_around_a_path_means_nothing_unless_it_is_spelt_out(written: str, path: str) -> None:
    block = f'<tool name="t"><arg name="path">{written}</arg><arg name="content">{written}</arg></tool>'
    [call] = ResponseParser("xml_style").parse(block).calls
    schema = {"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}}
    assert coerced(call, schema).args == {"path": path, "content": call.args["content"]}
    assert call.args["path"] == call.args["content"]


@pytest.mark.requirement("X22")
def test_the_last_of_two_paths_counts() -> None:
    block = '<tool name="t"><arg name="path"> a </arg><arg name="path">b</arg><arg><item> c </item></arg></tool>'
    [call] = ResponseParser("xml_style").parse(block).calls
    assert coerced(call, {"properties": {"path": {"type": "string"}}}).args == {"path": "b"}


def test_several_calls_in_one_reply() -> None:
    dialect = dialects.get("autobyteus_xml")
    calls = [ToolCall.of("a", {"x": "1"}), ToolCall.of("b", {})]
    assert list(ResponseParser("autobyteus_xml").parse(dialect.format_calls(calls)).calls) == calls
