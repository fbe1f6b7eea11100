"""Committed events, each once, in order, however slowly they are read."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

from bridge.journal.event import Event
from bridge.journal.limits import PAGE, SUBSCRIPTION_QUEUE


class Source(Protocol):
    """What a subscription needs of a journal."""

    @property
    def head(self) -> int:
        """The newest `seq` that was offered to subscribers."""

    async def events(
        self, session: str | None = None, *, after: int = 0, limit: int = PAGE, workspace: str | None = None
    ) -> list[Event]: ...

    def workspace_of(self, session: str) -> str | None: ...

    def unsubscribe(self, subscription: Subscription) -> None: ...


class Subscription:
    """An async iterator of events above `after`. A reader that falls more than a bounded queue behind reads the rest
    from the database. Ends when it or the journal is closed."""

    def __init__(self, source: Source, *, session: str | None, workspace: str | None, after: int) -> None:
        self._source = source
        self._session = session
        self._workspace = workspace
        self._cursor = after
        self._behind = after < source.head
        self._queue: deque[Event] = deque()
        self._wake = asyncio.Event()
        self._closed = False

    def offer(self, event: Event) -> None:
        """Called by the journal, in order, for each committed event."""
        if self._behind or self._closed or not self._wants(event):
            return
        if len(self._queue) >= SUBSCRIPTION_QUEUE:
            self._behind = True
        else:
            self._queue.append(event)
        self._wake.set()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._queue.clear()
            self._wake.set()
            self._source.unsubscribe(self)

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> Event:
        while not self._closed:
            while self._queue:
                event = self._queue.popleft()
                if event.seq > self._cursor:
                    self._cursor = event.seq
                    return event
            if self._behind:
                await self._catch_up()
            else:
                self._wake.clear()
                await self._wake.wait()
        raise StopAsyncIteration

    async def _catch_up(self) -> None:
        """Read one page; live again once nothing was offered while the last, short page was being read."""
        head = self._source.head
        page = await self._source.events(self._session, after=self._cursor, limit=PAGE, workspace=self._workspace)
        self._queue.extend(page)
        if len(page) < PAGE and self._source.head == head:
            self._behind = False

    def _wants(self, event: Event) -> bool:
        if self._session is not None and event.session != self._session:
            return False
        return self._workspace is None or self._source.workspace_of(event.session) == self._workspace
