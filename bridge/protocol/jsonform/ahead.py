"""The nearest of several things in text that is still arriving."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol


class Searches(Protocol):
    """What finds one kind of thing: its first match in `data` from `at` on, which depends on no text before `at`."""

    def search(self, data: str, at: int) -> re.Match[str] | None: ...


class Ahead:
    """What each finder finds next in the data at hand. None looks at a stretch of text twice, for one kind may be
    everywhere and another far away or nowhere."""

    def __init__(self) -> None:
        self._data = ""
        self._found: dict[Searches, re.Match[str] | None] = {}

    def nearest(self, finders: Iterable[Searches], data: str, at: int) -> re.Match[str] | None:
        """The first match of any of `finders` in `data` from `at` on; `at` never goes back in the same data."""
        if data is not self._data:
            self._data, self._found = data, {}
        matches = [found for finder in finders if (found := self._next(finder, at))]
        return min(matches, key=re.Match.start) if matches else None

    def _next(self, finder: Searches, at: int) -> re.Match[str] | None:
        if finder in self._found:
            known = self._found[finder]
            if known is None or known.start() >= at:
                return known
        found = self._found[finder] = finder.search(self._data, at)
        return found
