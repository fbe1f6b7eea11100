"""The journal: what happened, written down before it takes effect."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self, TypeVar

from bridge.errors import JournalError
from bridge.journal.database import journal_id, open_writer
from bridge.journal.encoding import safe_data, safe_text
from bridge.journal.event import Event
from bridge.journal.limits import PAGE
from bridge.journal.lock import WriterLock
from bridge.journal.paths import private_dir
from bridge.journal.reader import JournalReader, SessionRow
from bridge.journal.subscription import Subscription
from bridge.journal.writer import Draft, Outcome, Writer

T = TypeVar("T")


class Archive:
    """The reading side, off the event loop: a recorded journal that nobody writes to here. Bound to one event loop."""

    def __init__(self, path: Path) -> None:
        self._reader = JournalReader(path)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="journal-reader")
        self._subscriptions: list[Subscription] = []
        self._workspaces = self._reader.workspaces()
        self._head = self._reader.head()
        self._closed = False
        self.path = path
        self.id = self._reader.id

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the journal at `path`. Raises `JournalError`, or `UsageError` for a directory that is not private."""
        return cls(path)

    @property
    def head(self) -> int:
        """The newest `seq` that subscribers were told of; 0 at first."""
        return self._head

    def workspace_of(self, session: str) -> str | None:
        """The workspace that a session was started for, None for an unknown session."""
        return self._workspaces.get(session)

    async def events(
        self, session: str | None = None, *, after: int = 0, limit: int = PAGE, workspace: str | None = None
    ) -> list[Event]:
        """Up to `limit` events with `seq` above `after`, oldest first; of one session, one workspace, or all."""
        return await self._read(lambda: self._reader.events(session, after=after, limit=limit, workspace=workspace))

    async def sessions(
        self, workspace: str | None = None, *, session: str | None = None, limit: int = PAGE
    ) -> list[SessionRow]:
        """Sessions, newest first, of one workspace or all; or the one named `session`."""
        return await self._read(lambda: self._reader.sessions(workspace, session=session, limit=limit))

    def subscribe(
        self, session: str | None = None, *, workspace: str | None = None, after: int | None = None
    ) -> Subscription:
        """Events above `after` (default: from now on), then live ones: each once, in order. `close()` it."""
        if self._closed:
            raise JournalError("The journal is closed.")
        start = self._head if after is None else after
        subscription = Subscription(self, session=session, workspace=workspace, after=start)
        self._subscriptions.append(subscription)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        with contextlib.suppress(ValueError):
            self._subscriptions.remove(subscription)

    async def close(self) -> None:
        """End every subscription and let go of the file. May be called twice."""
        if self._closed:
            return
        self._closed = True
        for subscription in [*self._subscriptions]:
            subscription.close()
        await asyncio.to_thread(self._pool.shutdown)
        self._reader.close()

    async def _read(self, question: Callable[[], T]) -> T:
        if self._closed:
            raise JournalError("The journal is closed.")
        return await asyncio.get_running_loop().run_in_executor(self._pool, question)


class Journal(Archive):
    """The one writer of a journal. Only one process may hold it; others read (`JournalReader`, `Archive`)."""

    def __init__(self, path: Path) -> None:
        private_dir(path.parent)
        self._lock = WriterLock(path.with_suffix(".lock"))
        try:
            database = open_writer(path)
            try:
                super().__init__(path)
            except BaseException:
                database.close()
                raise
        except BaseException:
            self._lock.release()
            raise
        self._database = database
        self._inherited = self._head
        self._closing = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._writer = Writer(database, journal_id(database), self._head, self._deliver)

    async def append(
        self,
        type: str,
        *,
        session: str,
        task: str | None = None,
        turn: int | None = None,
        call: str | None = None,
        cause: int | None = None,
        data: dict[str, Any] | None = None,
    ) -> Event:
        """Record one event and return it once it is durable. `data` may hold anything; it is stored as plain JSON.

        A caller that is cancelled stops waiting; the record is written all the same.
        Raises `JournalError` when it could not be recorded: then nothing of it may be done (CX152, CX153).
        """
        if self._closing:
            raise JournalError("The journal is closed.")
        loop = self._loop = asyncio.get_running_loop()
        waiter: asyncio.Future[Event] = loop.create_future()
        draft = Draft(
            safe_text(session), safe_text(type), _text(task), turn, _text(call), cause, safe_data(data or {}), waiter
        )
        self._writer.put(draft)
        return await waiter

    async def unsettled(self) -> list[str]:
        """Sessions that an earlier process left with a task or a started call that has no end, oldest first."""
        return await self._read(lambda: self._reader.unsettled(self._inherited))

    async def close(self) -> None:
        if self._closing:
            return
        self._closing = True
        await asyncio.to_thread(self._writer.stop)
        # One turn of the loop, so that appends that were just committed are told so.
        await asyncio.sleep(0)
        await super().close()
        # Last, because only the last connection to go folds the write-ahead log into the database.
        await asyncio.to_thread(self._database.close)
        self._lock.release()

    def _deliver(self, outcomes: Sequence[tuple[Draft, Outcome]]) -> None:
        """In the writer's thread: hand a batch over to the event loop."""
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # the loop is gone, and with it everybody who waited
            self._loop.call_soon_threadsafe(self._publish, outcomes)

    def _publish(self, outcomes: Sequence[tuple[Draft, Outcome]]) -> None:
        for draft, outcome in outcomes:
            if isinstance(outcome, Event):
                self._head = outcome.seq
                self._note_workspace(outcome)
                for subscription in [*self._subscriptions]:
                    subscription.offer(outcome)
            _settle(draft.token, outcome)

    def _note_workspace(self, event: Event) -> None:
        workspace = event.data.get("workspace") if event.type == "session.started" else None
        if isinstance(workspace, str):
            self._workspaces.setdefault(event.session, workspace)


def _settle(waiter: object, outcome: Outcome) -> None:
    assert isinstance(waiter, asyncio.Future)
    if waiter.done():
        return
    if isinstance(outcome, Event):
        waiter.set_result(outcome)
    else:
        waiter.set_exception(outcome)


def _text(value: str | None) -> str | None:
    return None if value is None else safe_text(value)
