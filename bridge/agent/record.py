"""A session's own pen on the journal."""

from __future__ import annotations

import asyncio
from typing import Any

from bridge.journal import Event, Journal


class JournalRecorder:
    """Implements `bridge.conversation.Recorder` for one session, in the order of the calls.

    `task` names the running task in each event. `cause` is the newest event of this session that was durable by then.
    """

    def __init__(self, journal: Journal, session: str) -> None:
        self._journal = journal
        self._pending: list[asyncio.Task[Event]] = []
        self._last: int | None = None
        self.session = session
        self.task: str | None = None

    def note(self, type: str, *, turn: int | None = None, call: str | None = None, **data: Any) -> None:
        self._pending.append(self._append(type, turn, call, data))

    async def record(self, type: str, *, turn: int | None = None, call: str | None = None, **data: Any) -> None:
        self.note(type, turn=turn, call=call, **data)
        await self.flush()

    async def flush(self) -> None:
        """Return when everything noted is durable; raises `JournalError` for the first that is not."""
        pending, self._pending = self._pending, []
        if pending:
            # Shielded: a cancelled task's records are still to be written.
            await asyncio.shield(asyncio.gather(*pending))

    def _append(self, type: str, turn: int | None, call: str | None, data: dict[str, Any]) -> asyncio.Task[Event]:
        append = self._journal.append(
            type, session=self.session, task=self.task, turn=turn, call=call, cause=self._last, data=data
        )
        task = asyncio.create_task(append)
        task.add_done_callback(self._remember)
        return task

    def _remember(self, task: asyncio.Task[Event]) -> None:
        if not task.cancelled() and task.exception() is None:
            self._last = task.result().seq
