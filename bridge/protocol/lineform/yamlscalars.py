"""What a plain scalar of YAML says, in the core schema of YAML 1.2: `yes`, `1_000`, `12:30` and dates are strings."""

from __future__ import annotations

import math
import re
from typing import Final, NoReturn

from bridge.protocol import limits
from bridge.protocol.lineform.faults import Fault
from tool_manager.models import JsonValue

_NULL = re.compile(r"null|Null|NULL|~|")
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]++|0o[0-7]++|0x[0-9a-fA-F]++")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]++|[0-9]++(?:\.[0-9]*+)?)(?:[eE][-+]?[0-9]++)?")
_MAX_BITS: Final = int(limits.MAX_INT_DIGITS * math.log2(10))
_NO_NUMBER = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def plain(text: str) -> JsonValue:
    """The value of the plain scalar `text`. Raises `Fault` for a number that cannot be kept."""
    if _NULL.fullmatch(text):
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _INT.fullmatch(text):
        return _integer(text)
    if _FLOAT.fullmatch(text) and not math.isinf(number := float(text)):
        return number
    if _FLOAT.fullmatch(text) or _NO_NUMBER.fullmatch(text):
        raise Fault("number", "a number is not finite", 0)
    return text


def _integer(text: str) -> int:
    if len(text) > limits.MAX_INT_DIGITS:
        _too_long()
    value = int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    return value if value.bit_length() <= _MAX_BITS else _too_long()


def _too_long() -> NoReturn:
    raise Fault("number", f"an integer has more than {limits.MAX_INT_DIGITS} digits", 0)
