"""Gemini's shape."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.protocol import ResponseParser, dialects
from tool_manager import ToolSpec

GOOD = {"name": "x", "args": {"q": 1}}


@pytest.mark.requirement("A22")
@pytest.mark.parametrize(
    ("item", "is_meant"),
    [
        ({"name": "a", "args": None}, True),
        ({"name": "a", "args": []}, True),
        ({"name": "a", "args": "x"}, True),
        ({"name": "a"}, False),
        ({"name": "known"}, True),
        ({"name": "known", "age": 3}, False),
        ({"name": "", "args": {}}, True),
        ({"args": {}}, False),
        ({"name": 5, "args": {}}, False),
        ({"name": "a", "arguments": {}}, False),
        ({"tool": {"function": "a"}}, False),
        (5, False),
    ],
)
def test_what_is_no_call_is_left_out(item: Any, is_meant: bool) -> None:
    parser = ResponseParser("gemini_json", tools=[ToolSpec("known", "d")])
    for value in (item, [item]):
        reply = parser.parse(json.dumps(value))
        assert (reply.kind, reply.problem is not None) == ("text", is_meant)
    assert [call.args for call in parser.parse(json.dumps([item, GOOD])).calls] == [{"q": 1}]


@pytest.mark.requirement("A22")
def test_what_is_a_call() -> None:
    reply = ResponseParser("gemini_json").parse(f"{json.dumps([GOOD, GOOD])} {json.dumps({**GOOD, 'thought': 'x'})}")
    assert [(call.name, call.args) for call in reply.calls] == [("x", {"q": 1})] * 3


@pytest.mark.requirement("A10")
def test_the_written_form() -> None:
    written = dialects.get("gemini_json").format_call(ResponseParser("gemini_json").parse(json.dumps(GOOD)).calls[0])
    assert written == '````json\n{"name": "x", "args": {"q": 1}}\n````'
