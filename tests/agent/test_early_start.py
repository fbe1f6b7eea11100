"""A read may run while the page still settles; nothing else may (design, section 5)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bridge.agent import LLMManager
from bridge.conversation import SentMessage
from bridge.errors import NeedsUser, TaskCancelled
from tests.agent.scripted import LoggedJournal, ScriptedChat, Step, call, read_as, types

READ = call("read_file", path="package.json")
WRITE = call("write_file", path="new.txt", content="hello")


async def until_done(journal: LoggedJournal) -> None:
    async with asyncio.timeout(30):
        async for event in journal.subscribe(after=0):
            if event.type == "call.done":
                return


@pytest.mark.parametrize(
    ("step", "ran"),
    [(READ, True), (read_as(READ, "tee"), False), (WRITE, False)],
    ids=["a read from the tap", "a read from the tee alone", "a write"],
)
async def test_what_runs_before_the_page_has_settled(
    workspace: Path, journal: LoggedJournal, step: Step, ran: bool
) -> None:
    chat = ScriptedChat([step], hold="settle")
    async with LLMManager(workspace, chat=chat, journal=journal, approve="auto") as llm:
        task = asyncio.create_task(llm.call("Do it"))
        await chat.reached.wait()
        if ran:
            await until_done(journal)
        else:
            assert "call.done" not in await types(journal)
        assert not (workspace / "new.txt").exists()
        await llm.cancel()
        with pytest.raises(TaskCancelled):
            await task
    assert not (workspace / "new.txt").exists()


async def test_a_write_is_refused_when_the_user_acted_in_the_page(workspace: Path, journal: LoggedJournal) -> None:
    class Disturbed(ScriptedChat):
        async def settle(self, sent: SentMessage) -> None:
            raise NeedsUser("user_acted", "Another message was sent in this chat.")

    async with LLMManager(workspace, chat=Disturbed([WRITE]), journal=journal, approve="auto") as llm:
        with pytest.raises(NeedsUser, match="Another message"):
            await llm.call("Do it")
    assert not (workspace / "new.txt").exists()
    assert [kind for kind in await types(journal) if kind.startswith("call.")] == ["call.parsed", "call.denied"]
