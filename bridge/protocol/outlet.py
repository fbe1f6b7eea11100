"""What a stream lets out, and what it holds back."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.protocol.models import CallClosed, StreamEvent, TextDelta
from tool_manager.models import ToolCall


class Outlet:
    """Text for the reader until the first call closes, and the block that is held back until it is known to be one."""

    def __init__(self) -> None:
        self._is_open = True
        self._shown: list[str] = []
        self._held: list[tuple[str, int, int]] = []
        self._events: list[StreamEvent] = []

    @property
    def held(self) -> str:
        return "".join([data[start:end] for data, start, end in self._held])

    def show(self, text: str) -> None:
        if self._is_open:
            self._shown.append(text)

    def hold(self, data: str, start: int, end: int) -> None:
        """Hold `data[start:end]`, uncut: most of what is held is a call, and never read as text."""
        self._held.append((data, start, end))

    def release(self) -> None:
        """What was held is text after all."""
        self.show(self.held)
        self._held = []

    def close_calls(self, calls: Sequence[ToolCall]) -> None:
        """What was held is `calls`; the text of the reply is over."""
        self._flush()
        self._events += map(CallClosed, calls)
        self._is_open, self._held = False, []

    def events(self) -> list[StreamEvent]:
        """Everything since the last time."""
        self._flush()
        events, self._events = self._events, []
        return events

    def _flush(self) -> None:
        if text := "".join(self._shown):
            self._events.append(TextDelta(text))
        self._shown = []
