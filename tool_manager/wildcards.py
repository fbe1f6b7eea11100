"""`*`, `?`, `[…]` and `**` as a regular expression that cannot blow up.

What stands between two stars has a fixed length, therefore its first match is as good as any other: it is taken once
and never given back (an atomic group). A hostile pattern costs pattern times path, not two to the power of its stars.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

TOKEN: Final = re.compile(r"\\.?|\[[!^]?+(?:\\[^/]|[^\\/])(?:\\[^/]|[^\]\\/])*\]|.", re.DOTALL)
_ITEM: Final = re.compile(r"(\\.|.)(?:-(\\.|.))?", re.DOTALL)
_DEEPER: Final = "(?:[^/]++/)*?"


@lru_cache(1024)
def compile_path(pattern: str) -> re.Pattern[str]:
    """For `fullmatch` with a relative path; raises `ValueError` for a range that runs backwards, like `[z-a]`.

    A segment `**` stands for any number of directories, at the end for everything beneath.
    """
    groups: list[list[str]] = [[]]
    for segment in _segments(pattern):
        if len(segment) > 1 and set(segment) == {"*"}:
            groups.append([])
        else:
            groups[-1].append(_segment(segment))
    first, *deeper = groups
    if not deeper:
        return re.compile("/".join(first))
    source = "".join(f"{segment}/" for segment in first)
    source += "".join(f"(?>{_DEEPER}{''.join(f'{segment}/' for segment in group)})" for group in deeper[:-1] if group)
    return re.compile(f"{source}(?>{_DEEPER}{'/'.join(deeper[-1])}\\Z)" if deeper[-1] else f"(?s:{source}.+)")


def _segments(pattern: str) -> list[list[str]]:
    segments: list[list[str]] = [[]]
    for token in TOKEN.findall(pattern):
        if token in {"/", "\\/"}:
            segments.append([])
        else:
            segments[-1].append(token)
    return segments


def _segment(tokens: list[str]) -> str:
    chunks = [""]
    for token in tokens:
        if token == "*":
            chunks.append("")
        else:
            chunks[-1] += _one(token)
    first, *rest = chunks
    if not rest:
        return first
    between = "".join(f"(?>[^/]*?{chunk})" for chunk in rest[:-1] if chunk)
    return first + between + (f"(?>[^/]*?{rest[-1]}(?=/|\\Z))" if rest[-1] else "[^/]*+")


def _one(token: str) -> str:
    """Exactly one character, never a slash."""
    if token == "?":
        return "[^/]"
    if len(token) > 1 and token[0] == "[":
        return _set(token[1:-1])
    return re.escape(token[1:] or token) if token[0] == "\\" else re.escape(token)


def _set(body: str) -> str:
    negated = body[0] in "!^"
    items = "".join(
        re.escape(low[-1]) + (f"-{re.escape(high[-1])}" if high else "") for low, high in _ITEM.findall(body[negated:])
    )
    try:
        re.compile(f"[{items}]")
    except re.error as error:
        raise ValueError(str(error)) from None
    return f"(?!/)[{'^' if negated else ''}{items}]"
