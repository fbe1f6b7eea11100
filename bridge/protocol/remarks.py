"""Remarks on a reply, before they are diagnostics: lines are counted only for those that are kept."""

from __future__ import annotations

from typing import Final, NamedTuple

from bridge.protocol import limits
from bridge.protocol.models import Code, Diagnostic


class Remark(NamedTuple):
    """A diagnostic before its line is counted; `offset` is that in the reply.

    `quoted` adds what stands there to the message, which only the whole reply can tell: a chunk may end anywhere.
    """

    code: Code
    reason: str
    message: str
    offset: int
    quoted: bool = False


IN_THINKING: Final = "a call inside thinking never runs"
"""What is said of every call in thinking (X19)."""


def only_thought(offset: int) -> Remark:
    """That the only call of a reply stands in its thinking, at `offset`: it was meant, and can be sent again."""
    message = "the reply holds its call inside thinking, where no call runs"
    return Remark("malformed_call", "thinking", message, offset)


def diagnostic(text: str, remark: Remark) -> Diagnostic:
    """`remark` with its place in `text`, the whole reply."""
    line = text.count("\n", 0, remark.offset) + 1
    column = remark.offset - text.rfind("\n", 0, remark.offset)
    message = f"{remark.message}, at {_excerpt(text, remark.offset)}" if remark.quoted else remark.message
    return Diagnostic(remark.code, message, remark.offset, line, column, remark.reason)


def _excerpt(text: str, at: int) -> str:
    """What stands at `at`, quoted, in ASCII that holds neither tag nor fence: it may be typed into a chat."""
    quoted = ascii(text[at : at + limits.EXCERPT])
    if len(quoted) > limits.MAX_QUOTED:
        quoted = f"{quoted[: limits.MAX_QUOTED]}..."
    return quoted.replace("<", "\\x3c").replace("`", "\\x60")
