from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.chat.decoders.sse import EventStream, ServerEvent

STREAM = (
    "\ufeff: hello\nevent: ping\ndata: a\r\ndata: b\r\n\r\n"
    "data:c\rdata\r\rid: 7\ndata:  two spaces\n\n\n\ndata: cut off"
)
EVENTS = [ServerEvent("ping", "a\nb"), ServerEvent("message", "c\n"), ServerEvent("message", " two spaces")]


def test_reads_events_as_the_standard_says() -> None:
    assert EventStream().feed(STREAM) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=30))
def test_any_chunking_gives_the_same_events(cuts: list[int]) -> None:
    stream, at, found = EventStream(), 0, []
    for cut in [*sorted(cuts), len(STREAM)]:
        found += stream.feed(STREAM[at:cut])
        at = cut
    assert found == EVENTS


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_a_cr_at_the_end_of_a_chunk_is_half_of_a_crlf(end: str) -> None:
    stream = EventStream()
    found = [event for char in f"data: x{end}{end}data: y{end}{end}:" for event in stream.feed(char)]
    assert found == [ServerEvent("message", "x"), ServerEvent("message", "y")]


def test_an_unended_line_costs_linear_work() -> None:
    stream = EventStream()
    for _ in range(200_000):
        assert stream.feed("data") == []
    assert stream.feed("\n\n") == []
