"""YAML of one `name: value` on each line with values in JSON: what we print, read as fast as JSON.

The scanner of PyYAML takes a hundred times as long. It reads whatever is not exactly of this form.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from bridge.protocol.jsontext import decode_prefix
from bridge.protocol.lineform.faults import Fault
from bridge.protocol.lineform.yamlscalars import plain
from tool_manager.models import JsonObject, JsonValue

Path: TypeAlias = tuple[str | int, ...]
"""Keys and indices that lead to a value."""

Ends = Literal["closed", "text", "empty", "none"]
"""What arguments end with: a value that is whole; text of a block, which more lines could go on; a name without a
value; nothing, for there is no argument."""


class Arguments(NamedTuple):
    """`args`, how those plain scalars in it were written that have become something other than a string, and what
    they end with."""

    args: JsonObject
    written: dict[Path, str]
    ends: Ends


_HEAD = re.compile(r"( *)ARGS: *(?:\{\} *\r?\n|\r?\n( *))")
_KEY = re.compile(r"[a-zA-Z_][\w-]{0,127}+", re.ASCII)
_COLON = re.compile(r": +")
_PLAIN = re.compile(r"(?:-(?=[0-9]))?[\w./+~][\w./+~-]{0,127}+(?= *\r?\n)", re.ASCII)
_END = re.compile(r" *\r?\n")
_ODD = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
"""Characters that YAML refuses, takes for line breaks, or skips."""


class _Number(str):
    """A number as it is written."""


_WRITTEN: Final = json.JSONDecoder(parse_int=_Number, parse_float=_Number)
_WORDS: Final = {True: "true", False: "false", None: "null"}


def read_entries(text: str) -> Arguments | None:
    """What `read_mapping` says of `text`, where every line is of the simple form; else None."""
    head = _HEAD.match(text)
    if head is None or _is_odd(text):
        return None
    indent, entries = head[2] or "", _Entries(text)
    at = head.end() - len(indent)
    while len(indent) > len(head[1]) and text.startswith(indent, at):
        at = entries.take(at + len(indent))
        if not at:
            return None
    ends: Ends = "closed" if entries.args or head[2] is None else "none"
    return None if text[at:].strip(" \r\n") else Arguments(entries.args, entries.written, ends)


def _is_odd(text: str) -> bool:
    return (not text.isascii() or "\x7f" in text) and _ODD.search(text) is not None


class _Entries:
    def __init__(self, text: str) -> None:
        self.args: JsonObject = {}
        self.written: dict[Path, str] = {}
        self._text = text

    def take(self, at: int) -> int:
        """Read the entry at `at`: where the next line begins, or 0 for what is not of the form."""
        key, at = self._key(at)
        colon = _COLON.match(self._text, at)
        if key is None or key in self.args or colon is None:
            return 0
        at = self._value(key, colon.end())
        end = _END.match(self._text, at)
        return end.end() if at and end else 0

    def _key(self, at: int) -> tuple[str | None, int]:
        if found := _KEY.match(self._text, at):
            return found[0], found.end()
        key, end = self._json(at) if self._text.startswith('"', at) else (None, 0)
        return (key, end) if isinstance(key, str) and end - at < 512 else (None, 0)

    def _value(self, key: str, at: int) -> int:
        if self._text.startswith(('"', "[", "{"), at):
            self.args[key], end = self._json(at)
            if end and self._text[at] != '"':
                self._note((key,), _WRITTEN.raw_decode(self._text, at)[0])
            return end
        found = _PLAIN.match(self._text, at)
        return self._plain(key, found) if found else 0

    def _plain(self, key: str, found: re.Match[str]) -> int:
        try:
            value = self.args[key] = plain(found[0])
        except Fault:
            return 0
        if not isinstance(value, str):
            self.written[key,] = found[0]
        return found.end()

    def _json(self, at: int) -> tuple[JsonValue, int]:
        value, end = decode_prefix(self._text, at)
        is_one_line = isinstance(value, str) or all(self._text.find(space, at, end) < 0 for space in "\n\r\t")
        return (value, end) if is_one_line else (None, 0)

    def _note(self, path: Path, value: Any) -> None:
        """Keep how those leaves of `value` are written that are no strings."""
        if isinstance(value, dict):
            for key, each in value.items():
                self._note((*path, key), each)
        elif isinstance(value, list):
            for index, each in enumerate(value):
                self._note((*path, index), each)
        elif type(value) is not str:
            self.written[path] = str(value) if isinstance(value, _Number) else _WORDS[value]
