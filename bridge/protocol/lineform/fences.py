"""Code fences, as the dialects need them that are written in lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bridge.protocol import limits
from bridge.protocol.tagged.edges import LABELS

_INDENT = rf" {{0,{limits.MAX_LINE_INDENT}}}"
_OPENING = re.compile(rf"({_INDENT})(`{{3,}}+|~{{3,}}+)[ \t]*([^`\s]*)[^`\n]*\n")
_BEGINNING = re.compile(rf"{_INDENT}(?:`{{1,2}}|~{{1,2}}|`{{3,}}[^`\n]*|~{{3,}}[^\n]*)")
_LABELS = frozenset(map(str.casefold, LABELS))
_IDLE = re.compile(r"(?:[ \t\r]*+(?:#[^\n]*+)?\n)*+")
LINES = {mark: re.compile(rf"\n[ \t\r]*+{mark * 3}") for mark in "`~"}
"""Matches, for each mark, a line break and what begins every line after it that opens or closes a fence."""


@dataclass(slots=True)
class Fence:
    """An open fence. `clean` says that nothing but blank lines, comments, labels of pages and calls has stood in it so
    far: a call that is quoted in the middle of a program or a file is part of that."""

    mark: str
    indent: int
    label: str
    clean: bool = True

    def is_closed_by(self, line: str) -> bool:
        bare = line.strip(" \t\r\n")
        return bare.startswith(self.mark) and not bare.strip(self.mark[0])

    def pass_line(self, line: str) -> None:
        bare = line.strip()
        if bare and not bare.startswith("#") and bare.casefold() not in _LABELS:
            self.clean = False


def opened_by(line: str) -> Fence | None:
    """The fence that `line`, with its line break, opens."""
    found = _OPENING.fullmatch(line)
    return Fence(found[2], len(found[1]), found[3].lower()) if found else None


def idle_lines(data: str, at: int) -> int:
    """Where the blank lines and comments end that begin at `at`, all that are whole: they change nothing in a fence."""
    found = _IDLE.match(data, at)
    return found.end() if found else at


def may_open(line: str) -> bool:
    """Whether more text may make of `line`, which has not ended, one that opens or closes a fence."""
    return _BEGINNING.fullmatch(line) is not None
