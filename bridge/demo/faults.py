"""What can go wrong with a chat page, as a switch for tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ReplyFault = Literal["none", "empty", "truncated", "endless", "drop"]
PageKind = Literal["chat", "login", "no_composer"]


@dataclass(frozen=True, slots=True)
class Faults:
    """How the demo page misbehaves; the default is not at all.

    `reply`: `empty` (no text), `truncated` (the stream ends before the closing tag or fence, or at half of a plain
    text), `endless` (the model never stops), `drop` (the connection breaks at half of the reply). `done` says whether
    a truncated reply still ends with `[DONE]`. Only replies number `first` (0-based, over all conversations) up to
    `first + count` are hit (`count=None`: all from there on). `page`: the chat, a login wall, or a page without
    composer.
    """

    reply: ReplyFault = "none"
    done: bool = True
    first: int = 0
    count: int | None = None
    page: PageKind = "chat"

    def hit(self, number: int) -> ReplyFault:
        """The fault of reply `number` (0-based)."""
        if number < self.first or (self.count is not None and number >= self.first + self.count):
            return "none"
        return self.reply


def truncate(text: str) -> str:
    """`text` cut before its last closing tag (so that a call stays open), else at half."""
    at = text.rfind("</TOOL_CALL>")
    return text[: at if at > 0 else len(text) // 2]
