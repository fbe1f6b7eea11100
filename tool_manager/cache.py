"""Results of cacheable tools (T45): reused until anything is changed through the same manager."""

from __future__ import annotations

from collections import OrderedDict
from copy import deepcopy

from tool_manager.limits import CACHED_RESULTS
from tool_manager.models import ToolCall, ToolResult, call_id


class ResultCache:
    """Bounded, least recently used out first. A tool's author says `cacheable`; no built-in reader of files does,
    because a file may change on disk without our knowing."""

    def __init__(self, size: int = CACHED_RESULTS) -> None:
        self._size = size
        self._kept: OrderedDict[str, ToolResult] = OrderedDict()
        self.generation = 0

    def get(self, call: ToolCall) -> ToolResult | None:
        key = call_id(call.name, call.args)
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return deepcopy(self._kept[key])

    def put(self, call: ToolCall, result: ToolResult, generation: int) -> None:
        """Keep a success, unless something was changed since `generation`, when the tool began."""
        if result.success and generation == self.generation:
            self._kept[call_id(call.name, call.args)] = deepcopy(result)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)

    def clear(self) -> None:
        self._kept.clear()
        self.generation += 1
