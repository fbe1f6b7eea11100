"""Work grows with the text and no faster: counted in lines of Python run, for wall times lie."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from bridge.protocol import ResponseParser

CALL = '{"name":"x","arguments":{}}'
HARD = {
    "braces": lambda n: "{" * n,
    "brackets": lambda n: "[" * n,
    "closed brackets": lambda n: "[" * n + "]" * n,
    "objects": lambda n: '{"a":' * n,
    "openers": lambda n: '{"tool_calls":[' * n,
    "openers of strings": lambda n: '{"a":"' * n,
    "openers that look like calls later": lambda n: '{"a":"\n","tool":{' * n,
    "broken flat objects": lambda n: '{"name":"x","' * n,
    "spaces": lambda n: '{"tool":' + " " * n,
    "members": lambda n: "{" + '"a":"b",' * n,
    "values": lambda n: "[1] " * n,
    "calls": lambda n: CALL * n,
    "no calls": lambda n: '{"tool_calls":[]}' * n,
    "equal keys": lambda n: '{"tool":{},"a":1,"a":1}' * n,
    "backslashes": lambda n: '{"a":"' + "\\" * n,
    "digits": lambda n: '{"name":"x","arguments":{"n":' + "9" * n + "}}",
    "backticks": lambda n: "`" * n,
    "fences": lambda n: "```\n" * n,
    "foreign fences": lambda n: "```py\n" * n,
    "foreign fences that close": lambda n: "~~~py\n~~~\n" * n,
    "runs in a foreign fence": lambda n: "````py\n" + "``` ```` x" * n,
    "thinking": lambda n: "<think></think>" * n,
    "openers and thinking far away": lambda n: "{x [1] " * n + "<think>" + "{x [1] " * n + "</think>",
    "angles": lambda n: "<" * n,
    "odd objects": lambda n: "{a: " * n,
    "odd keys": lambda n: "{'a" * n,
    "no odd keys": lambda n: "{'a' b {a b " * n,
    "spaces after an odd key": lambda n: "{a" + " " * n,
    "nested members": lambda n: '{"a":[[1],' * n,
    "typographic quotes": lambda n: "{“name”:" * n,
}


def lines_run(dialect: str, text: str, size: int) -> int:
    """How many lines of Python it takes to parse `text` in chunks of `size`."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    stream = ResponseParser(dialect).stream()
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for start in range(0, len(text), size):
            stream.feed(text[start : start + size])
        stream.close()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.requirement("A16")
@pytest.mark.parametrize("dialect", ["openai_json", "assistant_api"])
@pytest.mark.parametrize("size", [7, 10**9])
@pytest.mark.parametrize("kind", HARD)
def test_twice_the_text_is_at_most_twice_the_work(kind: str, size: int, dialect: str) -> None:
    once, twice = (lines_run(dialect, HARD[kind](n), size) for n in (400, 800))
    assert twice <= 2.2 * once + 200


@pytest.mark.requirement("A16")
@pytest.mark.parametrize("kind", HARD)
def test_what_is_kept_between_chunks_is_bounded(kind: str) -> None:
    stream, longest = ResponseParser("openai_json").stream(), 0
    for char in HARD[kind](2_000)[:6_000]:
        stream.feed(char)
        longest = max(longest, len(stream._kept))  # type: ignore[attr-defined]
    assert longest < 400
