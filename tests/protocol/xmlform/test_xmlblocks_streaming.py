"""However a reply is cut, the answer is the same; nothing raises; no character is lost; the work stays linear."""

from __future__ import annotations

import sys
from itertools import pairwise
from types import FrameType
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bridge.protocol import CallClosed, ParsedReply, ResponseParser, StreamEvent, TextDelta
from bridge.protocol.xmlform.xmlblocks import XmlStream

PIECES = [
    '<tool name="a">', "<tool name='a'>", "<tool>", "<tool ", "</tool>", "<tool/>", '<tool name="a"/>', "<arguments>",
    "</arguments>", "<arguments/>", '<arg name="x">', "<arg>", "</arg>", '<arg name="x"/>', "<item>", "</item>",
    "<item/>",
    "<!--", "-->", "<![CDATA[", "]]>", "&lt;", "&#x", "1;", "<think>", "</think>", "<THINKING >", "</thinking>",
    "<", ">",
    "/", '"', "'", "=", "name", " ", "\n", "\u00a0", "\u200b", "text", "````xml\n", "“", "&", "\ud800", "\x00", "ſ",
    '<tool name="a"></tool>', '<tool name="a"><arg name="x">1</arg></tool>', '<arg name="y">2</arg>', "]", "-",
]  # fmt: skip

replies = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=14).map("".join)


def fed(text: str, cuts: list[int], *, several: bool) -> tuple[list[StreamEvent], ParsedReply]:
    stream = XmlStream(several=several)
    bounds = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    events = [event for start, end in pairwise(bounds) for event in stream.feed(text[start:end])]
    return events, stream.close()


@pytest.mark.requirement("A24")
@settings(max_examples=800)
@given(replies, st.lists(st.integers(0, 500), max_size=20), st.booleans())
@example('<tool name="a"><arguments/></tool>', [19], True)
@example('<tool name="a"><arg name="x">a]]></arg></tool>', [4, 30, 31], True)
@example("<tool>0<!--", [], False)
def test_every_chunking_gives_the_same_answer(text: str, cuts: list[int], several: bool) -> None:
    whole = fed(text, [], several=several)[1]
    events, reply = fed(text, cuts, several=several)
    assert reply == whole
    assert fed(text, list(range(len(text))), several=several)[1] == whole
    shown = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert whole.text.startswith(shown)
    closed = tuple(event.call for event in events if isinstance(event, CallClosed))
    assert whole.calls == closed[: len(whole.calls)]


@given(st.text() | replies, st.booleans())
def test_nothing_raises_and_no_character_is_lost(text: str, several: bool) -> None:
    reply = fed(text, [], several=several)[1]
    assert (reply.kind == "tool_calls") is bool(reply.calls)
    if reply.calls:
        assert text.startswith(reply.text)
        source = len(text) - len(reply.text) - len(reply.rest)
        assert source >= len('<tool name="x"></tool>') * len(reply.calls)
    else:
        assert (reply.text, reply.rest) == (text, "")
    assert all(0 <= found.offset <= len(text) for found in reply.diagnostics)


def test_text_comes_early_and_a_call_when_it_closes() -> None:
    stream = ResponseParser("autobyteus_xml").stream()
    assert stream.feed("Well <b>now</b> <to") == [TextDelta("Well <b>now</b> ")]
    assert stream.feed("ol") == []
    assert stream.feed("box> <tool is a") == [TextDelta("<toolbox> <tool is a")]
    assert stream.feed('<tool name="a"><arg name="x">1</arg></tool') == []
    [closed] = stream.feed(">")
    assert isinstance(closed, CallClosed) and closed.call.args == {"x": "1"}
    assert stream.feed(" rest") == []
    assert stream.close().rest == " rest"
    assert stream.close() is stream.close()
    with pytest.raises(ValueError, match="closed"):
        stream.feed("more")


OPEN = '<tool name="a"><arg name="x">'
HARD = {
    "openers": lambda n: '<tool name="a">' * n,
    "nameless openers": lambda n: "<tool>" * n,
    "spaces after an opener": lambda n: '<tool name="a">' + " " * n,
    "spaces in a tag": lambda n: "<tool " + " " * n,
    "halves": lambda n: "<tool " * n,
    "attribute": lambda n: '<tool name="' + "x" * n,
    "attributes": lambda n: "<tool " + 'a="b" ' * n,
    "nested": lambda n: '<tool name="a">' + '<arg name="x">' * n + "1" + "</arg>" * n + "</tool>",
    "flat": lambda n: '<tool name="a">' + '<arg name="x">1</arg>' * n + "</tool>",
    "items": lambda n: OPEN + "<item> 1</item>" * n + "</arg></tool>",
    "angles": lambda n: OPEN + "<" * n,
    "blocks in a value": lambda n: OPEN + '<tool name="a">' * n,
    "closers in a value": lambda n: OPEN + "</tool>" * n,
    "sections": lambda n: OPEN + "<![CDATA[]]>" * n,
    "brackets": lambda n: OPEN + "<![CDATA[" + "]" * n,
    "comment": lambda n: OPEN + "<!--" + "-" * n,
    "ampersands": lambda n: OPEN + "&" * n + "</arg></tool>",
    "thinking": lambda n: "<think>" * n,
    "calls in thinking": lambda n: "<think>" + '<tool name="a"><arg name="x">1</arg></tool>' * n,
    "calls": lambda n: '<tool name="a"></tool>' * n,
    "closers after a call": lambda n: '<tool name="a"></tool>' + "</arg>" * n,
    "look-alikes": lambda n: "&lt;tool name=" * n,
}


def lines_run(text: str, *, several: bool, size: int) -> int:
    """How many lines of Python it takes to parse `text` in chunks of `size`."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    stream = XmlStream(several=several)
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
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("size", [7, 10**9])
@pytest.mark.parametrize("kind", HARD)
def test_twice_the_text_is_at_most_twice_the_work(kind: str, size: int, several: bool) -> None:
    once, twice = (lines_run(HARD[kind](n), several=several, size=size) for n in (300, 600))
    assert twice <= 2.2 * once + 300


@pytest.mark.requirement("T16")
@pytest.mark.parametrize("kind", HARD)
def test_large_ones_end_without_an_exception(kind: str) -> None:
    reply = fed(HARD[kind](20_000), [], several=True)[1]
    assert (reply.kind == "tool_calls") is (kind in ("calls", "flat", "items", "ampersands"))
