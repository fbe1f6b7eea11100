"""Finding a string that is mostly absent, as fast as the text allows."""

from __future__ import annotations

from collections.abc import Iterator

_RARE = "UL<'x"
"""Characters of what we look for, the rarest in prose and code first."""


def budget(length: int) -> int:
    """How many places of a rare character in `length` characters are worth a look each.

    Where it is rare, `find` of one character goes ten times as fast as any search; where it is not, each look costs as
    much as searching some hundred characters.
    """
    return 32 + length // 1024


def places(text: str, needle: str, start: int, end: int) -> Iterator[int]:
    """Where `needle` begins in `text[start:end]`, in order; the matches do not overlap."""
    rare = next((char for char in _RARE if char in needle), needle[-1])
    index, at = needle.index(rare), start
    for _ in range(budget(end - start)):
        found = text.find(rare, at + index, end)
        if found < 0:
            return
        at = found - index
        if text.startswith(needle, at, end):
            yield at
        at += 1
    while (at := text.find(needle, at, end)) >= 0:
        yield at
        at += len(needle)
