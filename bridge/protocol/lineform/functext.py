"""Arguments written as in Python, `name=literal, …`: where such a list ends, and what it says. Nothing is evaluated."""

from __future__ import annotations

import math
import re
from typing import Literal, NoReturn

from bridge.protocol import limits
from bridge.protocol.jsontext import decode_prefix
from bridge.protocol.lineform.faults import Fault
from bridge.protocol.surrogates import joined
from tool_manager.models import JsonObject, JsonValue

ScanState = Literal["more", "end", "broken"]

_BODIES = {
    '"': r'[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+',
    "'": r"[^'\\\n]*+(?:\\[^\n][^'\\\n]*+)*+",
    '"""': r'[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+',
    "'''": r"[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+",
}
"""Matches, for each quoting, what stands between the quotes."""

_LITERAL = "|".join(f"{quote}(?!{quote}){_BODIES[quote]}{quote}|{quote * 2}(?=[^{quote}])" for quote in "\"'")
_FLAT = rf"""[^"'#()\[\]{{}}]++|{_LITERAL}"""
_SKIPPED = re.compile(rf"(?:{_FLAT}|\[(?:{_FLAT})*+\]|\{{(?:{_FLAT})*+\}})*+")
"""Matches what changes no depth: strings that are wholly there, other text, brackets around such."""

_OUTSIDE = re.compile(r"[\"'#()\[\]{}]")
_IN_STRING = {
    '"': re.compile(r'\\[^\n]|"|\n'),
    "'": re.compile(r"\\[^\n]|'|\n"),
    '"""': re.compile(r'\\.|"""', re.DOTALL),
    "'''": re.compile(r"\\.|'''", re.DOTALL),
}
_ESCAPED = {quote: re.compile(rf"[^{quote[0]}\\\n]*+(?:\\[^\n][^{quote[0]}\\\n]*+)*+") for quote in _IN_STRING}
"""Matches what ends no string: other text, and escapes."""


class CallScanner:
    """Finds the bracket that closes an open one, chunk by chunk, in time linear in the text; it knows strings and
    comments. Whether the text between means anything is for `read_arguments` to say."""

    def __init__(self) -> None:
        self._depth = 1
        self._quote = ""
        self._in_comment = False

    def scan(self, data: str, at: int, *, ended: bool) -> tuple[int, ScanState]:
        """Read on from `at`: `end` and the index after the last bracket, `broken` and that of the line break in a
        string, or `more` and where to go on with more text."""
        while at < len(data):
            start = at
            if self._in_comment:
                at = data.find("\n", at) + 1 or len(data)
                self._in_comment = data[at - 1] != "\n"
            elif self._quote:
                at = self._string(data, at, ended)
                if at < 0:
                    return -at - 1, "broken"
            else:
                at = self._token(data, at, ended)
                if not self._depth:
                    return at, "end"
            if at == start:
                break
        return at, "more"

    def _token(self, data: str, at: int, ended: bool) -> int:
        skipped = _SKIPPED.match(data, at)
        at = skipped.end() if skipped else at
        found = _OUTSIDE.search(data, at)
        if found is None:
            return len(data)
        at, char = found.start(), found[0]
        if char in "\"'":
            mark = data[at : at + 3]
            if len(mark) < 3 and not ended and not mark.strip(char):
                return at  # of one quote or two, only more text tells whether they become three
            return self._enter(char * 3 if mark == char * 3 else char, at)
        self._in_comment = char == "#"
        self._depth += (char in "([{") - (char in ")]}")
        return at + 1

    def _enter(self, quote: str, at: int) -> int:
        self._quote = quote
        return at + len(quote)

    def _string(self, data: str, at: int, ended: bool) -> int:
        """Where to go on; below zero (by one more than its index) for a line break that may not be there."""
        skipped = _ESCAPED[self._quote].match(data, at)
        at = skipped.end() if skipped else at
        for found in _IN_STRING[self._quote].finditer(data, at):
            if found[0] == "\n":
                return -found.start() - 1
            if found[0] == self._quote:
                self._quote = ""
                return found.end()
            at = found.end()
        if ended:
            return len(data)
        # what may be the first half of an escape or of the closing quotes comes again with more text
        tail = data[max(at, len(data) - 2) :]
        keep = len(tail) - len(tail.rstrip(self._quote[0])) if len(self._quote) == 3 else 0
        backslash = tail.find("\\")
        return len(data) - (len(tail) - backslash if backslash >= 0 else keep)


_SPACE = re.compile(r"(?:[ \t\r\n\f]|#[^\n]*+)*+")
_NAME = re.compile(r"[^\W\d]\w*+")
_NUMBER = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]++|(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?)(?![\w.])")
_STRING = re.compile(
    "([A-Za-z]{0,2})(?:" + "|".join(f"{quote}({_BODIES[quote]}){quote}" for quote in ('"""', "'''", '"', "'")) + ")",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:(\r?\n)|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_CONSTANTS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}


def read_arguments(text: str) -> JsonObject:
    """The arguments in `text`, from after the opening bracket to the closing one. Raises `Fault`, and nothing else.

    Values are literals: strings in any of Python's quotings, numbers, `True` or `true`, `None` or `null`, lists, and
    dicts with strings as keys. A dict after `**` gives arguments whose names cannot be written as names.
    """
    try:
        return _Reader(text).arguments()
    except RecursionError:
        raise Fault("depth", "it is nested too deeply", 0) from None


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def arguments(self) -> JsonObject:
        args: JsonObject = {}
        while not self._takes(")"):
            start = self._at
            given = self._spread() if self._takes("**") else self._argument()
            if repeated := args.keys() & given.keys():
                self._fail(f"the argument {min(repeated)[: limits.EXCERPT]!a} stands there twice", at=start)
            args |= given
            self._separate(")")
        return args

    def _spread(self) -> JsonObject:
        self._skip()
        value = self._value(1)
        return value if isinstance(value, dict) else self._fail("a dict must follow **")

    def _argument(self) -> JsonObject:
        self._skip()
        found = _NAME.match(self._text, self._at)
        start = self._at
        if found is not None:
            self._at = found.end()
        if found is None or not self._takes("="):
            self._fail("every argument must be written name=value", at=start)
        return {found[0]: self._value(1)}

    def _value(self, depth: int) -> JsonValue:
        self._skip()
        if depth == 1 and self._text[self._at : self._at + 1] in ('"', "[", "{"):
            value, end = self._json()
            if end:
                self._at = end
                return value
        if depth > limits.MAX_DEPTH:
            self._fail(f"it is nested more than {limits.MAX_DEPTH} levels deep", "depth")
        if self._takes("["):
            return self._list(depth)
        if self._takes("{"):
            return self._dict(depth)
        if found := _STRING.match(self._text, self._at):
            return self._string(found)
        if found := _NUMBER.match(self._text, self._at):
            return self._number(found)
        found = _NAME.match(self._text, self._at)
        if found is None or found[0] not in _CONSTANTS:
            self._fail("a value must be a string, a number, True, False, None, a list or a dict")
        self._at = found.end()
        return _CONSTANTS[found[0]]

    def _json(self) -> tuple[JsonValue, int]:
        """A value that is JSON, which means the same in Python unless a slash is escaped, and where it ends; else 0.

        `""` is left to the slow way, for a third quote may follow.
        """
        if self._text.startswith('""', self._at):
            return None, 0
        value, end = decode_prefix(self._text, self._at)
        return (value, end) if self._text.find("\\/", self._at, end) < 0 else (None, 0)

    def _list(self, depth: int) -> JsonValue:
        values = []
        while not self._takes("]"):
            values.append(self._value(depth + 1))
            self._separate("]")
        return values

    def _dict(self, depth: int) -> JsonValue:
        values: JsonObject = {}
        while not self._takes("}"):
            found = _STRING.match(self._text, self._at)
            if found is None:
                self._fail("the keys of a dict must be strings")
            key = self._string(found)
            if key in values:
                self._fail("a key of a dict stands there twice", at=found.start())
            if not self._takes(":"):
                self._fail("a colon must follow the key")
            values[key] = self._value(depth + 1)
            self._separate("}")
        return values

    def _string(self, found: re.Match[str]) -> str:
        prefix, body = found[1].lower(), found[found.lastindex or 0]
        if prefix not in ("", "r", "u"):
            self._fail(f"a string with the prefix {prefix} is no plain text")
        self._at = found.end()
        body = body.replace("\r\n", "\n")
        return body if prefix == "r" or "\\" not in body else joined(_ESCAPE.sub(self._escape, body))

    def _escape(self, found: re.Match[str]) -> str:
        line, *codes, octal, char = found.groups()
        if line:
            return ""
        number = int(octal, 8) if octal else next((int(code, 16) for code in codes if code), None)
        if number is not None:
            return chr(number) if number <= 0x10FFFF else self._fail("a string holds an escape that is no character")
        if char in "xuUN":
            self._fail(f"the escape \\{char} is not complete, or not taken here")
        return _SIMPLE.get(char, f"\\{char}")

    def _number(self, found: re.Match[str]) -> int | float:
        sign, digits = found.groups()
        if digits[:2] in ("0x", "0X"):
            value: int | float = int(digits, 16) if len(digits) < limits.MAX_INT_DIGITS * 0.8 else math.inf
        elif digits.isdigit():
            if len(digits) > 1 and digits[0] == "0":
                self._fail("a number begins with 0: quote it if it is text")
            value = int(digits) if len(digits) <= limits.MAX_INT_DIGITS else math.inf
        else:
            value = float(digits)
        if value == math.inf:
            self._fail("a number is too large", "number")
        self._at = found.end()
        return -value if sign == "-" else value

    def _separate(self, closing: str) -> None:
        if not self._takes(",") and not self._stands(closing):
            self._fail("a comma or the closing bracket must follow a value")

    def _stands(self, mark: str) -> bool:
        self._skip()
        return self._text.startswith(mark, self._at)

    def _takes(self, mark: str) -> bool:
        if not self._stands(mark):
            return False
        self._at += len(mark)
        return True

    def _skip(self) -> None:
        found = _SPACE.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _fail(self, message: str, reason: str = "shape", *, at: int | None = None) -> NoReturn:
        raise Fault(reason, message, self._at if at is None else at)
