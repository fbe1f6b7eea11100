"""The work of every dialect is linear in the reply, however hostile, and however it is cut (T16)."""

from __future__ import annotations

import time

import pytest

from bridge.protocol import ParsedReply, ResponseParser, ToolCall, dialects

NAMES = dialects.names()
every_dialect = pytest.mark.parametrize("name", NAMES)

UNITS = {
    "openers": "<TOOL_CALL>", "batches": "<execute>", "tools": "<tool>", "named tools": '<tool name="a">',
    "arguments": '<tool name="a"><arguments>', "args": '<arg name="a">', "items": "<item>", "cdata": "<![CDATA[",
    "comments": "<!--", "entities": "&amp;", "halves": "<TOOL_CALL", "thinking": "<think>",
    "thoughts": "<think></think>", "braces": "{", "brackets": "[", "objects": '{"a":', "strings": '{"', "quotes": '"',
    "backslashes": "\\", "empty": "{}", "fences": "```\n", "json fences": "````json\n{", "ticks": "`",
    "tildes": "~~~\n",
    "blocks": '<TOOL_CALL>{"tool":"a"', "broken batches": "<execute>[", "lines": "TOOL: a\nARGS:\n",
    "yaml": "TOOL: a\nARGS:\n  b: [", "keys": "TOOL: a\n", "calls": "a(", "arguments of calls": 'a(b="',
    "parts": 'a(b="c", ',
    "newlines": "\n", "spaces": " ", "requests": '{"tool_request":', "named": '{"name":"a","arguments":"',
    "end": "</tool>",
    "commas": '{"name":"a","args":{}},', "results": "TOOL_RESULT: ",
}  # fmt: skip
"""What is repeated until it hurts whoever looks back, or forth, at each of them."""

SIZE = 5_000
"""Characters of the smaller reply: large enough to be measured, small enough for many pairs."""

CHUNK = 256

NOISE = 0.01
"""Seconds of processor time below which a ratio says nothing."""


def parse(name: str, text: str, size: int | None = None) -> ParsedReply:
    stream = ResponseParser(name).stream()
    for at in range(0, len(text), size or len(text) or 1):
        stream.feed(text[at : at + (size or len(text))])
    return stream.close()


def opener(name: str) -> str:
    """The beginning of a call, up to a value in its arguments."""
    written = dialects.get(name).format_call(ToolCall.of("a", {"value": "HERE"}))
    return written[: written.index("HERE")].removesuffix('"').removesuffix("'")


def seconds(name: str, text: str, size: int | None) -> float:
    """Of this process alone: other work on the machine does not count."""
    start = time.process_time()
    parse(name, text, size)
    return time.process_time() - start


def is_linear(name: str, start: str, unit: str, size: int | None) -> bool:
    """Twice the reply costs less than 3.5 times the work; a quadratic one would cost four times."""
    small = start + unit * (SIZE // len(unit))
    large = start + unit * (2 * SIZE // len(unit))
    for _ in range(4):
        if (costs := seconds(name, large, size)) < NOISE or costs < 3.5 * seconds(name, small, size):
            return True
    return False


@every_dialect
@pytest.mark.requirement("T16")
@pytest.mark.parametrize("size", [None, CHUNK])
def test_twice_the_reply_is_twice_the_work(name: str, size: int | None) -> None:
    starts = ("", opener(name))
    slow = [(start, kind) for start in starts for kind in UNITS if not is_linear(name, start, UNITS[kind], size)]
    assert slow == []


HUGE = {
    "200,000 openers": "{opener}" * 200_000,
    "300,000 spaces": "{opener}" + " " * 300_000,
    "100,000 braces": "{{" * 100_000,
    "braces in a block": "{opener}" + "{{" * 100_000,
    "nested tags": '<tool name="a"><arguments>'
    + '<arg name="a">' * 50_000
    + "1"
    + "</arg>" * 50_000
    + "</arguments></tool>",
    "nested tools": '<tool name="a">' * 50_000 + "</tool>" * 50_000,
    "nested brackets": "{opener}" + "[" * 100_000 + "]" * 100_000,
    "nested objects": "{opener}" + '{{"a":' * 100_000 + "1" + "}}" * 100_000,
}
"""The replies that the requirement names; `{opener}` is where a call of the dialect begins its arguments."""


@every_dialect
@pytest.mark.requirement("T16", "T17")
@pytest.mark.parametrize("kind", HUGE)
def test_huge_replies_are_no_call_and_no_exception(name: str, kind: str) -> None:
    text = HUGE[kind].format(opener=opener(name))
    whole = parse(name, text)
    assert [call for call in whole.calls if len(str(call.args)) > 10_000] == []
    assert parse(name, text, 4096) == whole


@every_dialect
@pytest.mark.requirement("T17")
def test_an_integer_of_6000_digits_never_arrives_as_a_number(name: str) -> None:
    written = dialects.get(name).format_call(ToolCall.of("add", {"a": 1234567, "b": 0}))
    reply = parse(name, written.replace("1234567", "9" * 6000))
    assert [call for call in reply.calls if isinstance(call.args["a"], int)] == []
