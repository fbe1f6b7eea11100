from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from bridge.agent import Bridge, Choices
from bridge.errors import ChatError, NeedsUser, UsageError
from bridge.journal import Event
from bridge.relay.service import Ephemeral, Service, TaskRequest
from tests.agent.scripted import LoggedJournal, ScriptedChat, call, data

READ = call("read_file", path="package.json")
WRITE = call("write_file", path="new.txt", content="hello")

Start = Callable[..., Bridge]


@pytest.fixture
async def start(journal: LoggedJournal) -> AsyncIterator[Start]:
    """`start(chat, …)`: a bridge on these chats, one after the other."""
    bridges: list[Bridge] = []

    def make(*chats: ScriptedChat, **options: Any) -> Bridge:
        left = list(chats)

        async def factory(choices: Choices) -> ScriptedChat:
            return left.pop(0)

        bridges.append(Bridge(journal, chat_factory=factory, **options))
        return bridges[-1]

    yield make
    for bridge in bridges:
        await bridge.close()


@pytest.fixture
def other(tmp_path: Path) -> Path:
    root = tmp_path / "other"
    root.mkdir()
    return root


async def ended(journal: LoggedJournal, task: str) -> Event:
    async with asyncio.timeout(30):
        async for event in journal.subscribe(after=0):
            if event.task == task and event.type in (
                "session.task_done",
                "session.task_failed",
                "session.task_cancelled",
            ):
                return event
    raise AssertionError("the journal was closed")


async def asking(bridge: Bridge, workspace: Path) -> Any:
    async with asyncio.timeout(30):
        async for event in bridge.journal.subscribe(after=0):
            if event.type == "call.asking":
                return bridge.pending_approvals(workspace)[0]
    raise AssertionError("the journal was closed")


async def test_it_is_a_service(start: Start) -> None:
    service: Service = start()
    assert service.journal is not None


async def test_a_task_runs_in_the_background(start: Start, journal: LoggedJournal, workspace: Path) -> None:
    bridge = start(ScriptedChat([READ, "It is 1.0.0."]))
    pieces: list[Ephemeral] = []
    remove = bridge.on_ephemeral(pieces.append)
    started = await bridge.start_task(workspace, TaskRequest("Which version?"))
    event = await ended(journal, started.task)
    assert (event.session, event.data["answer"]) == (started.session, "It is 1.0.0.")
    assert {(piece.workspace, piece.turn) for piece in pieces} == {(workspace, 1), (workspace, 2)}
    assert journal.workspace_of(started.session) == str(workspace)
    remove()
    remove()


async def test_tasks_of_two_workspaces_queue_for_the_one_chat(
    start: Start, journal: LoggedJournal, workspace: Path, other: Path
) -> None:
    chat = ScriptedChat([READ, "One.", "Two."])
    bridge = start(chat)
    first = await bridge.start_task(workspace, TaskRequest("first"))
    second = await bridge.start_task(other, TaskRequest("second"))
    assert (await ended(journal, first.task)).data["answer"] == "One."
    assert (await ended(journal, second.task)).data["answer"] == "Two."
    assert (chat.opened, len(chat.typed)) == (2, 3)
    assert chat.typed[2].endswith("TASK: second")
    assert first.session != second.session


async def test_a_chat_goes_on_only_while_the_page_shows_it(
    start: Start, journal: LoggedJournal, workspace: Path, other: Path
) -> None:
    chat = ScriptedChat()
    bridge = start(chat)
    sessions = []
    for root, task, new in ((workspace, "one", True), (workspace, "two", False), (other, "x", True)):
        started = await bridge.start_task(root, TaskRequest(task, new_chat=new))
        await ended(journal, started.task)
        sessions.append(started.session)
    assert chat.typed[1] == "two"
    assert sessions[0] == sessions[1]
    again = await bridge.start_task(workspace, TaskRequest("three", new_chat=False))
    await ended(journal, again.task)
    assert again.session == sessions[0]
    assert chat.typed[3].endswith("TASK: three")  # the page showed another chat: a new one, with the system prompt


async def test_another_site_is_another_page(start: Start, journal: LoggedJournal, workspace: Path) -> None:
    first, second = ScriptedChat(), ScriptedChat()
    bridge = start(first, second)
    for url in (None, "http://127.0.0.1:9/"):
        started = await bridge.start_task(workspace, TaskRequest("go", url=url))
        await ended(journal, started.task)
    assert (first.closed, len(second.typed)) == (1, 1)


async def test_a_page_that_died_is_opened_anew(start: Start, journal: LoggedJournal, workspace: Path) -> None:
    class Dead(ScriptedChat):
        async def open(self, *, new_chat: bool = True) -> Any:
            if self.opened:
                raise ChatError("The page is gone.")
            return await super().open(new_chat=new_chat)

    dead, alive = Dead([ChatError("The page crashed.")]), ScriptedChat()
    bridge = start(dead, alive)
    failed = await bridge.start_task(workspace, TaskRequest("one"))
    assert (await ended(journal, failed.task)).data["error"] == "The page crashed."
    fine = await bridge.start_task(workspace, TaskRequest("two"))
    assert (await ended(journal, fine.task)).data["answer"] == "Done."
    assert (dead.closed, len(alive.typed)) == (1, 1)


@pytest.mark.requirement("T43")
async def test_approvals_wait_for_a_controller_of_their_workspace(
    start: Start, journal: LoggedJournal, workspace: Path, other: Path
) -> None:
    bridge = start(ScriptedChat([WRITE, "Done."]))
    started = await bridge.start_task(workspace, TaskRequest("write"))
    question = await asking(bridge, workspace)
    answer = bridge.answer_approval
    assert bridge.pending_approvals(other) == []
    assert await answer(other, question.id, question.digest, "approve", None, "x") == "unknown"
    assert await answer(workspace, "a_0", question.digest, "approve", None, "x") == "unknown"
    assert await answer(workspace, question.id, "wrong", "approve", None, "x") == "digest_mismatch"
    assert not (workspace / "new.txt").exists()
    assert await answer(workspace, question.id, question.digest, "approve", None, "vscode") == "accepted"
    await ended(journal, started.task)
    assert await answer(workspace, question.id, question.digest, "deny", None, "x") == "already_answered"
    assert (workspace / "new.txt").read_text(encoding="utf-8") == "hello"
    assert [granted["by"] for granted in await data(journal, "call.granted")] == ["vscode"]


async def test_nobody_to_ask_is_a_denial(start: Start, journal: LoggedJournal, workspace: Path) -> None:
    bridge = start(ScriptedChat([WRITE, "I see."]), interactive=False)
    started = await bridge.start_task(workspace, TaskRequest("write"))
    await ended(journal, started.task)
    assert not (workspace / "new.txt").exists()
    assert len(await data(journal, "call.denied")) == 1


async def test_cancel_works_while_running_and_while_queued(
    start: Start, journal: LoggedJournal, workspace: Path, other: Path
) -> None:
    chat = ScriptedChat(hold="reply")
    bridge = start(chat)
    running = await bridge.start_task(workspace, TaskRequest("one"))
    queued = await bridge.start_task(workspace, TaskRequest("two", new_chat=False))
    await chat.reached.wait()
    assert not await bridge.cancel_task(other, running.task)
    assert not await bridge.cancel_task(workspace, "t_unknown")
    assert await bridge.cancel_task(workspace, queued.task)
    assert await bridge.cancel_task(workspace, running.task)
    assert not await bridge.cancel_task(workspace, running.task)
    for task in (running.task, queued.task):
        assert (await ended(journal, task)).type == "session.task_cancelled"
    assert (len(chat.typed), chat.stopped) == (1, 1)


async def test_close_cancels_what_runs(journal: LoggedJournal, workspace: Path) -> None:
    chat = ScriptedChat(hold="reply")

    async def factory(choices: Choices) -> ScriptedChat:
        return chat

    bridge = Bridge(journal, chat_factory=factory)
    await bridge.start()
    started = await bridge.start_task(workspace, TaskRequest("one"))
    await chat.reached.wait()
    await bridge.close()
    assert (await ended(journal, started.task)).type == "session.task_cancelled"
    assert chat.closed == 1


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        (TaskRequest(" "), "empty"),
        (TaskRequest("go", site="nowhere"), "nowhere"),
        (TaskRequest("go", url="file:///etc/passwd"), "http"),
        (TaskRequest("go", dialect="nonsense"), "nonsense"),
        (TaskRequest("go", dialect="assistant_api"), "never runs tools"),
        (TaskRequest("go", dialect="forge", provider="openai"), "leave out provider and xml"),
        (TaskRequest("go", site="gradio"), "--url"),
    ],
)
async def test_a_bad_request_is_refused_before_anything_starts(
    start: Start, journal: LoggedJournal, workspace: Path, request_: TaskRequest, sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        await start().start_task(workspace, request_)
    assert await journal.events() == []


async def test_a_chat_cannot_go_on_under_other_choices(start: Start, journal: LoggedJournal, workspace: Path) -> None:
    bridge = start(ScriptedChat())
    started = await bridge.start_task(workspace, TaskRequest("one"))
    await ended(journal, started.task)
    with pytest.raises(UsageError, match="new chat"):
        await bridge.start_task(workspace, TaskRequest("two", approve="auto", new_chat=False))


@pytest.mark.requirement("A8")
@pytest.mark.parametrize(
    ("team_xml", "request_", "dialect"),
    [
        (None, TaskRequest("go", provider="openai"), "openai_json"),
        (None, TaskRequest("go", xml=True), "autobyteus_xml"),
        (True, TaskRequest("go", provider="openai"), "autobyteus_xml"),
        (False, TaskRequest("go", provider="openai", xml=True), "openai_json"),
        (False, TaskRequest("go", xml=True), "cogency"),
        (True, TaskRequest("go", dialect="forge"), "forge"),
    ],
)
async def test_a_request_chooses_its_dialect_but_the_team_decides_on_xml(
    journal: LoggedJournal, workspace: Path, team_xml: bool | None, request_: TaskRequest, dialect: str
) -> None:
    async def factory(choices: Choices) -> ScriptedChat:
        return ScriptedChat([NeedsUser("login", "Log in first.")])

    bridge = Bridge(journal, chat_factory=factory, defaults=Choices(dialect="cogency", team_xml=team_xml))
    started = await bridge.start_task(workspace, request_)
    await ended(journal, started.task)
    await bridge.close()
    assert [each["dialect"] for each in await data(journal, "session.started")] == [dialect]


async def test_workspaces_tools_and_sites(start: Start, workspace: Path, tmp_path: Path) -> None:
    bridge = start()
    (tmp_path / "link").symlink_to(workspace)
    assert await bridge.open_workspace(tmp_path / "link") == workspace
    with pytest.raises(UsageError):
        await bridge.open_workspace(tmp_path / "missing")
    assert "read_file" in [spec.name for spec in bridge.tools(workspace)]
    assert {"name", "title", "url"} == set(bridge.sites()[0])
