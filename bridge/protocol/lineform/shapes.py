"""What a dialect of lines tells the engine: how its calls begin, and how one is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol, TypeAlias

from bridge.protocol import limits
from bridge.protocol.lineform.faults import Fault
from bridge.protocol.lineform.fences import Fence
from bridge.protocol.remarks import Remark
from tool_manager.models import ToolCall

LEAD = rf"[\ufeff\u200b\u2060]{{0,4}}( {{0,{limits.MAX_LINE_INDENT}}})"
"""What may stand on a line before a call: marks that pages leave, and the indentation."""

Verdict: TypeAlias = "ToolCall | Fault | None"
"""What a block came to; None is text after all."""


class Block(Protocol):
    """One block that has begun."""

    def feed(self, data: str, at: int, *, ended: bool) -> tuple[int, bool]:
        """Read on from `at`: where it stopped, and whether the block is over. If it is not, the rest of `data` must
        come again with more text; it is of bounded length, and empty if the reply has `ended`."""

    def verdict(self, text: str, *, ended: bool) -> Verdict:
        """What the block `text` is; `ended` says that the reply ended before the block did."""


class Shape(Protocol):
    """How a dialect of lines writes its calls."""

    mark: str
    """A character that the head of every call has, and prose has not often."""
    head: re.Pattern[str]
    """Matches a line break and what begins every call after it; what it matches besides costs time only."""
    again: re.Pattern[str]
    """Finds the beginnings of further calls."""

    def may_begin(self, line: str) -> bool:
        """Whether more text may make of `line`, which has not ended, the beginning of a call."""

    def begin(self, line: str, fence: Fence | None, *, thinking: bool) -> tuple[Block, int] | None:
        """The block that `line` begins, and how many characters of it are its head."""

    def remarks(self, text: str) -> Sequence[Remark]:
        """What looks like a call in `text`, where there is none."""
