"""Tags in a text that is still arriving: where one is, and whether the end of a chunk may be the beginning of one."""

from __future__ import annotations

import re
from typing import Final

SPACE: Final = r"[\s\ufeff\u200b\u200c\u200d\u2060]"
"""What may stand between tag and JSON (T4): white space of JavaScript and Python, and invisible marks of pages."""

THINKING: Final = ("<think>", "<thinking>")


class TagSet:
    """Finds any of `exact` (as written) and of `loose` (in any case of letters) in time linear in the text.

    Thinking tags are `loose`: to read more as thinking is the safe side.
    """

    def __init__(self, exact: tuple[str, ...], loose: tuple[str, ...]) -> None:
        self._exact, self._loose = exact, loose
        self._longest = max(map(len, (*exact, *loose)))
        bodies = [re.escape(tag[1:]) for tag in exact] + [f"(?i:{re.escape(tag[1:])})" for tag in loose]
        self.search = re.compile(f"<(?:{'|'.join(bodies)})", re.ASCII).search

    def unfinished(self, data: str, at: int) -> str:
        """The end of `data[at:]` that more text could make a tag; empty if there is none."""
        start = data.rfind("<", max(at, len(data) - self._longest + 1))
        tail = data[start:] if start >= 0 else ""
        if tail.startswith("<") and any(tag.startswith(tail) for tag in self._exact):
            return tail
        return tail if tail and any(tag.startswith(tail.lower()) for tag in self._loose) else ""
