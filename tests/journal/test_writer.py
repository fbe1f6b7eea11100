"""Whatever is put into the journal, whoever waits is told, and what comes after it is recorded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import bridge.journal.writer
from bridge.errors import JournalError
from bridge.journal import Journal


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    journal = Journal.open(tmp_path / "journal.db")
    yield journal
    async with asyncio.timeout(30):
        await journal.close()


BAD: list[dict[str, Any]] = [{"turn": 2**70}, {"cause": -(2**70)}, {"turn": "three"}]


@pytest.mark.parametrize("bad", BAD)
async def test_a_draft_that_cannot_be_stored_fails_alone(bad: dict[str, Any], journal: Journal) -> None:
    drafts: list[dict[str, Any]] = [{"call": "first"}, bad, {"call": "last"}]
    async with asyncio.timeout(30):
        appends = (journal.append("usage", session="s", **draft) for draft in drafts)
        first, failed, last = await asyncio.gather(*appends, return_exceptions=True)
        after = await journal.append("usage", session="s", call="after")
    assert isinstance(failed, JournalError)
    assert "not done" in str(failed)
    assert await journal.events() == [first, last, after]
    assert [event.seq for event in await journal.events()] == [1, 2, 3]


async def test_memory_that_runs_out_is_a_failed_record(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(value: Any) -> str:
        raise MemoryError

    async with asyncio.timeout(30):
        with monkeypatch.context() as patch:
            patch.setattr(bridge.journal.writer, "dumps", no_memory)
            with pytest.raises(JournalError):
                await journal.append("usage", session="s")
        assert (await journal.append("usage", session="s")).seq == 1


async def test_a_writer_that_fails_inside_says_so_to_everybody(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(batch: object) -> Any:
        raise SystemExit("out of order")

    monkeypatch.setattr(journal._writer, "_commit", broken)
    async with asyncio.timeout(30):
        appends = [journal.append("usage", session="s") for _ in range(3)]
        assert [type(each) for each in await asyncio.gather(*appends, return_exceptions=True)] == [JournalError] * 3
        monkeypatch.undo()
        with pytest.raises(JournalError, match="restart Tabferry"):
            await journal.append("usage", session="s")


async def test_what_an_earlier_process_left_open(journal: Journal, tmp_path: Path) -> None:
    async def add(session: str, *types: str, call: str | None = None) -> None:
        for type in types:
            await journal.append(type, session=session, task="t", call=call)

    await add("open", "session.started", "session.task_started")
    for ending in ("done", "failed", "cancelled"):
        await add(ending, "session.started", "session.task_started", f"session.task_{ending}")
    await add("call", "session.started")
    await add("call", "call.started", "call.done", "call.started", call="c")
    await add("over", "call.started", "call.done", call="c")
    assert await journal.unsettled() == []
    await journal.close()
    journal = Journal.open(tmp_path / "journal.db")
    await journal.append("session.task_started", session="mine", task="t")
    assert await journal.unsettled() == ["open", "call"]
    await journal.close()
