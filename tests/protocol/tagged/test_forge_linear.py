"""Work grows with the reply and no faster, in both dialects that answer malformed blocks: lines of Python run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from bridge.protocol import ResponseParser

CALLS = {"cogency": ("execute", '[{"name":"a","args":{}}]'), "forge": ("tool", '{"tool_name":"a"}')}

HARD: dict[str, Callable[[str, str, int], str]] = {
    "openers": lambda tag, call, n: f"<{tag}>" * n,
    "spaces after an opener": lambda tag, call, n: f"<{tag}>" + " " * n,
    "mentions": lambda tag, call, n: f"<{tag}> x" * n,
    "wrong blocks": lambda tag, call, n: f"<{tag}>x</{tag}>" * n,
    "brackets": lambda tag, call, n: f"<{tag}>" + "[" * n + "]" * n + f"</{tag}>",
    "thinking": lambda tag, call, n: "<think></think>" * n,
    "calls in thinking": lambda tag, call, n: "<think>" + f"<{tag}>{call}</{tag}>" * n,
    "calls": lambda tag, call, n: f"<{tag}>{call}</{tag}>" * n,
    "calls taken back": lambda tag, call, n: f"<{tag}>{call}</{tag}></think>" * n,
    "results": lambda tag, call, n: "<results>\n" * n,
    "elements": lambda tag, call, n: f"<{tag}><tool_name>" * n,
    "element in element": lambda tag, call, n: f"<{tag}><arguments>" + "<a>" * n + f"</{tag}>",
    "many elements": lambda tag, call, n: f"<{tag}><arguments>" + "<a>x</a>" * n + f"</arguments></{tag}>",
    "open data": lambda tag, call, n: f"<{tag}><arguments>" + "<![CDATA[" * n + f"]]></{tag}>",
    "ends of data": lambda tag, call, n: f"<{tag}><arguments><![CDATA[" + "]" * n,
}


def lines_run(dialect: str, text: str, size: int) -> int:
    """How many lines of Python it takes to parse `text` in chunks of `size`, and to answer it."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    parser = ResponseParser(dialect)
    stream = parser.stream()
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
@pytest.mark.parametrize("dialect", CALLS)
@pytest.mark.parametrize("kind", HARD)
@pytest.mark.parametrize("size", [7, 4096])
def test_twice_the_reply_is_at_most_twice_the_work(dialect: str, kind: str, size: int) -> None:
    tag, call = CALLS[dialect]
    once, twice = (lines_run(dialect, HARD[kind](tag, call, n), size) for n in (400, 800))
    assert twice < 2.5 * once + 500
