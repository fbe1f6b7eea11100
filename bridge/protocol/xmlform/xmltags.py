"""Tags with attributes, read while they arrive: `<name key="value" …>`, `<name/>`, `</name>`.

A table of states, one pass: each character of a tag is looked at once, however the text was cut. What turns out to be
no tag (`<tool is`, `<arg name=x>`, a `<` in the value of an attribute) is text, and is known to be at the first
character that no tag can have there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from bridge.protocol.tags import SPACE
from bridge.protocol.xmlform.xmltext import unescape

NAMES: Final = frozenset({"tool", "arguments", "arg", "item"})
"""The tags that mean something (A27); every other one is text."""

HEADS: Final = ("<tool", "</tool", "<arg", "</arg", "<item", "</item", "<!--", "<![CDATA[")
"""How each of them begins; `<arg` begins `<arguments` too."""

_SPACES, _WORD, _NOTHING = re.compile(f"{SPACE}*"), re.compile(r"[\w:.-]*"), re.compile("")
_RULES: Final[dict[str, tuple[re.Pattern[str], dict[str, str]]]] = {
    # in each state: what to step over, and where the next character leads
    "name": (_WORD, {" ": "gap", ">": "end", "/": "slash"}),
    "gap": (_SPACES, {"a": "key", ">": "end", "/": "slash"}),
    "key": (_WORD, {" ": "equals", "=": "value"}),
    "equals": (_SPACES, {"=": "value"}),
    "value": (_SPACES, {'"': "double", "'": "single"}),
    "double": (re.compile(r'[^"<]*'), {'"': "after"}),
    "single": (re.compile(r"[^'<]*"), {"'": "after"}),
    "after": (_NOTHING, {" ": "gap", ">": "end", "/": "slash"}),
    "slash": (_SPACES, {">": "end"}),
}
_SPACE = re.compile(SPACE)
_HEAD = re.compile(r"<(/?)([\w:.-]*)")
_ATTRIBUTE = re.compile(rf"([\w:.-]+){SPACE}*={SPACE}*(?:\"([^\"]*)\"|'([^']*)')")
_PAIR = rf"{SPACE}++[\w:][\w:.-]*+{SPACE}*+={SPACE}*+(?:\"[^\"<]*+\"|'[^'<]*+')"
_WHOLE = re.compile(rf"</?(?:tool|arguments|arg|item)(?:{_PAIR})*+{SPACE}*+(?:/{SPACE}*+)?>")


Verdict = Literal["more", "tag", "text"]
"""What is known of a tag: it may still become one, is whole, or is none."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A whole tag. `source` is how it was written; `empty` says that it closes itself, `single` that an attribute
    stands in single quotes."""

    name: str
    attributes: Mapping[str, str]
    source: str
    closing: bool = False
    empty: bool = False
    single: bool = False

    @property
    def opens(self) -> bool:
        return not self.closing and not self.empty


class TagScanner:
    """One tag whose beginning, `head`, was found."""

    def __init__(self, head: str) -> None:
        self._parts = [head]
        self._state = "name"

    @property
    def source(self) -> str:
        """What was read of it so far."""
        return "".join(self._parts)

    @property
    def is_cut_tag(self) -> bool:
        """Whether it is known to be a tag with attributes, if the text ends here."""
        return self._state in ("double", "single", "after") or (self._state == "gap" and "=" in self.source)

    def scan(self, data: str, at: int) -> tuple[int, Verdict]:
        """Read `data` from `at`; where it stopped, and whether it needs more, is whole, or is no tag."""
        start = at
        verdict: Verdict = "more"
        while verdict == "more" and at < len(data):
            run, turns = _RULES[self._state]
            stepped = run.match(data, at)
            assert stepped is not None
            at = stepped.end()
            if at < len(data):
                at, verdict = self._turn(turns.get(_kind(data[at])), at)
        self._parts.append(data[start:at])
        return at, "text" if verdict == "tag" and self.tag() is None else verdict

    def _turn(self, state: str | None, at: int) -> tuple[int, Verdict]:
        if state is None:
            return at, "text"
        self._state = state
        return at + 1, "tag" if state == "end" else "more"

    def tag(self) -> Tag | None:
        """The whole tag; None if it is none of ours, a closing one with attributes, or has one twice."""
        return _tag(self.source)


def whole_tag(data: str, at: int) -> Tag | None:
    """The tag at `data[at]` if all of it is there: what `TagScanner` finds, faster."""
    found = _WHOLE.match(data, at)
    return _tag(found[0]) if found else None


@lru_cache(maxsize=256)
def _tag(source: str) -> Tag | None:
    head = _HEAD.match(source)
    assert head is not None
    pairs = [(key, unescape(double or single)) for key, double, single in _ATTRIBUTE.findall(source, head.end())]
    closing, empty = bool(head[1]), source[:-1].rstrip().endswith("/")
    if head[2] not in NAMES or len(dict(pairs)) < len(pairs) or (closing and (pairs or empty)):
        return None
    single = "'" in _ATTRIBUTE.sub(lambda found: found[0][-1], source[head.end() :])
    return Tag(head[2], dict(pairs), source, closing, empty, single)


def _kind(char: str) -> str:
    if char in ">/=\"'":
        return char
    if _SPACE.match(char):
        return " "
    return "a" if char.isalnum() or char in "_:" else "?"
