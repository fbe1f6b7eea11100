"""A user who presses cancel twice, and a call that is over."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bridge.agent import CallMachine, CallRunner, JournalEffects, JournalRecorder, deny_unattended
from tests.agent.scripted import LoggedJournal, data, types
from tool_manager import Effect, ToolCall, ToolManager, ToolResult
from tool_manager.middleware import Next

WRITE = ToolCall("c", "write_file", {"path": "new.txt", "content": "hello"})


async def nothing() -> None:
    pass


@pytest.mark.parametrize("cancels", [1, 2, 3])
async def test_however_often_a_write_is_cancelled_its_record_is_true(
    cancels: int, journal: LoggedJournal, workspace: Path
) -> None:
    pen = JournalRecorder(journal, "s")
    effects = JournalEffects(pen)
    writing, go_on = asyncio.Event(), asyncio.Event()

    async def hold(called: ToolCall, next_: Next) -> ToolResult:
        writing.set()
        await go_on.wait()
        return await next_(called)

    async with ToolManager(workspace, approve="auto", effects=effects) as tools:
        tools.use(hold)
        runner = CallRunner(tools, pen, effects, deny_unattended)
        running = asyncio.create_task(runner.run([WRITE], 1, "full", nothing))
        await writing.wait()
        for _ in range(cancels):
            running.cancel()
            for _ in range(20):  # turns of the loop: enough for a cancel to end what it can end
                await asyncio.sleep(0)
        assert not running.done()
        go_on.set()
        async with asyncio.timeout(30):
            with pytest.raises(asyncio.CancelledError):
                await running
    await pen.flush()
    assert (workspace / "new.txt").read_text(encoding="utf-8") == "hello"
    [done] = await data(journal, "call.done")
    assert (done["success"], done.get("interrupted")) == (True, None)


async def test_a_write_that_fails_under_a_cancel_is_still_a_cancel(journal: LoggedJournal, workspace: Path) -> None:
    pen = JournalRecorder(journal, "s")
    effects = JournalEffects(pen)
    writing, go_on = asyncio.Event(), asyncio.Event()

    class Failing(ToolManager):
        async def commit(self, *args: object, **kwargs: object) -> ToolResult:
            writing.set()
            await go_on.wait()
            raise RuntimeError("inside")

    async with Failing(workspace, approve="auto", effects=effects) as tools:
        running = asyncio.create_task(CallRunner(tools, pen, effects, deny_unattended).run([WRITE], 1, "full", nothing))
        await writing.wait()
        running.cancel()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await running
    await pen.flush()
    assert [each["interrupted"] for each in await data(journal, "call.done")] == [True]


async def test_a_call_that_is_over_takes_no_second_outcome(journal: LoggedJournal) -> None:
    pen = JournalRecorder(journal, "s")
    effects = JournalEffects(pen)
    effect = Effect(WRITE, "write", {"new.txt": None}, {"new.txt": "1"}, "d")
    effects.expect(WRITE.id, CallMachine())
    effects.forget(WRITE.id)
    await effects.done(effect, ToolResult.ok("late"))
    await pen.flush()
    assert await types(journal) == []
