"""The journal as its users see it: durable before it returns, in order, once, append-only."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import bridge.journal
from bridge.errors import JournalError, UsageError
from bridge.journal import Archive, Event, Journal, JournalReader
from bridge.journal.database import SCHEMA_VERSION, open_writer
from bridge.journal.limits import PAGE, SUBSCRIPTION_QUEUE


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "journal.db"


@pytest.fixture
async def journal(path: Path) -> AsyncIterator[Journal]:
    journal = Journal.open(path)
    yield journal
    await journal.close()


def test_public_names() -> None:
    assert set(bridge.journal.__all__) == {
        "EVENT_VERSION",
        "Archive",
        "Event",
        "Journal",
        "JournalReader",
        "SessionRow",
        "Subscription",
        "paths",
    }
    assert all(hasattr(bridge.journal, name) for name in bridge.journal.__all__)


@pytest.mark.requirement("T36")
async def test_an_appended_event_is_what_everybody_reads(journal: Journal, path: Path) -> None:
    first = await journal.append("session.started", session="s", data={"workspace": "/w"})
    event = await journal.append(
        "call.parsed", session="s", task="t", turn=2, call="c", cause=first.seq, data={"args": {"path": "ä"}}
    )
    assert (first.seq, event.seq, event.journal_id, event.v) == (1, 2, journal.id, 1)
    assert await journal.events() == [first, event]
    with JournalReader(path) as reader:  # another connection: it is on disk, not in our memory
        assert reader.events("s", after=1) == [event]


async def test_events_of_a_session_or_a_workspace(journal: Journal) -> None:
    for session, workspace in (("a", "/w"), ("b", "/w"), ("c", "/x")):
        await journal.append("session.started", session=session, data={"workspace": workspace})
    await journal.append("usage", session="a")
    assert [event.seq for event in await journal.events("a")] == [1, 4]
    assert [event.seq for event in await journal.events(workspace="/w")] == [1, 2, 4]
    assert [event.seq for event in await journal.events(workspace="/w", after=1, limit=1)] == [2]
    assert journal.workspace_of("c") == "/x"
    assert journal.workspace_of("d") is None


async def test_sessions_are_derived_from_events(journal: Journal) -> None:
    await journal.append("session.started", session="a", data={"workspace": "/w", "site": "demo", "title": "One"})
    await journal.append("session.started", session="b", data={"workspace": "/w"})
    await journal.append("prompt.sent", session="a")
    await journal.append("call.done", session="a")
    last = await journal.append("state", session="a", data={"state": "done"})
    newest, oldest = await journal.sessions("/w")
    assert (newest.session, newest.state, newest.events) == ("b", "idle", 1)
    assert (oldest.title, oldest.state, oldest.events, oldest.calls, oldest.prompts) == ("One", "done", 4, 1, 1)
    assert oldest.last == last.time
    assert await journal.sessions("/elsewhere") == []
    assert [row.session for row in await journal.sessions(session="a")] == ["a"]


@pytest.mark.parametrize("ending", ["done", "failed", "cancelled"])
async def test_a_session_ends_as_its_last_task_did(ending: str, journal: Journal) -> None:
    await journal.append("session.started", session="a")
    await journal.append("state", session="a", data={"state": "settled"})
    await journal.append(f"session.task_{ending}", session="a")
    await journal.append("usage", session="a")
    assert [row.state for row in await journal.sessions()] == [ending]
    await journal.append("state", session="a", data={"state": "sending"})
    assert [row.state for row in await journal.sessions()] == ["sending"]


async def test_a_session_is_found_by_its_beginning(journal: Journal, path: Path) -> None:
    for name in ("s_ab", "s_ac", "s_a%"):
        await journal.append("session.started", session=name)
    with JournalReader(path) as reader:
        assert reader.find("s_ab").session == "s_ab"
        assert reader.find("s_a%").session == "s_a%"
        for text, sentence in (("s_a", "Several"), ("x", "no session"), ("", "no session"), ("%", "no session")):
            with pytest.raises(UsageError, match=sentence):
                reader.find(text)


async def test_the_record_cannot_be_changed(journal: Journal, path: Path) -> None:
    await journal.append("usage", session="s")
    database = open_writer(path)
    for statement in ("UPDATE events SET type = 'x'", "DELETE FROM events", "UPDATE meta SET value = 'x'"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            database.execute(statement)
    database.close()


async def test_readers_cannot_write(journal: Journal, path: Path) -> None:
    with JournalReader(path) as reader, pytest.raises(JournalError, match="readonly"):
        reader._query("INSERT INTO meta VALUES ('a', 'b')")


async def test_appends_that_wait_together_are_committed_together(path: Path) -> None:
    journal = Journal.open(path)
    commits: list[str] = []
    journal._database.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)
    events = await asyncio.gather(*(journal.append("usage", session="s", data={"n": n}) for n in range(500)))
    assert [event.data["n"] for event in sorted(events, key=lambda event: event.seq)] == list(range(500))
    assert len(commits) < 50
    await journal.close()


async def test_files_are_private(journal: Journal, path: Path) -> None:
    await journal.append("usage", session="s")
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert {"journal.db", "journal.db-wal", "journal.lock"} <= set(modes)
    assert set(modes.values()) == {0o600}


async def test_reopening_goes_on_where_it_ended(path: Path) -> None:
    first = Journal.open(path)
    await first.append("usage", session="s")
    await first.close()
    await first.close()
    second = Journal.open(path)
    assert (second.id, second.head) == (first.id, 1)
    assert (await second.append("usage", session="s")).seq == 2
    await second.close()
    with pytest.raises(JournalError, match="closed"):
        await second.append("usage", session="s")
    with pytest.raises(JournalError, match="closed"):
        await second.events()
    with pytest.raises(JournalError, match="closed"):
        second.subscribe()


async def test_closing_writes_what_is_queued(path: Path) -> None:
    journal = Journal.open(path)
    waiting = [asyncio.ensure_future(journal.append("usage", session="s")) for _ in range(20)]
    await asyncio.sleep(0)
    await journal.close()
    assert sorted([(await each).seq for each in waiting]) == list(range(1, 21))


async def test_a_second_writer_is_refused(journal: Journal, path: Path) -> None:
    """CX154; another process is named by its number (tests/cli/test_ask.py)."""
    with pytest.raises(JournalError, match="This process has opened the journal"):
        Journal.open(path)
    await journal.append("usage", session="s")


async def test_an_archive_reads_beside_the_writer(journal: Journal, path: Path) -> None:
    event = await journal.append("session.started", session="s", data={"workspace": "/w"})
    archive = Archive.open(path)
    assert (archive.id, archive.head, archive.workspace_of("s")) == (journal.id, 1, "/w")
    assert await anext(archive.subscribe(after=0)) == event
    await archive.close()


@pytest.mark.parametrize("after", [None, 0, 3])
async def test_subscribers_get_each_event_once_in_order(after: int | None, journal: Journal) -> None:
    for _ in range(5):
        await journal.append("usage", session="s")
    subscription = journal.subscribe(after=after)
    more = 3 * SUBSCRIPTION_QUEUE
    await asyncio.gather(*(journal.append("usage", session="s") for _ in range(more)))
    start = 5 if after is None else after
    async with asyncio.timeout(30):
        seen = [(await anext(subscription)).seq for _ in range(5 + more - start)]
    assert seen == list(range(start + 1, more + 6))
    subscription.close()


async def test_a_subscriber_catches_up_while_events_keep_coming(journal: Journal) -> None:
    total = 3 * PAGE
    subscription = journal.subscribe()
    writing = [asyncio.ensure_future(journal.append("usage", session="s")) for _ in range(SUBSCRIPTION_QUEUE * 2)]
    await asyncio.gather(*writing)

    async def write() -> None:
        for _ in range(total - len(writing)):
            await journal.append("usage", session="s")

    slow = asyncio.ensure_future(write())
    seen = []
    async with asyncio.timeout(60):
        async for event in subscription:
            seen.append(event.seq)
            if len(seen) == total:
                break
    await slow
    assert seen == list(range(1, total + 1))


async def test_subscriptions_can_be_narrowed(journal: Journal) -> None:
    one, place = journal.subscribe("b"), journal.subscribe(workspace="/w")
    for session, workspace in (("a", "/w"), ("b", "/x"), ("c", "/w")):
        await journal.append("session.started", session=session, data={"workspace": workspace})
    assert (await anext(one)).session == "b"
    assert [(await anext(place)).session for _ in range(2)] == ["a", "c"]


async def test_closing_ends_subscriptions(path: Path) -> None:
    journal = Journal.open(path)
    subscription, other = journal.subscribe(), journal.subscribe()
    reading = asyncio.ensure_future(collect(subscription))
    await journal.append("usage", session="s")
    other.close()
    other.close()
    await journal.close()
    async with asyncio.timeout(30):
        assert [event.seq for event in await reading] == [1]


async def collect(subscription: bridge.journal.Subscription) -> list[Event]:
    return [event async for event in subscription]


async def test_a_cancelled_append_is_written_all_the_same(journal: Journal) -> None:
    gone = asyncio.ensure_future(journal.append("usage", session="s", data={"n": 1}))
    await asyncio.sleep(0)
    gone.cancel()
    assert (await journal.append("usage", session="s")).seq == 2
    assert [event.data for event in await journal.events()] == [{"n": 1}, {}]


async def test_the_event_loop_never_waits_for_the_disk(journal: Journal) -> None:
    """Design, decision 8: the write happens in another thread."""
    threads: set[int] = set()
    journal._database.set_trace_callback(lambda sql: threads.add(threading.get_ident()))
    await journal.append("usage", session="s")
    assert threads
    assert threading.get_ident() not in threads


def test_a_newer_schema_is_refused(path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    database = open_writer(path)
    database.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    database.close()
    for opener in (Journal.open, JournalReader):
        with pytest.raises(JournalError, match="newer Tabferry"):
            opener(path)


@pytest.mark.parametrize("content", [b"not a database" * 100, b"\0" * 8192])
def test_a_file_that_is_no_journal_is_refused(content: bytes, path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    path.touch(mode=0o600)
    path.write_bytes(content)
    with pytest.raises(JournalError, match="journal"):
        Journal.open(path)
    assert path.read_bytes() == content


def test_another_programs_database_is_left_alone(path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    path.touch(mode=0o600)
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE theirs (a)")
    database.close()
    before = path.read_bytes()
    with pytest.raises(JournalError, match="not a Tabferry journal"):
        Journal.open(path)
    assert path.read_bytes() == before


def test_a_missing_journal_is_one_sentence(path: Path) -> None:
    with pytest.raises(JournalError, match="no journal at"):
        JournalReader(path)


def test_a_journal_open_to_others_is_refused(path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    path.touch(mode=0o644)
    with pytest.raises(JournalError, match="chmod 600"):
        Journal.open(path)
