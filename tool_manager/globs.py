"""One glob syntax for list_files and search_code: `*`, `?`, `[…]`, `{a,b}`, `**/`.

A glob without a slash matches the file name at any depth; one with a slash matches the path below the directory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from tool_manager.errors import OutsideError, PathError, shown
from tool_manager.limits import GLOB_ALTERNATIVES, GLOB_CHARS
from tool_manager.wildcards import TOKEN, compile_path

_OUTSIDE: Final = re.compile(r"[/~]|(?:.*[/{,])?\.\.(?:$|[/},])", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Glob:
    """`patterns` are the alternatives that the braces of `text` stand for."""

    text: str
    patterns: tuple[re.Pattern[str], ...]
    by_name: bool

    def matches(self, below: str) -> bool:
        """`below`: the path relative to the directory that is listed or searched."""
        path = below.rpartition("/")[2] if self.by_name else below
        return any(pattern.fullmatch(path) for pattern in self.patterns)


def compile_glob(text: str) -> Glob:
    """Raises `OutsideError` for `..` or an absolute glob (a glob is a path too), `PathError` for a malformed one."""
    if "\0" in text or not text or len(text) > GLOB_CHARS:
        raise PathError(f"The glob must be 1 to {GLOB_CHARS} characters without NUL: {shown(text)}")
    body = text.removeprefix("./")
    alternatives = _alternatives(body)
    if any(_OUTSIDE.match(glob.replace("\\", "")) for glob in (text, *alternatives)):
        raise OutsideError(text)
    try:
        patterns = tuple(compile_path(glob) for glob in alternatives)
    except ValueError:
        raise PathError(f"The glob has a bad character set: {shown(text)}") from None
    return Glob(body, patterns, "/" not in body)


def _alternatives(glob: str) -> list[str]:
    """`glob` without its braces: `a{b,c}` is `ab` and `ac`."""
    outer: list[tuple[list[str], list[str]]] = []
    ready, heads = list[str](), [""]  # alternatives that a comma has ended, and the beginnings of the present one
    for token in TOKEN.findall(glob):
        if token == "{":
            outer.append((ready, heads))
            ready, heads = [], [""]
        elif token == "," and outer:
            ready, heads = ready + heads, [""]
        elif token == "}" and outer:
            inner = ready + heads
            ready, heads = outer.pop()
            heads = list(dict.fromkeys(head + tail for head in heads for tail in inner))
        else:
            heads = [head + token for head in heads]
        if len(ready) + len(heads) > GLOB_ALTERNATIVES:
            raise PathError(f"The braces of the glob stand for more than {GLOB_ALTERNATIVES} globs: {shown(glob)}")
    if outer:
        raise PathError(f"The glob has an unclosed {{: {shown(glob)}")
    return heads
