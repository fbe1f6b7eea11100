"""Ids of calls that stay unique when a model repeats itself (A35)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from tool_manager.models import ToolCall


class CallIds:
    """Counts per base id over one session: `call_…_0`, `call_…_1`, in order of appearance."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def unique(self, call: ToolCall) -> ToolCall:
        count = self._seen[call.id]
        self._seen[call.id] += 1
        return replace(call, id=f"{call.id}_{count}")
