"""However a reply is cut, the answer is the same; nothing raises; no character is lost."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bridge.protocol import CallClosed, ParsedReply, ResponseParser, StreamEvent, TextDelta

PIECES = [
    "<TOOL_CALL>", "</TOOL_CALL>", "<TOOL_CALL", "<think>", "</think>", "<THINKING>", "</thinking>", "<thin", "<",
    '{"tool":"a","args":{}}', '{"tool":"a","args":{"c":"', '"}}', "{", "}", "[", "]", '"', "\\", '\\"', "\n", "\r\n",
    "<think >", "</think >", "<think/>", "Copy code", "Copy", "json", "```", "~~~", "コピー", "``", "opy", " ",
    "\u00a0", "\ufeff", "\u200b", "text", "`", "````json\n", "42", "NaN", "“", "<tool_call>", "TOOL_RESULT:",
    "\ud800", "\x00", "ſ", "K", '<TOOL_CALL>{"tool":"a","args":{}}</TOOL_CALL>',
]  # fmt: skip

replies = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=14).map("".join)


def fed(text: str, cuts: list[int], *, multi: bool) -> tuple[list[StreamEvent], ParsedReply]:
    stream = ResponseParser("tool_call", multi=multi).stream()
    bounds = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    events = [event for start, end in pairwise(bounds) for event in stream.feed(text[start:end])]
    return events, stream.close()


DEEP = "[" * 250 + "]" * 250


@pytest.mark.requirement("X3")
@settings(max_examples=500)
@given(replies, st.lists(st.integers(0, 500), max_size=20), st.booleans())
@example('<TOOL_CALL>{"tool":"a","args":{}}<TOOL_CALL>', [34], False)
@example(f'<TOOL_CALL>{{"tool":"a","args":{{"x":{DEEP},"x":1}}}}</TOOL_CALL>', [40], False)
@example('<TOOL_CALL>{"tool":"a","args":{}}</TOOL_CALL></think>', [5], False)
@example('<thinK><TOOL_CALL>{"tool":"a","args":{}}</TOOL_CALL>', [5], False)
def test_every_chunking_gives_the_same_answer(text: str, cuts: list[int], multi: bool) -> None:
    whole = ResponseParser("tool_call", multi=multi).parse(text)
    events, reply = fed(text, cuts, multi=multi)
    assert reply == whole
    assert fed(text, list(range(len(text))), multi=multi)[1] == whole
    shown = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert whole.text.startswith(shown)
    closed = tuple(event.call for event in events if isinstance(event, CallClosed))
    taken_back = len(closed) - len(whole.calls)
    assert closed[taken_back:] == whole.calls
    assert not taken_back or "call_in_thinking" in [found.code for found in whole.diagnostics]


@given(st.text() | replies, st.booleans())
def test_nothing_raises_and_no_character_is_lost(text: str, multi: bool) -> None:
    reply = ResponseParser("tool_call", multi=multi).parse(text)
    assert (reply.kind == "tool_calls") is bool(reply.calls)
    if reply.calls:
        assert text.startswith(reply.text)
        assert text.endswith(reply.rest) or multi
        assert len(reply.text) + len(reply.rest) + len("<TOOL_CALL></TOOL_CALL>") < len(text)
    else:
        assert (reply.text, reply.rest) == (text, "")


def test_text_is_shown_at_once_unless_it_could_be_a_tag() -> None:
    stream = ResponseParser().stream()
    assert stream.feed("Hi. ") == [TextDelta("Hi. ")]
    assert stream.feed("a <TOOL") == [TextDelta("a ")]
    assert stream.feed("BOX> b") == [TextDelta("<TOOLBOX> b")]
    assert stream.feed("<TOOL_CALL>") == []
    assert stream.feed(" \n") == []
    assert stream.feed("is a tag") == [TextDelta("<TOOL_CALL> \nis a tag")]
    assert stream.feed("<th") == []
    assert stream.feed("is") == [TextDelta("<this")]


def test_a_call_is_told_the_moment_it_closes() -> None:
    stream = ResponseParser().stream()
    assert stream.feed('Look.\n<TOOL_CALL>{"tool":"a","args":{}}</TOOL_CALL') == [TextDelta("Look.\n")]
    (closed,) = stream.feed("> and more")
    assert isinstance(closed, CallClosed)
    assert closed.call.name == "a"
    assert stream.feed(" text") == []
    assert stream.close().rest == " and more text"


def test_a_broken_block_is_shown_as_soon_as_it_breaks() -> None:
    stream = ResponseParser().stream()
    assert stream.feed('<TOOL_CALL>{"tool":') == []
    assert stream.feed("<") == [TextDelta('<TOOL_CALL>{"tool":<')]
    assert stream.feed("<TOOL_CALL>") == [TextDelta("<TOOL_CALL>")]


def test_thinking_is_shown_while_it_goes_on() -> None:
    stream = ResponseParser().stream()
    assert stream.feed("<think>a <TOOL_CALL>{") == [TextDelta("<think>a <TOOL_CALL>{")]
