"""Finding what is mostly absent, as fast as the text allows.

Where a character is rare, `find` goes from one to the next ten times as fast as any search; where it is not, each look
costs as much as searching some hundred characters. So both hop while that pays, and search from there on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_RARE = "UL<'x"
"""Characters of what we look for, the rarest in prose and code first."""

HOPS: Final = 8
"""Looks that are free: fewer say nothing about how rare a character is."""

_WORTH: Final = 1024
"""Characters that a look must bring us on to be worth it."""


class Finder:
    """Finds the matches of `pattern`, which begins with the one plain character `char`, in time linear in the text."""

    def __init__(self, char: str, pattern: str) -> None:
        self._char, self._pattern = char, re.compile(pattern, re.ASCII)

    def search(self, data: str, at: int) -> re.Match[str] | None:
        """The first match from `at` on."""
        left = HOPS * _WORTH
        while left > 0:
            place = data.find(self._char, at)
            if place < 0:
                return None
            if found := self._pattern.match(data, place):
                return found
            left += place - at - _WORTH
            at = place + 1
        return self._pattern.search(data, at)


def places(text: str, needle: str, start: int, end: int) -> Iterator[int]:
    """Where `needle` begins in `text[start:end]`, in order; the matches do not overlap."""
    rare = next((char for char in _RARE if char in needle), needle[-1])
    index, at, left = needle.index(rare), start, HOPS * _WORTH
    while left > 0:
        found = text.find(rare, at + index, end) - index
        if found < at:
            return
        if text.startswith(needle, found, end):
            yield found
        left += found - at - _WORTH
        at = found + 1
    while (at := text.find(needle, at, end)) >= 0:
        yield at
        at += len(needle)
