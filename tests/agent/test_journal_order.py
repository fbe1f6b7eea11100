"""Whatever the model says: no effect without its record before it, and no record of an effect that nobody made."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.agent import Answer, GuardLimits, LLMManager
from bridge.errors import TabferryError
from bridge.relay.service import PendingApproval
from tests.agent.scripted import Log, LoggedJournal, ScriptedChat, Step, call, read_as
from tool_manager import ToolCall, ToolResult
from tool_manager.middleware import Next

WRITE = call("write_file", path="b.txt", content="new")
REPLIES: list[Step] = [
    call("read_file", path="a.txt"),
    call("read_file", path="missing.txt"),
    call("list_files", directory="."),
    call("write_file", path="c.txt", content="other"),
    WRITE,
    read_as(WRITE, "tee"),
    read_as(WRITE, "rendered"),
    call("read_file", path="../x"),
    call("nonsense"),
    '<TOOL_CALL>{"tool": "read_file", ',
    read_as("Stopped.", "cdp", ending="stopped"),
    "The answer.",
]
BOUNDS = GuardLimits(iterations=8, identical_calls=4, failures=4)


async def run(folder: Path, script: list[Step], yes: list[bool]) -> Log:
    workspace = folder / "ws"
    workspace.mkdir()
    (workspace / "a.txt").write_text("a", encoding="utf-8")
    log: Log = []
    answers = iter(yes)

    async def approver(question: PendingApproval) -> Answer:
        log.append(("effect", "ask"))
        return Answer(next(answers, False), "terminal")

    async def watch(called: ToolCall, next_: Next) -> ToolResult:
        log.append(("effect", "tool"))
        return await next_(called)

    journal = LoggedJournal.at(folder, log)
    async with LLMManager(
        workspace, chat=ScriptedChat(script, log=log), journal=journal, approver=approver, bounds=BOUNDS
    ) as llm:
        llm.tools.use(watch)
        try:
            await llm.call("Do it")
        except TabferryError:
            pass
    await journal.close()
    return log


BEFORE = {"send": "state:sending", "tool": "call.started", "ask": "call.asking"}


@pytest.mark.requirement("T36")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(REPLIES), max_size=7), st.lists(st.booleans(), max_size=7))
def test_every_effect_is_durable_before_it_happens(script: list[Step], yes: list[bool]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = asyncio.run(run(Path(folder), script, yes))
    announced = dict.fromkeys(BEFORE, 0)
    for kind, name in log:
        if kind == "effect":
            announced[name] -= 1
            assert announced[name] == 0, f"{name} happened unannounced, or twice: {log}"
        else:
            for effect, record in BEFORE.items():
                announced[effect] += name == record
    assert list(announced.values()) == [0, 0, 0]
    ends = [name for kind, name in log if name.startswith("session.task_") and name != "session.task_started"]
    assert len(ends) == 1
    assert log[-1] == ("durable", ends[0])
