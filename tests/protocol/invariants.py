"""What holds of every reply in every dialect, in any chunking: for properties, fuzzer and regressions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from bridge.protocol import CallClosed, Dialect, ParsedReply, ResponseParser, StreamEvent, TextDelta

_THINK = re.compile(r"</?\s*think[^<>]*>", re.IGNORECASE)
"""Tags of thinking, with whatever a page has put into them: they go where the thinking goes."""


def check(name: str, text: str, cuts: Sequence[int], *, multi: bool = False) -> ParsedReply:
    """Parse `text` whole and in chunks of `cuts` characters, turn by turn; both must agree, and nothing may be lost."""
    parser = ResponseParser(name, multi=multi)
    whole, stream, events = parser.parse(text), parser.stream(), list[StreamEvent]()
    for chunk in chunks(text, cuts):
        events += stream.feed(chunk)
    assert stream.close() == whole, "another chunking, another reply"
    check_events(parser.dialect, whole, events)
    check_reply(text, whole)
    return whole


def chunks(text: str, cuts: Sequence[int]) -> Iterable[str]:
    at = turn = 0
    while at < len(text):
        yield text[at : at + cuts[turn % len(cuts)]]
        at, turn = at + cuts[turn % len(cuts)], turn + 1


def check_events(dialect: Dialect, reply: ParsedReply, events: Sequence[StreamEvent]) -> None:
    """Text that was shown is text of the reply, and what closed is a call of it."""
    shown = "".join(event.text for event in events if isinstance(event, TextDelta))
    closed = tuple(event.call for event in events if isinstance(event, CallClosed))
    if not took_back(dialect, reply):
        assert closed == reply.calls[: len(closed)], "a call was taken back"
        # one that ends with the reply is known when the reply is over
        assert len(reply.calls) - len(closed) < 2 or not dialect.closed_block_is_final, "a call was not told"
    if reply.kind == "text" and not reply.thinking:
        assert reply.text.startswith(shown) or reply.text == shown.strip(), "shown text is not in the reply"
    assert (
        not visible(Counter(shown) - Counter(reply.text + reply.thinking + reply.rest)) or reply.thinking or reply.calls
    )


def took_back(dialect: Dialect, reply: ParsedReply) -> bool:
    """Whether later text unmade a closed call: the end of thinking that never began, and where the dialect says that
    nothing is final, whatever made the reply malformed."""
    codes = {found.code for found in reply.diagnostics}
    return "call_in_thinking" in codes or (not dialect.closed_block_is_final and "malformed_call" in codes)


def check_reply(text: str, reply: ParsedReply) -> None:
    """Every character of `text` is in `text`, `thinking`, `rest` or the source of a call; nothing is invented."""
    assert (reply.error is not None) is (reply.kind == "error"), "an error without its text"
    assert reply.kind == "tool_calls" or not reply.calls, "calls of a reply that is none"
    for found in reply.diagnostics:
        line = text.count("\n", 0, found.offset) + 1
        assert 0 <= found.offset <= len(text), f"{found.code} is nowhere"
        column = found.offset - text.rfind("\n", 0, found.offset)
        assert (found.line, found.column) == (line, column), f"{found.code} is elsewhere"
    kept = Counter(reply.text) + Counter(reply.rest) + Counter(reply.thinking.replace("\n", ""))
    assert not kept - Counter(text), "the reply holds what was not sent"
    if reply.kind != "tool_calls":
        lost = visible(Counter(text) - kept)
        assert not lost - Counter("".join(_THINK.findall(text))), "text was lost"
        if "<think" not in text.lower() and "</think" not in text.lower():
            assert reply.kind == "error" or reply.text == text, "text was changed"


def visible(counts: Counter[str]) -> Counter[str]:
    """Without white space, which some dialects trim."""
    return Counter({char: count for char, count in counts.items() if not char.isspace()})
