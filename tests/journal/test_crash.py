"""What is left after a crash, a full disk, a failing disk: what was acknowledged, whole, and nothing half."""

from __future__ import annotations

import asyncio
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bridge.errors import JournalError
from bridge.journal import Journal, JournalReader

CHILD = """
import asyncio, sys
from pathlib import Path
from bridge.journal import Journal

async def main():
    journal = Journal.open(Path(sys.argv[1]))
    async def write(worker):
        while True:
            event = await journal.append("usage", session=f"s{worker}", data={"text": "x" * 300})
            sys.stdout.write(f"{event.seq}\\n")
            sys.stdout.flush()
    await asyncio.gather(*(write(worker) for worker in range(4)))

asyncio.run(main())
"""


@pytest.mark.parametrize("acknowledged", [1, 40, 400])
def test_a_killed_writer_loses_nothing_that_it_acknowledged(acknowledged: int, tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE, encoding="ascii")
    assert child.stdout is not None
    told = [int(child.stdout.readline()) for _ in range(acknowledged)]
    child.send_signal(signal.SIGKILL)
    told += [int(line) for line in child.stdout.read().split("\n")[:-1]]
    child.wait()
    child.stdout.close()
    with JournalReader(path) as reader:
        seqs = [event.seq for event in reader.events(limit=10**6)]
    assert set(told) <= set(seqs)
    assert seqs == list(range(1, len(seqs) + 1))

    async def go_on() -> int:
        journal = Journal.open(path)
        event = await journal.append("usage", session="s")
        await journal.close()
        return event.seq

    assert asyncio.run(go_on()) == len(seqs) + 1


@pytest.fixture
async def crashed(tmp_path: Path) -> tuple[Path, int]:
    """A copy of a journal as a crash leaves it: the write-ahead log not folded in. And how many events it has."""
    source = tmp_path / "source" / "journal.db"
    journal = Journal.open(source)
    for number in range(12):
        await journal.append("usage", session="s", data={"n": number, "text": "x" * (number * 700)})
    copy = tmp_path / "crashed"
    copy.mkdir(mode=0o700)
    for name in ("journal.db", "journal.db-wal"):
        shutil.copy(source.parent / name, copy / name)
    await journal.close()
    return copy, 12


def survivors(directory: Path) -> list[int]:
    with JournalReader(directory / "journal.db") as reader:
        events = reader.events()
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert all(event.data == {"n": event.seq - 1, "text": "x" * ((event.seq - 1) * 700)} for event in events)
    return [event.seq for event in events]


async def test_a_log_torn_at_any_byte_keeps_the_rest(crashed: tuple[Path, int], tmp_path: Path) -> None:
    """CX149: what is left is a beginning of what was recorded, and the journal goes on from there."""
    source, count = crashed
    size = (source / "journal.db-wal").stat().st_size
    frame = 24 + 4096
    places = {
        size,
        size - 1,
        *range(size // 2, size, 997),
        *(32 + frame * n + d for n in range(6, 20) for d in (-1, 0, 1)),
    }
    lengths = []
    for place in sorted(place for place in places if place <= size):
        torn = tmp_path / f"torn-{place}"
        shutil.copytree(source, torn)
        with (torn / "journal.db-wal").open("r+b") as log:
            log.truncate(place)
        try:
            left = len(survivors(torn))
        except JournalError as error:
            # Torn before the schema was durable: nothing had been acknowledged yet.
            assert "not a Tabferry journal" in str(error)
            left = -1
        lengths.append(left)
        if left >= 0:
            journal = Journal.open(torn / "journal.db")
            assert (await journal.append("usage", session="s")).seq == left + 1
            await journal.close()
    assert lengths == sorted(lengths)
    assert lengths[-1] == count
    assert len(set(lengths)) > 3


async def test_a_log_damaged_at_any_byte_keeps_what_is_before(crashed: tuple[Path, int], tmp_path: Path) -> None:
    source, count = crashed
    size = (source / "journal.db-wal").stat().st_size
    for place in range(size // 2, size, 4001):
        damaged = tmp_path / f"damaged-{place}"
        shutil.copytree(source, damaged)
        with (damaged / "journal.db-wal").open("r+b") as log:
            log.seek(place)
            byte = log.read(1)
            log.seek(place)
            log.write(bytes([byte[0] ^ 0xFF]))
        assert len(survivors(damaged)) < count


async def test_a_full_disk_refuses_and_recovers(tmp_path: Path) -> None:
    """CX152: no room is an error before the effect, not a hang; with room again it goes on."""
    journal = Journal.open(tmp_path / "journal.db")
    await journal.append("usage", session="s")
    (pages,) = journal._database.execute("PRAGMA page_count").fetchone()
    journal._database.execute(f"PRAGMA max_page_count = {pages}")
    async with asyncio.timeout(30):
        with pytest.raises(JournalError, match="was not done: database or disk is full"):
            await journal.append("usage", session="s", data={"text": "x" * 100_000})
    journal._database.execute("PRAGMA max_page_count = 1000000")
    assert (await journal.append("usage", session="s")).seq == 2
    assert [event.seq for event in await journal.events()] == [1, 2]
    await journal.close()


class FailingSync:
    """A connection whose COMMIT fails as an unreadable disk makes it fail."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self.fails = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    def execute(self, sql: str, *values: Any) -> Any:
        if sql == "COMMIT" and self.fails:
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
            raise error
        return self._database.execute(sql, *values)


async def test_a_failed_sync_is_failed_for_good(tmp_path: Path) -> None:
    """CX153: after EIO a later sync proves nothing, so nothing is acknowledged until a restart."""
    path = tmp_path / "journal.db"
    journal = Journal.open(path)
    await journal.append("usage", session="s")
    failing = FailingSync(journal._database)
    journal._writer._database = failing  # type: ignore[assignment]
    results = await asyncio.gather(*(journal.append("usage", session="s") for _ in range(5)), return_exceptions=True)
    assert [type(result) for result in results] == [JournalError] * 5
    failing.fails = False
    with pytest.raises(JournalError, match="restart Tabferry"):
        await journal.append("usage", session="s")
    assert [event.seq for event in await journal.events()] == [1]
    await journal.close()
    journal = Journal.open(path)
    assert (await journal.append("usage", session="s")).seq == 2
    await journal.close()


LIMITED = """
import asyncio, resource, sys
from pathlib import Path
from bridge.errors import JournalError
from bridge.journal import Journal

async def main():
    journal = Journal.open(Path(sys.argv[1]))
    await journal.append("usage", session="s", data={"n": 0})
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
    done = 0
    try:
        for number in range(1, 1000):
            await journal.append("usage", session="s", data={"n": number, "text": "x" * 5000})
            done = number
    except JournalError as error:
        sys.stdout.write(f"{done} {error}")

asyncio.run(main())
"""


def test_a_real_write_error_is_one_sentence(tmp_path: Path) -> None:
    """The kernel refuses to let the file grow: what was acknowledged stays, the next is refused."""
    path = tmp_path / "journal.db"
    child = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], capture_output=True, encoding="ascii", timeout=60, check=True
    )
    done, _, sentence = child.stdout.partition(" ")
    assert sentence.startswith("Could not record what was about to happen, so it was not done")
    with JournalReader(path) as reader:
        assert [event.data["n"] for event in reader.events()] == list(range(int(done) + 1))
