"""A tool's native output as plain JSON data (T27): always encodable, falsy values kept."""

from __future__ import annotations

import base64
import dataclasses
import enum
import math
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from pathlib import PurePath
from typing import Final

from tool_manager.models import JsonValue

_DEEP: Final = 100  # deeper data is a cycle or an accident; json itself gives up near 1,000


def jsonable(value: object, _depth: int = 0) -> JsonValue:
    """`value` with only dict, list, str, int, float, bool and None in it.

    Not-a-number and infinities become None, bytes become text or base64, unknown objects their `str()`.
    """
    if value is None or isinstance(value, bool):
        return value
    if _depth > _DEEP:
        return "…"
    if isinstance(value, enum.Enum):
        return jsonable(value.value, _depth + 1)
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8") if not _encodable(value) else str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return _container(value, _depth + 1)


def _container(value: object, depth: int) -> JsonValue:
    if isinstance(value, Mapping):
        return {_text(key): jsonable(item, depth) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item, depth) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((jsonable(item, depth) for item in value), key=repr)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name), depth) for field in dataclasses.fields(value)}
    if callable(dump := getattr(value, "model_dump", None)) and not isinstance(value, type):
        return jsonable(dump(), depth)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _bytes(bytes(value))
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return jsonable(str(value), depth) if isinstance(value, PurePath) else _text(value)


def _bytes(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(data).decode("ascii")


def _text(value: object) -> str:
    text = value if isinstance(value, str) else str(value)
    return text if _encodable(text) else text.encode("utf-8", "replace").decode("utf-8")


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
