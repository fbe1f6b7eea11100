"""The journal's file: schema, version, and the two ways of opening it."""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
from pathlib import Path

from bridge.errors import JournalError
from bridge.journal.limits import LOCK_TIMEOUT_S

SCHEMA_VERSION = 1
APPLICATION_ID = 0x7AB_FE44
"""Marks the file as ours, so that no other program's database is written to."""

_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE events (
    seq INTEGER PRIMARY KEY, v INTEGER NOT NULL, time REAL NOT NULL, session TEXT NOT NULL, type TEXT NOT NULL,
    task TEXT, turn INTEGER, call TEXT, cause INTEGER, data TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_session ON events (session, type, seq);
CREATE INDEX sessions_started ON events (json_extract(data, '$.workspace'), session) WHERE type = 'session.started';
CREATE TRIGGER events_keep BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER events_stay BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER meta_keep BEFORE UPDATE ON meta BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER meta_stay BEFORE DELETE ON meta BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
"""


def open_writer(path: Path) -> sqlite3.Connection:
    """The writing connection: created 0600, WAL, every commit synced. May be handed to another thread.

    Raises `JournalError` when the file is not ours, newer, damaged or cannot be written.
    """
    try:
        _create_private(path)
        database = _connect(path, "rw")
        try:
            _prepare(database, path)
        except BaseException:
            database.close()
            raise
    except (sqlite3.Error, OSError) as error:
        raise JournalError(f"Cannot open the journal {path}: {error}.") from error
    return database


def open_reader(path: Path) -> sqlite3.Connection:
    """A connection that can only read, in any process, while a bridge may be writing. Raises `JournalError`."""
    if not path.is_file():
        raise JournalError(f"There is no journal at {path} yet: nothing has been recorded.")
    try:
        database = _connect(path, "ro")
        try:
            database.execute("PRAGMA query_only = ON")
            _check_version(database, path)
        except BaseException:
            database.close()
            raise
    except sqlite3.Error as error:
        raise JournalError(f"Cannot read the journal {path}: {error}.") from error
    return database


def journal_id(database: sqlite3.Connection) -> str:
    (value,) = database.execute("SELECT value FROM meta WHERE key = 'journal_id'").fetchone()
    return str(value)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(
        uri, uri=True, timeout=LOCK_TIMEOUT_S, isolation_level=None, check_same_thread=False, cached_statements=64
    )


def _create_private(path: Path) -> None:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
    handle = os.open(path, flags, 0o600)
    try:
        info = os.fstat(handle)
    finally:
        os.close(handle)
    if not stat.S_ISREG(info.st_mode) or info.st_uid != os.geteuid() or stat.S_IMODE(info.st_mode) & 0o077:
        raise JournalError(f"The journal {path} is not a private file of yours; run: chmod 600 {path}")


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    if database.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
        database.execute("PRAGMA journal_mode = WAL").fetchone()
        database.executescript(_SCHEMA)
        database.execute("INSERT INTO meta VALUES ('journal_id', ?)", (secrets.token_hex(16),))
        database.execute("COMMIT")
    _check_version(database, path)
    database.execute("PRAGMA journal_mode = WAL").fetchone()
    database.execute("PRAGMA synchronous = FULL")


def _check_version(database: sqlite3.Connection, path: Path) -> None:
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise JournalError(f"{path} is not a Tabferry journal; move it away or choose another state directory.")
    if version > SCHEMA_VERSION:
        raise JournalError(f"The journal {path} was written by a newer Tabferry (schema {version}); update Tabferry.")
