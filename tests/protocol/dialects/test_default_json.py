"""The shape for models without one of their own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.protocol import ResponseParser, ToolCall, dialects

PARSER = ResponseParser("default_json")


@pytest.mark.requirement("A23")
@pytest.mark.parametrize(
    ("value", "args"),
    [
        ({"tool": {"function": "a", "parameters": {"p": 1}}}, {"p": 1}),
        ({"tool": {"function": "a", "parameters": None}}, {}),
        ({"tool": {"function": "a"}}, {}),
        ({"thought": {"x": 1}, "tool": {"id": 1, "function": "a", "parameters": {}}}, {}),
    ],
)
def test_what_is_a_call(value: Any, args: dict[str, Any]) -> None:
    text = json.dumps(value)
    assert PARSER.parse(text + text).calls == (ToolCall.of("a", args),) * 2


@pytest.mark.requirement("A23")
@pytest.mark.parametrize(
    ("value", "is_meant"),
    [
        ([{"tool": {"function": "a"}}], True),
        ([1, {"tool": 1}], False),
        ({"tool": {"function": "a", "parameters": "x"}}, True),
        ({"tool": {"function": "a", "parameters": []}}, True),
        ({"tool": {"function": {"name": "a"}, "parameters": {}}}, True),
        ({"tool": {"function": ""}}, True),
        ({"tool": {"function": {"name": "a"}}}, False),
        ({"tool": {}}, False),
        ({"tool": "a"}, False),
        ({"name": "a", "args": {}}, False),
    ],
)
def test_what_is_no_call(value: Any, is_meant: bool) -> None:
    reply = PARSER.parse(text := json.dumps(value))
    assert (reply.kind, reply.text, reply.problem is not None) == ("text", text, is_meant)


@pytest.mark.requirement("A10")
def test_the_written_form() -> None:
    written = dialects.get("default_json").format_call(ToolCall.of("a", {"p": 1}))
    assert written == '````json\n{"tool": {"function": "a", "parameters": {"p": 1}}}\n````'


@pytest.mark.requirement("A23")
@pytest.mark.parametrize(
    "text", ['{"tool": {"function": "x", "arguments": {"a": 1}}}', '{"tool": {"function": "x"}, "args": {"a": 1}}']
)
def test_arguments_that_stand_elsewhere_are_not_lost(text: str) -> None:
    reply = ResponseParser("default_json").parse(text)
    assert (reply.calls, reply.text) == ((), text)
    assert reply.problem is not None
    assert reply.problem.reason == "shape"
