"""Where in a reply a diagnostic points: its source line with a caret under the place, safe to print."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from bridge.cli.output import visible

if TYPE_CHECKING:
    from bridge.protocol import Diagnostic

BEFORE = 60
"""Characters of the line shown before the place: with `AFTER`, what fits into a narrow terminal."""

AFTER = 40
"""Characters of the line shown from the place on."""

TAB = 4
"""Columns between tab stops; tabs are printed as spaces, so that the caret does not depend on the terminal."""

INDENT = "    "


def pointed(text: str, found: Diagnostic, file: str) -> str:
    """`found`, a remark on the reply `text` that was read from `file`, as three lines: message, source line, caret."""
    reason = f" ({found.reason})" if found.reason else ""
    head = f"{file}:{found.line}:{found.column}: {found.code}{reason}: {found.message}"
    before, after = _window(text, found.offset, found.column)
    return f"{head}\n{INDENT}{before}{after}\n{INDENT}{' ' * _width(before)}^"


def _window(text: str, offset: int, column: int) -> tuple[str, str]:
    """What stands on the line before and after `offset`, as it is printed."""
    line = offset - (column - 1)
    start, end = max(line, offset - BEFORE), min(len(text), offset + AFTER)
    newline = text.find("\n", offset, end)
    is_cut = newline < 0 and end < len(text)
    before = ("…" if start > line else "") + _shown(text[start:offset])
    after = _shown(text[offset : end if newline < 0 else newline].removesuffix("\r"), _width(before))
    return before, after + ("…" if is_cut else "")


def _shown(text: str, at: int = 0) -> str:
    """`text` with tabs as spaces and everything invisible escaped; `at` is the column where it begins."""
    shown = ""
    for char in text:
        column = at + _width(shown)
        shown += " " * (TAB - column % TAB) if char == "\t" else visible(char)
    return shown


def _width(text: str) -> int:
    """Columns of a terminal that `text` fills."""
    return sum(map(_columns, text))


def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
