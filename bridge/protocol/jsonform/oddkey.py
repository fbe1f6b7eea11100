"""Keys that JSON does not know, of an object in the manner of JavaScript or Python, in text that is still arriving."""

from __future__ import annotations

import re
from typing import Final

from bridge.protocol.jsonform.jsonwalk import SPACES

_S = f"[{SPACES}]*+"
# no bracket and nothing of a tag or a fence: what turns out to be no key has hidden nothing
_INSIDE_QUOTES = r"[^'\n{}\[\]<`~]*+"
_BARE = r"(?u:[\w$-])"  # in any expression

ODD_OBJECT_BEGINS: Final = rf"\{{(?={_S}(?:'{_INSIDE_QUOTES}(?:\Z|'{_S}(?::|\Z))|{_BARE}++{_S}(?::|\Z)))"
"""Matches a bracket before such a key and its colon, or before the end of the text where more could make one."""

_QUOTED = re.compile(_INSIDE_QUOTES)
_WORD = re.compile(rf"{_BARE}*+")
_SPACES = re.compile(_S)


class OddKey:
    """Reads one key in single quotes or none, and its colon, chunk by chunk, in time linear in the text."""

    def __init__(self) -> None:
        self._run: re.Pattern[str] | None = None  # what may go on

    def read(self, data: str, at: int) -> tuple[int, bool | None]:
        """Read on from `at`, which is in `data`: how far, and whether this is a key; None if more text must tell."""
        if self._run is None:
            self._run = _QUOTED if data[at] == "'" else _WORD
            if self._run is _WORD and self._end(data, at) == at:
                return at, False
            at += 1
        at = self._end(data, at)
        if at < len(data) and self._run is not _SPACES:
            if self._run is _QUOTED:
                if data[at] != "'":
                    return at, False
                at += 1
            self._run = _SPACES
            at = self._end(data, at)
        if at == len(data):
            return at, None
        return (at + 1, True) if data[at] == ":" else (at, False)

    def _end(self, data: str, at: int) -> int:
        found = self._run.match(data, at) if self._run else None
        return found.end() if found else at
