"""Fences whose label says that they hold something else than calls, found in text that is still arriving."""

from __future__ import annotations

import re
from typing import Final

from bridge.protocol import limits
from bridge.protocol.jsonform.jsonwalk import LIST_BEGINS, OBJECT_BEGINS
from bridge.protocol.jsonform.oddkey import ODD_OBJECT_BEGINS
from bridge.protocol.tagged.hops import Finder

LABELS: Final = ("", "json")
"""What may stand after the backticks of a fence with calls in it (A16), in any case of letters."""

_BRACKETS = (Finder("{", rf"(?:{OBJECT_BEGINS}|{ODD_OBJECT_BEGINS})"), Finder("[", LIST_BEGINS))
# One longer than any fence comes in pieces, so that it is cut alike however the reply was cut.
_RUNS = {char: Finder(char, rf"{char}{{3,{limits.MAX_FENCE + 1}}}") for char in "`~"}
_MARKS = (*_BRACKETS, *_RUNS.values())
_BEFORE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")
_LABEL = re.compile(rf"[ \t]{{0,{limits.MAX_LABEL}}}([^\s`{{\[]{{0,{limits.MAX_LABEL}}})")
_BLANK = re.compile(rf"[ \t]{{0,{limits.MAX_LABEL}}}\r?")


class Fences:
    """Whether the text at hand stands in a fence of foreign code. A fence opens and closes at the start of a line;
    one that does not close lasts to the end, and one with its end on its first line was inline code."""

    def __init__(self) -> None:
        self._fence = ""  # what opened it
        self._on_first_line = False

    def marks(self, is_thinking: bool) -> tuple[Finder, ...]:
        """What finds all that may decide next: a bracket, or backticks that may be a fence."""
        if is_thinking:
            return _BRACKETS
        return (_RUNS[self._fence[0]],) if self._fence else _MARKS

    def unfinished(self, data: str, at: int) -> int:
        """How many characters at the end of `data[at:]` more text could make a fence."""
        tail = data[max(at, len(data) - 2) :]
        return max(len(tail) - len(tail.rstrip(char)) for char in "`~")

    def pass_text(self, data: str, start: int, end: int) -> None:
        """Read on over `data[start:end]`, which holds no marks."""
        if self._on_first_line and data.find("\n", start, end) >= 0:
            self._on_first_line = False

    def pass_run(self, data: str, run: re.Match[str], is_first: bool) -> bool:
        """Read the backticks or tildes `run`; False if only more text can tell what they are.

        `is_first` says that `data` begins where the reply does.
        """
        if len(run[0]) > limits.MAX_FENCE:
            return True
        if run.end() == len(data):
            return False
        return self._closes(data, run, is_first) if self._fence else self._opens(data, run, is_first)

    def _opens(self, data: str, run: re.Match[str], is_first: bool) -> bool:
        label = _LABEL.match(data, run.end())
        if label is None or not _starts_line(data, run.start(), is_first):
            return True
        if label.end() == len(data):
            return False
        if label[1].lower() not in LABELS:
            self._fence, self._on_first_line = run[0], True
        return True

    def _closes(self, data: str, run: re.Match[str], is_first: bool) -> bool:
        if len(run[0]) < len(self._fence):
            return True
        if self._on_first_line:
            self._fence = ""
            return True
        blank = _BLANK.match(data, run.end())
        if blank is None or not _starts_line(data, run.start(), is_first):
            return True
        if blank.end() == len(data):
            return False
        if data[blank.end()] == "\n":
            self._fence = ""
        return True


def _starts_line(data: str, at: int, is_first: bool) -> bool:
    """Whether nothing but indentation, quote marks and a list's bullet stands before `at` in its line."""
    first = max(0, at - limits.MAX_FENCE_LINE)
    start = data.rfind("\n", first, at) + 1
    if not start and not (is_first and not first):
        return False
    return bool(_BEFORE.fullmatch(data, start, at))
