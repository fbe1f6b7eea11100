"""Where a JSON object or array ends in text that is still arriving, and where text stops being one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Literal

from bridge.protocol import limits
from bridge.protocol.jsontext import BadJson, decode
from tool_manager.models import JsonValue

WalkState = Literal["more", "end", "broken", "deep"]

SPACES: Final = " \t\n\r"
"""White space between tokens of JSON; no other is."""

STRING: Final = r'"[^"\\\x00-\x1f]*+(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*+)*+"'
"""Matches a string of JSON, with escapes that nobody has judged."""

OBJECT_BEGINS: Final = rf'\{{(?=[{SPACES}]*+(?:["}}]|\Z))'
LIST_BEGINS: Final = rf'\[(?=[{SPACES}]*+(?:["{{\[\]\-0-9tfn]|\Z))'
"""Match a bracket that may begin a value, by what follows it. Most brackets in prose and code do not."""

SCALAR: Final = r"(?:true|false|null|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)"
"""Matches any other value that holds none."""

_S = f"[{SPACES}]*+"
_ITEMS = re.compile(rf"(?:{_S}(?:{STRING}|{SCALAR}){_S},)*+")
_MEMBERS = re.compile(rf"(?:{_S}{STRING}{_S}:{_S}(?:{STRING}|{SCALAR}){_S},)*+")
_SPACES = re.compile(_S)
_WORD = re.compile(r"[\w.+-]*+", re.ASCII)
_STRING_PART = re.compile(STRING[1:-1])
_ONE_SCALAR = re.compile(SCALAR)
_STARTS: Final = frozenset("-0123456789tfn")

TOO_DEEP: Final = BadJson("depth", f"it is nested more than {limits.MAX_DEPTH} levels deep", 0)


class JsonWalk:
    """Walks over one object or array, chunk by chunk, by the grammar of JSON, in time linear in the text.

    It stops at the first character that no JSON can have there. So the text before that character is the beginning of
    a JSON value, all of it, and a search for the next value goes on at the character itself: no text is walked over
    twice, however many openers it holds. Escapes and the size of numbers are for `decode` to judge.
    """

    def __init__(self) -> None:
        self.deepest = 0
        self._open: list[str] = []
        self._state: Callable[[str, int], int] = self._value
        self._after_string: Callable[[str, int], int] = self._value
        self._word: list[str] = []
        self._verdict: WalkState | None = None

    def walk(self, data: str, at: int) -> tuple[int, WalkState]:
        """Read on from `at`: `end` and the index after the last bracket, `broken` and that of what is no JSON, `more`
        and the end of `data`; or, once, `deep` and the place where it became too deep to be decoded."""
        while at < len(data):
            at = self._state(data, at)
            if self._verdict:
                verdict, self._verdict = self._verdict, None
                return at, verdict
        return at, "more"

    @property
    def objects(self) -> int:
        """How many objects are open."""
        return self._open.count("{")

    # States: each reads from `at` and says where the next one goes on.

    def _value(self, data: str, at: int) -> int:
        at = _end(_SPACES, data, at)
        if at == len(data):
            return at
        char = data[at]
        if char in "{[":
            return self._push(char, at)
        if char == '"':
            self._state, self._after_string = self._string, self._next
            return at + 1
        if char in _STARTS:
            self._state = self._scalar
            return at
        return self._break(at)

    def _first_value(self, data: str, at: int) -> int:
        at = _end(_SPACES, data, at)
        if at == len(data):
            return at
        return self._pop(at) if data[at] == "]" else self._item(data, at)

    def _item(self, data: str, at: int) -> int:
        self._state = self._value
        return self._value(data, _end(_ITEMS, data, at))

    def _first_key(self, data: str, at: int) -> int:
        at = _end(_SPACES, data, at)
        if at == len(data):
            return at
        return self._pop(at) if data[at] == "}" else self._key(data, at)

    def _key(self, data: str, at: int) -> int:
        self._state = self._key
        at = _end(_SPACES, data, _end(_MEMBERS, data, at))
        if at == len(data):
            return at
        if data[at] != '"':
            return self._break(at)
        self._state, self._after_string = self._string, self._colon
        return at + 1

    def _colon(self, data: str, at: int) -> int:
        at = _end(_SPACES, data, at)
        if at == len(data):
            return at
        if data[at] != ":":
            return self._break(at)
        self._state = self._value
        return at + 1

    def _next(self, data: str, at: int) -> int:
        at = _end(_SPACES, data, at)
        if at == len(data):
            return at
        in_object = self._open[-1] == "{"
        if data[at] == ",":
            self._state = self._key if in_object else self._item
            return at + 1
        return self._pop(at) if data[at] == ("}" if in_object else "]") else self._break(at)

    def _string(self, data: str, at: int) -> int:
        end = _end(_STRING_PART, data, at)
        if end == len(data):
            return end
        if data[end] == '"':
            self._state = self._after_string
            return end + 1
        if data[end] == "\\":
            self._state = self._escaped
            return end + 1
        return self._break(end)

    def _escaped(self, data: str, at: int) -> int:
        if data[at] < " ":
            return self._break(at)
        self._state = self._string
        return at + 1

    def _scalar(self, data: str, at: int) -> int:
        end = _end(_WORD, data, at)
        self._word.append(data[at:end])
        if end == len(data):
            return end
        word, self._word = "".join(self._word), []
        if not _ONE_SCALAR.fullmatch(word):
            return self._break(end)
        self._state = self._next
        return end

    # Steps of the states.

    def _push(self, char: str, at: int) -> int:
        self._open.append(char)
        if len(self._open) > self.deepest:
            self.deepest += 1
            self._verdict = "deep" if self.deepest == limits.MAX_DEPTH + 1 else None
        self._state = self._first_key if char == "{" else self._first_value
        return at + 1

    def _pop(self, at: int) -> int:
        self._open.pop()
        self._state, self._verdict = self._next, None if self._open else "end"
        return at + 1

    def _break(self, at: int) -> int:
        self._verdict = "broken"
        return at


def decode_value(text: str, deepest: int) -> JsonValue:
    """The value of `text`, that a walk found `deepest` levels deep. Raises `BadJson`, also for what is too deep."""
    if deepest > limits.MAX_DEPTH:
        raise TOO_DEEP
    return decode(text)


def decode_text(text: str) -> JsonValue:
    """The value of `text`, any JSON and nothing but it. Raises `BadJson`, also for what is nested too deeply."""
    walk = JsonWalk()
    if text.lstrip(" \t\n\r").startswith(("{", "[")):
        walk.walk(text, 0)
    return decode_value(text, walk.deepest)


def _end(pattern: re.Pattern[str], data: str, at: int) -> int:
    """Where the match of `pattern`, which matches anything, ends."""
    found = pattern.match(data, at)
    return found.end() if found else at
