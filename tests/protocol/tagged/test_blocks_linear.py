"""Work grows with the text and no faster: counted in lines of Python run, for wall times lie."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from bridge.protocol import ResponseParser

HARD = {
    "openers": lambda n: "<TOOL_CALL>" * n,
    "spaces after an opener": lambda n: "<TOOL_CALL>" + " " * n,
    "openers with spaces": lambda n: "<TOOL_CALL>    " * n,
    "braces": lambda n: "<TOOL_CALL>" + "{" * n,
    "brackets": lambda n: '<TOOL_CALL>{"tool":"a","args":{"x":' + "[" * n + "]" * n + "}}</TOOL_CALL>",
    "openers that fail late": lambda n: '<TOOL_CALL>{"a":"' * n,
    "openers of arrays": lambda n: "<TOOL_CALL>[[" * n,
    "thinking": lambda n: "<think>" * n,
    "calls in thinking": lambda n: "<think>" + '<TOOL_CALL>{"a":"' * n,
    "blocks in thinking": lambda n: "<think>" + '<TOOL_CALL>{"a":1}</TOOL_CALL>' * n,
    "look-alikes": lambda n: "<tool_call>{" * n,
    "look-alikes in prose": lambda n: "<tool_call> x" * n,
    "attributes of thinking": lambda n: "<think " + "a" * n,
    "halves of thinking": lambda n: "<think " * n,
    "ends of thinking": lambda n: "</think>" * n,
    "calls taken back": lambda n: '<TOOL_CALL>{"tool":"a","args":{}}</TOOL_CALL></think>' * n,
    "ticks after an opener": lambda n: "<TOOL_CALL>\n" + "`" * n,
    "labels after an opener": lambda n: "<TOOL_CALL>\n" + "Copy " * n,
    "labels after the JSON": lambda n: '<TOOL_CALL>{"tool":"a","args":{}}' + "json\n```\n" * n,
    "underscores": lambda n: "TOOL_RESULT" * n,
    "angles": lambda n: "<" * n,
    "backslashes": lambda n: '<TOOL_CALL>{"a":"' + "\\" * n,
    "escaped quotes": lambda n: '<TOOL_CALL>{"a":"' + '\\"' * n,
    "unfinished closing tags": lambda n: "<TOOL_CALL>x</TOOL_CALL" * n,
    "results": lambda n: "TOOL_RESULT:\n" * n,
    "calls": lambda n: '<TOOL_CALL>{"tool":"a","args":{}}</TOOL_CALL>' * n,
}


def lines_run(text: str, *, multi: bool, size: int) -> int:
    """How many lines of Python it takes to parse `text` in chunks of `size`."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    stream = ResponseParser("tool_call", multi=multi).stream()
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for start in range(0, len(text), size):
            stream.feed(text[start : start + size])
        stream.close()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.requirement("T16")
@pytest.mark.parametrize("multi", [False, True])
@pytest.mark.parametrize("size", [7, 10**9])
@pytest.mark.parametrize("kind", HARD)
def test_twice_the_text_is_at_most_twice_the_work(kind: str, size: int, multi: bool) -> None:
    ResponseParser("tool_call").parse("warm up the caches <TOOL_CALL>{}")
    once, twice = (lines_run(HARD[kind](n), multi=multi, size=size) for n in (400, 800))
    assert twice <= 2.2 * once + 200


@pytest.mark.requirement("T16")
@pytest.mark.requirement("T17")
@pytest.mark.parametrize("kind", HARD)
def test_large_ones_end_without_an_exception(kind: str) -> None:
    text = HARD[kind](100_000)
    reply = ResponseParser("tool_call").parse(text)
    assert (reply.kind == "tool_calls") is (kind == "calls")


@pytest.mark.requirement("T16")
def test_five_megabytes_of_content() -> None:
    content = "abcdefghij" * 500_000
    reply = ResponseParser().parse(f'<TOOL_CALL>{{"tool":"w","args":{{"content":"{content}"}}}}</TOOL_CALL>')
    assert reply.calls[0].args == {"content": content}
