"""What a JSON value means in a dialect, and what looks like the beginning of one that is meant as a call."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bridge.protocol.jsonform.jsonwalk import SCALAR, STRING
from tool_manager.models import JsonValue, ToolCall


@dataclass(frozen=True, slots=True)
class Reading:
    """What a JSON value holds: its calls, and in half a sentence why others that were meant are none of them.

    `is_fatal` says that this voids the whole reply (A20).
    """

    calls: Sequence[ToolCall] = ()
    problem: str = ""
    is_fatal: bool = False


ARGUMENTS: Final = frozenset({"arguments", "args", "parameters", "params", "input"})
"""Keys that hold the arguments of a call in one dialect or another: beside a name they must not be lost."""

_DEPTH: Final = 3  # of values before the key: each level doubles the expression


def _plain(depth: int) -> str:
    """An expression for a value of JSON that is nested at most `depth` levels deep."""
    if not depth:
        return rf"(?:{STRING}|{SCALAR})"
    value = rf"\s*+{_plain(depth - 1)}\s*+"
    items = rf"\[(?:{value}(?:,(?!\s*+\])|(?=\])))*+\s*+\]"
    members = rf"\{{(?:\s*+{STRING}\s*+:{value}(?:,(?!\s*+\}})|(?=\}})))*+\s*+\}}"
    return rf"(?:{STRING}|{SCALAR}|{items}|{members})"


Read = Callable[[JsonValue], Reading]


def sign(*keys: str) -> re.Pattern[str]:
    """What the beginning of a call looks like: an object, or a list of them, with one of `keys` (expressions that go on
    after the opening quote) first, or after a few members whose values are not nested deeply."""
    members = rf"(?:\s*+{STRING}\s*+:\s*+{_plain(_DEPTH)}\s*+,){{0,8}}?"
    return re.compile(rf'\s*+(?:\[\s*+)?\{{{members}\s*+"(?:{"|".join(keys)})', re.ASCII)
