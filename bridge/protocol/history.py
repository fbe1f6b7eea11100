"""A conversation written again from its record: parsing what is written gives what was stored (C29): pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from bridge.protocol.dialect import Dialect
from bridge.protocol.models import ParsedReply
from tool_manager.models import ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class Said:
    """What the user said, or what was typed for them as it stands."""

    text: str


@dataclass(frozen=True, slots=True)
class Replied:
    """A reply: its text (what precedes the calls), its thinking, and its calls; None: it held no block of calls."""

    text: str = ""
    calls: tuple[ToolCall, ...] | None = None
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class Returned:
    """What came of the calls of the reply before it. `text`: the message as it was typed, where that is known."""

    outcomes: tuple[tuple[ToolCall, ToolResult], ...] = ()
    text: str | None = None


Entry: TypeAlias = Said | Replied | Returned


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["user", "assistant"]
    content: str


def stored(reply: ParsedReply) -> Replied | None:
    """What a history keeps of `reply`; None of one that could not be used.

    What follows the calls is left out: it was written before their results, whatever it claims of them (T29).
    """
    if reply.kind == "error":
        return None
    return Replied(reply.prose, reply.calls if reply.kind == "tool_calls" else None, reply.thinking)


def rebuild(entries: Iterable[Entry], dialect: Dialect) -> list[Message]:
    """`entries`, oldest first, as messages in `dialect`.

    Each reply's calls are a block of their own. Calls that the user's next words found without a result are dropped;
    a result without calls is told all the same, and makes no block of calls.
    """
    listed = list(entries)
    messages: list[Message] = []
    for entry, following in zip(listed, [*listed[1:], None], strict=False):
        if isinstance(entry, Replied):
            dropped = entry.calls is not None and isinstance(following, Said)
            messages += _assistant(replace(entry, calls=None) if dropped else entry, dialect)
        elif isinstance(entry, Returned):
            messages.append(Message("user", _results(entry, dialect)))
        else:
            messages.append(Message("user", entry.text))
    return messages


def _assistant(reply: Replied, dialect: Dialect) -> Sequence[Message]:
    thinking = f"<{dialect.thinking_tag}>{reply.thinking}</{dialect.thinking_tag}>" if reply.thinking else ""
    parts = [thinking + reply.text] if thinking or reply.text else []
    if reply.calls is not None:
        parts.append(dialect.format_calls(reply.calls))
    return [Message("assistant", "\n\n".join(parts))] if parts else []


def _results(entry: Returned, dialect: Dialect) -> str:
    return dialect.results_message(entry.outcomes) if entry.text is None else entry.text
