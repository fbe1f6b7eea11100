"""Tags in a text that is still arriving: where one is, and whether the end of a chunk may be the beginning of one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from bridge.protocol import limits
from bridge.protocol.tagged.hops import Finder

SPACE: Final = r"[\s\ufeff\u200b\u200c\u200d\u2060]"
"""What may stand between tag and JSON (T4): white space of JavaScript and Python, and invisible marks of pages."""

THINKING: Final = ("think", "thinking")
"""Names of the tags of thinking (X19), in any case of letters, with attributes and space: more thinking is safer."""

_ATTRIBUTES = rf"(?:\s[^<>]{{0,{limits.MAX_ATTRIBUTES}}})?"
_NAMED = re.compile(rf"<(/?)([a-z]*)({_ATTRIBUTES})", re.ASCII | re.IGNORECASE)


class TagSet:
    """Finds the tags `exact`, as written, and those that open or close thinking by name, in time linear in the text.

    `<think/>` and `<think />` open nothing.
    """

    def __init__(self, exact: Iterable[str], *, opening: tuple[str, ...] = (), closing: tuple[str, ...] = ()) -> None:
        self._exact, self._opening, self._closing = tuple(exact), opening, closing
        self._longest = max((limits.MAX_ATTRIBUTES + len("</thinking "), *map(len, self._exact)))
        starts = [(re.escape(tag[1]), re.escape(tag[2]), re.escape(tag[3:])) for tag in self._exact]
        starts += [(_cases(name[0]), _cases(name[1]), rf"(?i:{name[2:]}){_ATTRIBUTES}(?<!/)>") for name in opening]
        starts += [("/", _cases(name[0]), rf"(?i:{name[1:]}){_ATTRIBUTES}>") for name in closing]
        self._finder = Finder("<", _any_of(starts))

    def search(self, data: str, at: int) -> re.Match[str] | None:
        """The first tag from `at` on."""
        return self._finder.search(data, at)

    def unfinished(self, data: str, at: int) -> str:
        """The end of `data[at:]` that more text could make a tag; empty if there is none."""
        start = data.rfind("<", max(at, len(data) - self._longest))
        tail = data[start:] if start >= 0 else ""
        return tail if tail and (any(tag.startswith(tail) for tag in self._exact) or self._half_named(tail)) else ""

    def _half_named(self, tail: str) -> bool:
        found = _NAMED.fullmatch(tail)
        if found is None:
            return False
        name, names = found[2].lower(), self._closing if found[1] else (*self._opening, *self._closing)
        return name in names if found[3] else any(each.startswith(name) for each in names)


def name_of(tag: str) -> str:
    """The lower-case name of the thinking tag `tag`."""
    found = _NAMED.match(tag)
    return found[2].lower() if found else ""


def _cases(letter: str) -> str:
    return letter.lower() + letter.upper()


def _any_of(tags: Sequence[tuple[str, str, str]]) -> str:
    """An expression for tags, each given as sets of its first and second character and what follows.

    Most tags of prose and code are none of them by these two: sets tell that at a fraction of the cost of branches.
    """
    branches = [f"(?<=<[{first}][{second}]){rest}" for first, second, rest in tags]
    firsts, seconds = ("".join(each[index] for each in tags) for index in (0, 1))
    return f"<[{firsts}][{seconds}](?:{'|'.join(branches)})"
