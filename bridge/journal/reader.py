"""Questions to the journal: plain blocking functions over one read-only connection."""

from __future__ import annotations

import json
import sqlite3
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from bridge.errors import JournalError, UsageError
from bridge.journal.database import journal_id, open_reader
from bridge.journal.encoding import safe_text
from bridge.journal.event import EVENT_VERSION, Event
from bridge.journal.limits import PAGE

_EVENT = "seq, v, time, session, type, task, turn, call, cause, data"

_SESSIONS = """
SELECT s.session, json_extract(s.data, '$.workspace'), json_extract(s.data, '$.site'), json_extract(s.data, '$.title'),
       s.time, (SELECT e.time FROM events e WHERE e.seq = (SELECT max(seq) FROM events WHERE session = s.session)),
       coalesce((SELECT CASE e.type WHEN 'state' THEN json_extract(e.data, '$.state') ELSE substr(e.type, 14) END
         FROM events e WHERE e.session = s.session
         AND e.type IN ('state', 'session.task_done', 'session.task_failed', 'session.task_cancelled')
         ORDER BY e.seq DESC LIMIT 1), 'idle'),
       (SELECT count(*) FROM events e WHERE e.session = s.session),
       (SELECT count(*) FROM events e WHERE e.session = s.session AND e.type = 'call.done'),
       (SELECT count(*) FROM events e WHERE e.session = s.session AND e.type = 'prompt.sent')
  FROM events s
 WHERE s.type = 'session.started' AND (?1 IS NULL OR json_extract(s.data, '$.workspace') = ?1)
   AND s.seq = (SELECT min(seq) FROM events WHERE session = s.session AND type = 'session.started')
   AND (?3 IS NULL OR s.session = ?3)
 ORDER BY s.seq DESC LIMIT ?2
"""

_UNSETTLED = """
WITH begun AS (SELECT seq FROM events INDEXED BY events_by_session
                WHERE type IN ('session.task_started', 'call.started') AND +seq <= ?1)
SELECT s.session FROM begun CROSS JOIN events s ON s.seq = begun.seq
 WHERE CASE s.type
       WHEN 'call.started' THEN NOT EXISTS (SELECT 1 FROM events e WHERE e.session = s.session
            AND e.type = 'call.done' AND e.call = s.call AND e.seq > s.seq)
       ELSE NOT EXISTS (SELECT 1 FROM events e WHERE e.session = s.session AND e.task = s.task
            AND e.type IN ('session.task_done', 'session.task_failed', 'session.task_cancelled')) END
 GROUP BY s.session ORDER BY min(s.seq)
"""
"""`+seq` and the named index keep it to the index, which is small: the table holds all that was ever said."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session as its events tell it. `started` and `last` are seconds since the epoch; `state` as in `state` events
    (`idle` before the first), or how the last task ended: `done`, `failed`, `cancelled`. `events`, `calls` (done) and
    `prompts` (sent) are counts."""

    session: str
    workspace: str | None
    site: str | None
    title: str | None
    started: float
    last: float
    state: str
    events: int
    calls: int
    prompts: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class JournalReader:
    """The journal at `path`, read-only, from any thread or process.

    Raises `JournalError` when there is none or it cannot be read. Use as a context manager, or `close()`.
    """

    def __init__(self, path: Path) -> None:
        self._database = open_reader(path)
        self._lock = threading.Lock()
        self.path = path
        self.id = journal_id(self._database)

    def __enter__(self) -> JournalReader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            self._database.close()

    def head(self) -> int:
        """The newest `seq`, 0 when nothing is recorded."""
        return int(self._query("SELECT coalesce(max(seq), 0) FROM events")[0][0])

    def events(
        self, session: str | None = None, *, after: int = 0, limit: int = PAGE, workspace: str | None = None
    ) -> list[Event]:
        """Up to `limit` events with `seq` above `after`, oldest first, of one session or one workspace or all."""
        where, values = ["seq > ?"], [after]  # type: tuple[list[str], list[Any]]
        if session is not None:
            where.append("session = ?")
            values.append(session)
        if workspace is not None:
            where.append(
                "session IN (SELECT session FROM events WHERE type = 'session.started'"
                " AND json_extract(data, '$.workspace') = ?)"
            )
            values.append(workspace)
        sql = f"SELECT {_EVENT} FROM events WHERE {' AND '.join(where)} ORDER BY seq LIMIT ?"
        return [self._event(row) for row in self._query(sql, *values, limit)]

    def sessions(
        self, workspace: str | None = None, *, session: str | None = None, limit: int = PAGE
    ) -> list[SessionRow]:
        """Sessions, newest first, of one workspace (real path as recorded) or all; or the one named `session`."""
        rows = self._query(_SESSIONS, workspace, limit, session)
        return [SessionRow(*row) for row in rows]

    def find(self, prefix: str) -> SessionRow:
        """The session whose id is or begins with `prefix`; raises `UsageError` for none or several."""
        rows = self._query(
            "SELECT DISTINCT session FROM events WHERE type = 'session.started' AND (session = ?1"
            " OR substr(session, 1, length(?1)) = ?1) ORDER BY session <> ?1 LIMIT 2",
            safe_text(prefix),
        )
        if not rows or not prefix:
            raise UsageError(f"There is no session {prefix!r}; list them with: tabferry sessions list")
        if len(rows) > 1 and rows[0][0] != prefix:
            raise UsageError(f"Several sessions begin with {prefix!r}; give more of the id.")
        (row,) = self.sessions(session=str(rows[0][0]))
        return row

    def unsettled(self, up_to: int) -> list[str]:
        """Sessions, oldest first, with a task or a started call of `seq` up to `up_to` that has no end."""
        return [str(session) for (session,) in self._query(_UNSETTLED, up_to)]

    def workspaces(self) -> dict[str, str]:
        """Session id → workspace, for every session."""
        rows = self._query(
            "SELECT session, json_extract(data, '$.workspace') FROM events WHERE type = 'session.started'"
            " AND json_extract(data, '$.workspace') IS NOT NULL ORDER BY seq DESC"
        )
        return {session: str(workspace) for session, workspace in rows}

    def _query(self, sql: str, *values: Any) -> list[Any]:
        try:
            with self._lock:
                return self._database.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise JournalError(f"Cannot read the journal {self.path}: {error}.") from error

    def _event(self, row: tuple[Any, ...]) -> Event:
        seq, v, time, session, kind, task, turn, call, cause, data = row
        if v > EVENT_VERSION:
            raise JournalError(f"Event {seq} of {self.path} was written by a newer Tabferry (v{v}); update Tabferry.")
        return Event(self.id, seq, time, session, kind, task, turn, call, cause, json.loads(data), v)
