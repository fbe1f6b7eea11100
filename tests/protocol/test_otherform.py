"""Calls in the form of another interface."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.protocol import ResponseParser
from bridge.protocol.otherform import other_form
from tool_manager.models import ToolSpec

TOOLS = {"read_file": ToolSpec("read_file", "Read")}
CALLS: list[Any] = [
    {"name": "read_file", "arguments": {}},
    {"tool_name": "read_file", "input": 1},
    {"recipient_name": "read_file", "parameters": None},
    {"function": "read_file", "params": {}},
    {"type": "function", "function": {"name": "read_file", "arguments": "{}"}},
    {"tool": {"function": "read_file", "parameters": {}}},
    {"functionCall": {"name": "read_file", "args": {}}},
    [{"id": 1}, {"tool_call": {"name": "read_file", "args": {}}}],
]
OTHERS: list[Any] = [
    {"name": "write_file", "arguments": {}},
    {"name": "read_file"},
    {"name": ["read_file"], "args": {}},
    {"title": "read_file", "args": {}},
    {"deep": {"name": "read_file", "args": {}}},
    ["read_file", "args"],
    "read_file",
]


@pytest.mark.requirement("X2")
@pytest.mark.parametrize(
    "frame", ["{}", "\n```json\n{}\n```\n", "Now `x`:\n````tool_code\n{}\n````", "json\nCopy code\n{}"]
)
@pytest.mark.parametrize("name", ["tool_call", "cogency", "forge", "autobyteus_xml", "xml_style"])
def test_a_call_in_another_form_is_no_answer(frame: str, name: str) -> None:
    for call in CALLS:
        text = frame.replace("{}", json.dumps(call, indent=1))
        reply = ResponseParser(name, tools=list(TOOLS.values())).parse(text)
        assert (reply.calls, reply.text) == ((), text)
        assert [(found.code, found.reason) for found in reply.diagnostics] == [("malformed_call", "shape")]
        assert text[reply.diagnostics[0].offset] in "{["
        assert ResponseParser(name).parse(text).diagnostics == ()
    for answer in OTHERS:
        text = frame.replace("{}", json.dumps(answer))
        assert ResponseParser(name, tools=list(TOOLS.values())).parse(text).diagnostics == ()


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("frame", ["So: {}", "{} and more", "```\n{}\n```\nDone.", "{}{}", "```\nx {}\n```"])
def test_json_in_a_longer_reply_is_told(frame: str) -> None:
    assert other_form(frame.replace("{}", json.dumps(CALLS[0])), TOOLS) is None
    assert other_form("", TOOLS) is None


@pytest.mark.requirement("X2")
def test_one_remark_is_enough() -> None:
    text = '{"tool":"read_file","args":{}}'
    reply = ResponseParser("tool_call", tools=list(TOOLS.values())).parse(text)
    assert [found.reason for found in reply.diagnostics if found.code == "malformed_call"] == ["tags"]
