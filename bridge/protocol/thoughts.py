"""Where a reply thinks (X19): what stands there is never run, and some dialects move it out of the text (C1, F12)."""

from __future__ import annotations

from typing import NamedTuple


class Thought(NamedTuple):
    """Offsets in the reply: of the opening tag, of the text between the tags, of its end, and after the closing tag."""

    start: int
    inner: int
    inner_end: int
    end: int


class Thoughts:
    """The thinking blocks of one reply, told in order."""

    def __init__(self) -> None:
        self.name: str | None = None
        """The name of the tag that is open."""
        self.border = 0
        """Where the last thinking began or ended."""
        self._opened = (0, 0)
        self._closed: list[Thought] = []

    def enter(self, name: str, start: int, end: int) -> None:
        self.name, self._opened, self.border = name, (start, end), end

    def leave(self, start: int, end: int) -> None:
        self._closed.append(Thought(*self._opened, start, end))
        self.name, self.border = None, end

    def text(self, reply: str) -> str:
        """What was thought; blocks of white space are nothing (C3), and one without an end is none (C4)."""
        inner = (reply[each.inner : each.inner_end] for each in self._closed)
        return "\n".join(text for text in inner if text.strip())

    def without(self, reply: str, start: int, end: int) -> str:
        """`reply[start:end]` without the thinking that lies in it."""
        parts, at = [], start
        for each in self._closed:
            if start <= each.start and each.end <= end:
                parts.append(reply[at : each.start])
                at = each.end
        return "".join((*parts, reply[at:end]))
