"""How a conversation tells what it is about to do, without knowing who writes it down."""

from __future__ import annotations

from typing import Any, Protocol


class Recorder(Protocol):
    """Keeps the order of what it is told. A failure to write surfaces at the latest at the next `record`."""

    def note(self, type: str, *, turn: int | None = None, call: str | None = None, **data: Any) -> None:
        """Write `type` down soon: for what has happened already, so nothing waits for it."""

    async def record(self, type: str, *, turn: int | None = None, call: str | None = None, **data: Any) -> None:
        """Return when `type`, and everything noted before it, is durable; raises `JournalError` if it is not."""


class NullRecorder:
    """For a conversation that nobody records."""

    def note(self, type: str, *, turn: int | None = None, call: str | None = None, **data: Any) -> None:
        del type, turn, call, data

    async def record(self, type: str, *, turn: int | None = None, call: str | None = None, **data: Any) -> None:
        del type, turn, call, data
