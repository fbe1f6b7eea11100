"""Finding the lines that matter in a text of many that do not."""

from __future__ import annotations

import re

from bridge.protocol import limits

LOOKS = 64
"""Marks that are hopped to before the pattern takes over, which is slower by far where marks are rare, and else not."""


class LineFinder:
    """Finds lines by `pattern`, which begins with the line break before them, and `mark`, a character in its matches.

    Each stretch of a chunk is searched once. Marks that are rare are hopped to at the speed of `find`.
    """

    def __init__(self, pattern: re.Pattern[str], mark: str) -> None:
        self._pattern, self._mark = pattern, mark
        self._data = ""
        self._found = 0

    def find(self, data: str, at: int) -> int:
        """Where the first such line begins whose line break stands at `at` or later; beyond the end if none does."""
        if self._data is not data or self._found <= at:
            self._data, self._found = data, self._search(data, at)
        return self._found

    def _search(self, data: str, at: int) -> int:
        after = at
        for _ in range(LOOKS):
            hit = data.find(self._mark, after)
            if hit < 0:
                return len(data) + 1
            line = data.rfind("\n", max(at, hit - limits.MAX_HEAD), hit)
            if line >= 0 and self._pattern.match(data, line):
                return line + 1
            after = hit + 1
        found = self._pattern.search(data, max(at, after - limits.MAX_HEAD))
        return found.start() + 1 if found else len(data) + 1
