"""Any value as one line of ASCII JSON that a chat page cannot mistake for a tag, a fence or a line break."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import json
import math
from collections.abc import Mapping
from enum import Enum
from pathlib import PurePath
from typing import Any

from bridge.protocol import limits
from tool_manager.models import JsonValue

_UNSAFE = {ord("<"): "\\u003c", ord("`"): "\\u0060", 0x7F: "\\u007f"}


def one_line(value: object) -> str:
    """`value` as strict JSON in one line of printable ASCII (T27). Never raises.

    What JSON cannot hold becomes the nearest string: `"Infinity"`, an ISO date, text for bytes that are UTF-8 and
    `{"base64": …}` for others, `"(cycle)"`, a repr. `<` and backticks are escaped, so that no result can hold a tag or
    a fence, and no composer takes it for Markdown.
    """
    return json.dumps(plain(value), allow_nan=False).translate(_UNSAFE)


def plain(value: object) -> JsonValue:
    """`value` made of nothing but dict, list, str, int, finite float, bool and None."""
    return _plain(value, ())


def _plain(value: object, above: tuple[int, ...]) -> JsonValue:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _plain(value.value, above)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return _bytes(bytes(value))
    if id(value) in above:
        return "(cycle)"
    if len(above) >= limits.MAX_WIRE_DEPTH:
        return "(too deep)"
    return _container(value, (*above, id(value)))


def _number(value: int | float) -> JsonValue:
    if isinstance(value, int):
        # hex has no limit of digits; decimal has, and raises beyond it
        return int(value) if value.bit_length() < 3 * limits.MAX_INT_DIGITS else hex(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return float(value)


def _bytes(value: bytes) -> JsonValue:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode("ascii")}


def _container(value: object, above: tuple[int, ...]) -> JsonValue:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {each.name: getattr(value, each.name, None) for each in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {_key(key): _plain(each, above) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, above) for each in value]
    if isinstance(value, set | frozenset):
        return sorted((_plain(each, above) for each in value), key=json.dumps)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, PurePath | BaseException):
        return str(value)
    return _repr(value)


def _key(key: object) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    value = plain(key)
    return value if isinstance(value, str) else json.dumps(value)


def _repr(value: Any) -> str:
    try:
        return repr(value)[: limits.MAX_REPR]
    except Exception:  # a foreign __repr__ may raise anything, and a result must still go out
        return f"({type(value).__name__})"
