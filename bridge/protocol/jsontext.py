"""JSON as `JSON.parse` reads it (T9), and where a JSON value ends in text that is still arriving."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Literal, NoReturn

from bridge.protocol import limits
from tool_manager.models import JsonObject, JsonValue


class BadJson(Exception):
    """Text that is not strict JSON. `reason` is `cut`, `json`, `number` or `depth`, `offset` the place in the text."""

    def __init__(self, reason: str, message: str, offset: int) -> None:
        super().__init__(message)
        self.reason = reason
        self.offset = offset


class _BadNumber(ValueError):
    """A number that JSON does not know, or that cannot be kept as it was written."""


def _constant(text: str) -> NoReturn:
    raise _BadNumber(f"{text} is not JSON")


def _float(text: str) -> float:
    value = float(text)
    if -_LARGEST <= value <= _LARGEST:
        return value
    raise _BadNumber(f"the number {text[: limits.EXCERPT]} is too large")


def _int(text: str) -> int:
    if len(text) > limits.MAX_INT_DIGITS:
        raise _TOO_MANY_DIGITS
    return int(text)


_LARGEST = sys.float_info.max
_TOO_MANY_DIGITS = _BadNumber(f"an integer has more than {limits.MAX_INT_DIGITS} digits")


def integers(limit: int) -> Callable[[str], int]:
    """Reads integers where the interpreter itself refuses more digits than `limit` (0: it refuses none).

    Its own limit is ours unless somebody has raised it, and costs no call of Python for each number.
    """
    return int if 0 < limit <= limits.MAX_INT_DIGITS else _int


_INT = integers(sys.get_int_max_str_digits())
_DECODER = json.JSONDecoder(parse_constant=_constant, parse_float=_float, parse_int=_INT)


def decode(text: str) -> JsonValue:
    """The value of `text`, which must be nothing but JSON. Raises `BadJson`, and nothing else, whatever `text` is."""
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        cut = error.msg.startswith("Unterminated string") or error.pos >= len(text.rstrip())
        raise BadJson("cut" if cut else "json", _lower(error.msg), error.pos) from None
    except _BadNumber as error:
        raise BadJson("number", str(error), 0) from None
    except ValueError:
        raise BadJson("number", str(_TOO_MANY_DIGITS), 0) from None
    except RecursionError:
        raise BadJson("depth", "it is nested too deeply", 0) from None


def fault(text: str) -> BadJson | None:
    """What is wrong with `text`; None if it is JSON."""
    try:
        decode(text)
    except BadJson as error:
        return error
    return None


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]


def _unique(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("equal keys hide how deep the text was")
    return value


_EAGER = json.JSONDecoder(parse_constant=_constant, parse_float=_float, parse_int=_INT, object_pairs_hook=_unique)


def decode_prefix(data: str, at: int) -> tuple[JsonValue, int]:
    """The value at `at` and where it ends; `(None, 0)` for what is not wholly there, is wrong, or is doubtful."""
    try:
        value, end = _EAGER.raw_decode(data, at)
    except (ValueError, RecursionError):
        return None, 0
    return (value, end) if _depth(value) <= limits.MAX_DEPTH else (None, 0)


def _depth(value: JsonValue) -> int:
    depth, level = 0, [value] if isinstance(value, dict | list) else []
    while level:
        depth += 1
        inner = (each.values() if type(each) is dict else each for each in level)
        level = [child for children in inner for child in children if type(child) is dict or type(child) is list]
    return depth


_OUTSIDE_STRINGS = re.compile(r'["{}\[\]<]')

ScanState = Literal["more", "end", "broken"]


class JsonScanner:
    """Finds the end of one JSON object or array, chunk by chunk, in time linear in the text.

    It counts brackets and knows strings; whether the text between is JSON is for `decode` to say. `<` outside a string
    is never JSON: there the scan stops at once, for it may be a tag. With `eager`, the standard decoder has the first
    go: where the first chunk holds all of the value, it finds the end ten times as fast, and leaves it in `value`. Its
    failure costs time linear in everything before, so it must not be tried at more than one broken block of a reply.
    """

    def __init__(self, *, eager: bool = False) -> None:
        self.value: JsonValue = None
        self._eager = eager
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self.deepest = 0

    def scan(self, data: str, at: int) -> tuple[int, ScanState]:
        """Read on from `at`: `end` and the index after the last bracket, `broken` and that of the `<`, or `more`."""
        if self._eager:
            self._eager = False
            self.value, end = decode_prefix(data, at)
            if end:
                return end, "end"
        while at < len(data):
            if self._in_string:
                at = self._string(data, at)
                continue
            found = _OUTSIDE_STRINGS.search(data, at)
            if found is None:
                return len(data), "more"
            at = found.end()
            if found[0] == "<":
                return found.start(), "broken"
            if self._token(found[0]):
                return at, "end"
        return at, "more"

    def _token(self, char: str) -> bool:
        if char == '"':
            self._in_string = True
        elif char in "{[":
            self._depth += 1
            self.deepest = max(self.deepest, self._depth)
        else:
            self._depth -= 1
        return self._depth == 0

    def _string(self, data: str, at: int) -> int:
        if self._escaped:
            self._escaped = False
            at += 1
        while (quote := data.find('"', at)) >= 0:
            if not _odd_backslashes(data, at, quote):
                self._in_string = False
                return quote + 1
            at = quote + 1
        self._escaped = _odd_backslashes(data, at, len(data))
        return len(data)


def _odd_backslashes(data: str, start: int, end: int) -> bool:
    at = end
    while at > start and data[at - 1] == "\\":
        at -= 1
    return (end - at) % 2 == 1
