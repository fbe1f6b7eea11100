"""The one thread that writes: everything queued goes into one transaction, and is acknowledged after COMMIT."""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bridge.errors import JournalError
from bridge.journal.encoding import dumps
from bridge.journal.event import EVENT_VERSION, Event
from bridge.journal.limits import MAX_BATCH

_INSERT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Draft:
    """An event before it has a number: plain JSON data only."""

    session: str
    type: str
    task: str | None
    turn: int | None
    call: str | None
    cause: int | None
    data: dict[str, Any]
    token: object
    """Whoever waits for it; handed back with the outcome."""


Outcome = Event | JournalError
Deliver = Callable[[Sequence[tuple[Draft, Outcome]]], None]


class Writer:
    """Writes to `database` in a thread of its own; there, `deliver` is called with each batch's outcomes, in order."""

    def __init__(self, database: sqlite3.Connection, journal_id: str, head: int, deliver: Deliver) -> None:
        self._database = database
        self._journal_id = journal_id
        self._head = head
        self._deliver = deliver
        self._queue: queue.SimpleQueue[Draft | None] = queue.SimpleQueue()
        self._broken: str | None = None
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def put(self, draft: Draft) -> None:
        self._queue.put(draft)

    def stop(self) -> None:
        """Write what is queued, and wait for it. Blocks; nothing may be put afterwards."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        running = True
        while running:
            batch, running = self._take()
            if batch:
                self._deliver(self._outcomes(batch))

    def _take(self) -> tuple[list[Draft], bool]:
        """Everything queued (waiting for the first), and whether to go on."""
        batch: list[Draft] = []
        item = self._queue.get()
        while item is not None:
            batch.append(item)
            if len(batch) == MAX_BATCH:
                return batch, True
            try:
                item = self._queue.get_nowait()
            except queue.Empty:
                return batch, True
        return batch, False

    def _outcomes(self, batch: list[Draft]) -> list[tuple[Draft, Outcome]]:
        """Whatever happens, everybody who waits is told: a writer that died silently would hold them for ever."""
        try:
            return self._commit(batch)
        except BaseException as error:
            kind = type(error).__name__
            self._broken = f"The journal failed inside ({kind}: {error}), so nothing was done; restart Tabferry."
            return [(draft, JournalError(self._broken)) for draft in batch]

    def _commit(self, batch: list[Draft]) -> list[tuple[Draft, Outcome]]:
        if self._broken:
            return [(draft, JournalError(self._broken)) for draft in batch]
        now = time.time()
        events = [self._number(draft, self._head + place, now) for place, draft in enumerate(batch, 1)]
        try:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.executemany(_INSERT, [_row(event) for event in events])
            self._database.execute("COMMIT")
        except Exception as error:
            failure = self._rolled_back(error)
            # What is wrong with one draft is no fault of its neighbours: each is tried alone.
            if len(batch) > 1 and not isinstance(error, sqlite3.OperationalError):
                return [outcome for draft in batch for outcome in self._commit([draft])]
            return [(draft, JournalError(failure)) for draft in batch]
        self._head = events[-1].seq
        return list(zip(batch, events, strict=True))

    def _rolled_back(self, error: Exception) -> str:
        """Undo what was begun; why it was not recorded, as a sentence."""
        if self._database.in_transaction:
            try:
                self._database.execute("ROLLBACK")
            except sqlite3.Error:
                self._broken = "The journal could not be rolled back; restart Tabferry."
        sentence = f"Could not record what was about to happen, so it was not done: {error}."
        # After a failed sync the kernel may forget the dirty pages, and a later sync would succeed without them.
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_IOERR:
            self._broken = f"{sentence} Check the disk, then restart Tabferry."
        return self._broken or sentence

    def _number(self, draft: Draft, seq: int, now: float) -> Event:
        return Event(
            self._journal_id,
            seq,
            now,
            draft.session,
            draft.type,
            draft.task,
            draft.turn,
            draft.call,
            draft.cause,
            draft.data,
            EVENT_VERSION,
        )


def _row(event: Event) -> tuple[Any, ...]:
    return (
        event.seq,
        event.v,
        event.time,
        event.session,
        event.type,
        event.task,
        event.turn,
        event.call,
        event.cause,
        dumps(event.data),
    )
