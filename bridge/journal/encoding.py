"""Any Python value as data that every JSON reader accepts: the record must not fail because of what is recorded."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

from bridge.journal.limits import MAX_DEPTH, SAFE_INTEGER


def safe_text(text: str) -> str:
    r"""`text` without lone surrogates: each becomes its escape, `\ud800` (T17, T27)."""
    if text.isascii():
        return str(text)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def safe_data(value: Any, depth: int = 0) -> Any:
    """`value` as plain JSON data (T27).

    Not a number and infinities become text, bytes are decoded, unknown objects become their `str()`, keys become text,
    and what is nested deeper than `MAX_DEPTH` (a cycle is, too) becomes a remark.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, int):
        return int(value) if -SAFE_INTEGER <= value <= SAFE_INTEGER else hex(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if depth >= MAX_DEPTH:
        return f"(nested deeper than {MAX_DEPTH} levels)"
    return _safe_container(value, depth + 1)


def _safe_container(value: Any, depth: int) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {_key(key): safe_data(item, depth) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [safe_data(item, depth) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((safe_data(item, depth) for item in value), key=dumps)
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "backslashreplace")
    return safe_text(str(value))


def _key(key: Any) -> str:
    plain = safe_data(key)
    return plain if isinstance(plain, str) else dumps(plain)


def dumps(value: Any) -> str:
    """Safe data as one line of ASCII JSON, so that no reader's character set matters."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
