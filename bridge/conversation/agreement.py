"""How far a reply may be trusted, judged from every reading of it (design, section 5 and decision 1).

The network tap is the truth that the page cannot rewrite; every other source only confirms it or casts doubt on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bridge.conversation.port import Capture, Source
from bridge.protocol import ParsedReply
from tool_manager.models import canonical_json

Trust = Literal["full", "read_only", "none"]
"""What a call may do: anything, only read, or not run at all."""

Doubt = Literal["disagreement", "rendered_call"]
"""Why no call of a reply may run: two sources show different calls, or only lossy rendered text shows one."""

_EXACT: frozenset[Source] = frozenset({"cdp", "tee", "copy"})


@dataclass(frozen=True, slots=True)
class Judgement:
    """The reading that counts, how far its calls may go, and what spoke against them (`detail`, for the journal)."""

    capture: Capture
    reply: ParsedReply
    trust: Trust
    doubt: Doubt | None = None
    detail: dict[str, Any] | None = None


def judge(parse: Callable[[str], ParsedReply], captures: Sequence[Capture]) -> Judgement:
    """Parse every capture (best source first, at least one) and weigh them."""
    readings = [(capture, parse(capture.text)) for capture in captures]
    capture, reply = _choose(readings)
    if capture.source == "rendered":
        return _only_rendered(capture, reply)
    others = [reading for reading in readings if reading[0] is not capture and reading[0].source != "rendered"]
    against = [reading for reading in others if _differs(capture, reply, *reading)]
    if against:
        return Judgement(capture, reply, "none", "disagreement", _both([(capture, reply), *against]))
    confirmed = any(_signature(other) == _signature(reply) for _, other in others)
    return Judgement(capture, reply, _trust({item.source for item in captures}, capture.source, confirmed))


def _choose(readings: list[tuple[Capture, ParsedReply]]) -> tuple[Capture, ParsedReply]:
    """The best exact reading; else code blocks that hold a call; else the prose, which code blocks leave out."""
    for wanted in ("cdp", "copy", "tee"):
        for capture, reply in readings:
            if capture.source == wanted:
                return capture, reply
    code = [reading for reading in readings if reading[0].source == "code" and reading[1].kind == "tool_calls"]
    prose = [reading for reading in readings if reading[0].source == "rendered"]
    return (code or prose or readings)[0]


def _only_rendered(capture: Capture, reply: ParsedReply) -> Judgement:
    if reply.kind != "tool_calls":
        return Judgement(capture, reply, "none")
    return Judgement(capture, reply, "none", "rendered_call", _both([(capture, reply)]))


def _trust(sources: set[Source], chosen: Source, confirmed: bool) -> Trust:
    if "cdp" in sources:
        return "full"
    return "full" if chosen == "copy" and confirmed else "read_only"


def _differs(capture: Capture, reply: ParsedReply, other: Capture, reading: ParsedReply) -> bool:
    """Whether `reading` shows a call that `reply` contradicts.

    No call elsewhere contradicts nothing: a code capture leaves out all that was not in a fence. A call that the
    chosen reading holds too, but does not count (inside its thinking, or after its first call), is not a second
    opinion either; for an exact source that holds only where the chosen reading has no call of its own.
    """
    if reading.kind != "tool_calls" or _signature(reading) == _signature(reply):
        return False
    if other.source in _EXACT and reply.kind == "tool_calls":
        return True
    return not _lines(other.text) <= _lines(capture.text)


def _signature(reply: ParsedReply) -> list[tuple[str, str]]:
    return [(call.name, canonical_json(call.args)) for call in reply.calls] if reply.kind == "tool_calls" else []


def _lines(text: str) -> set[str]:
    return {line.strip() for line in text.splitlines() if line.strip()}


def _both(readings: list[tuple[Capture, ParsedReply]]) -> dict[str, Any]:
    return {
        capture.source: [{"tool": call.name, "args": call.args} for call in reply.calls] for capture, reply in readings
    }
