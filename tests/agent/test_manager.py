from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bridge.agent import Answer, LLMManager
from bridge.errors import ChatError, JournalError, NeedsUser, TaskCancelled, UsageError
from bridge.journal import Event
from bridge.relay.service import Ephemeral, PendingApproval
from tests.agent.scripted import LoggedJournal, ScriptedChat, call, data, types
from tool_manager import ToolCall, ToolResult
from tool_manager.middleware import Next

READ = call("read_file", path="package.json")
WRITE = call("write_file", path="new.txt", content="hello")
ENDS = ("session.task_done", "session.task_failed", "session.task_cancelled")


async def cancelled(llm: LLMManager, reached: asyncio.Event) -> None:
    running = asyncio.create_task(llm.call("Do it"))
    async with asyncio.timeout(30):
        await reached.wait()
        assert await llm.cancel()
        with pytest.raises(TaskCancelled) as caught:
            await running
    assert caught.value.exit_code == 130


@pytest.mark.parametrize("hold", ["open", "send", "reply"])
async def test_cancel_while_the_page_is_at_work(workspace: Path, journal: LoggedJournal, hold: str) -> None:
    chat = ScriptedChat(hold=hold)
    async with LLMManager(workspace, chat=chat, journal=journal) as llm:
        await cancelled(llm, chat.reached)
        assert not await llm.cancel()
    assert chat.stopped == 1
    assert await types(journal, *ENDS) == ["session.task_cancelled"]


async def test_cancel_while_a_question_is_open(workspace: Path, journal: LoggedJournal) -> None:
    asked = asyncio.Event()

    async def approver(question: PendingApproval) -> Answer:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody answers")

    chat = ScriptedChat([WRITE])
    async with LLMManager(workspace, chat=chat, journal=journal, approver=approver) as llm:
        await cancelled(llm, asked)
    assert await types(journal, "call.asking", "call.started", "call.done", *ENDS) == [
        "call.asking",
        "call.done",
        "session.task_cancelled",
    ]
    assert (await data(journal, "call.done"))[0]["interrupted"] is True
    assert not (workspace / "new.txt").exists()


@pytest.mark.parametrize(("reply", "done"), [(READ, False), (WRITE, True)])
async def test_cancel_while_a_tool_runs_leaves_a_write_whole(
    workspace: Path, journal: LoggedJournal, reply: str, done: bool
) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow(called: ToolCall, next_: Next) -> ToolResult:
        begun.set()
        await go_on.wait()
        return await next_(called)

    chat = ScriptedChat([reply])
    async with LLMManager(workspace, chat=chat, journal=journal, approve="auto") as llm:
        llm.tools.use(slow)
        running = asyncio.create_task(llm.call("Do it"))
        async with asyncio.timeout(30):
            await begun.wait()
            cancel = asyncio.create_task(llm.cancel())
            await asyncio.sleep(0)
            go_on.set()
            assert await cancel
            with pytest.raises(TaskCancelled):
                await running
    assert len(chat.typed) == 1
    [end] = await data(journal, "call.done")
    assert (end["success"], "interrupted" in end) == (done, not done)
    assert (workspace / "new.txt").exists() is done
    assert (await types(journal))[-1] == "session.task_cancelled"


async def test_a_caller_that_is_cancelled_cancels_the_task_and_hears_so(
    workspace: Path, journal: LoggedJournal
) -> None:
    chat = ScriptedChat(hold="reply")
    async with LLMManager(workspace, chat=chat, journal=journal) as llm:
        running = asyncio.create_task(llm.call("Do it"))
        await chat.reached.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert await types(journal, *ENDS) == ["session.task_cancelled"]


@pytest.mark.parametrize(("reason", "chats"), [("delivery_unknown", 2), ("user_acted", 2), ("limit", 1)])
async def test_a_chat_of_which_nobody_knows_what_it_holds_is_left(
    workspace: Path, journal: LoggedJournal, reason: str, chats: int
) -> None:
    chat = ScriptedChat([NeedsUser(reason, "Look at the chat.")])
    async with LLMManager(workspace, chat=chat, journal=journal) as llm:
        with pytest.raises(NeedsUser):
            await llm.call("Do it")
        assert [state for state in await data(journal, "state") if "reason" in state] == [
            {"state": "needs_user", "reason": reason, "message": "Look at the chat."}
        ]
        await llm.call("Again")
    assert chat.opened == chats


async def test_a_page_that_crashes_in_the_middle(workspace: Path, journal: LoggedJournal) -> None:
    chat = ScriptedChat([READ, ChatError("The chat page crashed.")])
    async with LLMManager(workspace, chat=chat, journal=journal) as llm:
        with pytest.raises(ChatError, match="crashed"):
            await llm.call("Do it")
        [failed] = await data(journal, "session.task_failed")
        assert failed == {"error": "The chat page crashed.", "exit_code": 1, "kind": "ChatError"}
        assert await types(journal, "call.delivered") == ["call.delivered"]
        assert await llm.call("Again") == "Done."
    assert chat.opened == 2
    assert chat.typed[2].startswith("You are")


@pytest.mark.parametrize("refused", ["call.started", "call.asking"])
async def test_an_effect_that_cannot_be_recorded_does_not_happen(workspace: Path, tmp_path: Path, refused: str) -> None:
    async def approver(question: PendingApproval) -> Answer:
        return Answer(True, "terminal")

    journal = LoggedJournal.at(tmp_path, refuse=lambda type: type == refused)
    chat = ScriptedChat([WRITE])
    async with LLMManager(workspace, chat=chat, journal=journal, approver=approver) as llm:
        with pytest.raises(JournalError):
            await llm.call("Do it")
    assert not (workspace / "new.txt").exists()
    assert len(chat.typed) == 1
    assert (await data(journal, "session.task_failed"))[0]["kind"] == "JournalError"
    await journal.close()


async def test_nothing_is_typed_when_the_journal_is_dead(workspace: Path, tmp_path: Path) -> None:
    journal = LoggedJournal.at(tmp_path, refuse=lambda type: True)
    chat = ScriptedChat()
    async with LLMManager(workspace, chat=chat, journal=journal) as llm:
        with pytest.raises(JournalError):
            await llm.call("Do it")
    assert chat.typed == []
    await journal.close()


async def test_a_note_that_was_lost_is_not_passed_over_in_silence(workspace: Path, tmp_path: Path) -> None:
    journal = LoggedJournal.at(tmp_path, refuse=lambda type: type == "call.done")
    chat = ScriptedChat([READ])
    async with LLMManager(workspace, chat=chat, journal=journal) as llm:
        with pytest.raises(JournalError):
            await llm.call("Do it")
    assert len(chat.typed) == 1
    await journal.close()


async def test_two_tasks_never_interleave_and_share_the_chat(workspace: Path, journal: LoggedJournal) -> None:
    chat = ScriptedChat([READ, "One.", READ, "Two."])
    async with LLMManager(workspace, chat=chat, journal=journal) as llm:
        assert [*await asyncio.gather(llm.call("first"), llm.call("second"))] == ["One.", "Two."]
    assert [typed.partition(":")[0] for typed in chat.typed[1:]] == ["TOOL_RESULT", "second", "TOOL_RESULT"]
    assert chat.opened == 1
    tasks = [event.task for event in await journal.events(limit=500) if event.type in ("prompt.sent", "reply.done")]
    assert tasks == sorted(tasks, key=tasks.index)
    assert len(set(tasks)) == 2


async def test_events_tell_the_whole_story_once_to_whoever_comes_late(workspace: Path, journal: LoggedJournal) -> None:
    async with LLMManager(workspace, chat=ScriptedChat(["Done."]), journal=journal) as llm:
        await llm.call("Do it\nplease")
        seen: list[Event] = []
        async with asyncio.timeout(30):
            async for event in llm.events():
                seen.append(event)
                if event.type == "session.task_done":
                    break
    assert [event.type for event in seen] == await types(journal)
    assert seen[0].data["title"] == "Do it"
    assert {event.session for event in seen} == {llm.session}
    assert seen[-1].data["answer"] == "Done."
    causes = [event.cause for event in seen]
    assert all(cause is None or cause < event.seq for cause, event in zip(causes, seen, strict=True))


async def test_events_end_with_the_manager(workspace: Path, journal: LoggedJournal) -> None:
    async def watch(llm: LLMManager) -> int:
        return len([event async for event in llm.events()])

    async with LLMManager(workspace, chat=ScriptedChat(), journal=journal) as llm:
        watching = asyncio.create_task(watch(llm))
        await llm.call("Do it")
    async with asyncio.timeout(30):
        assert await watching >= 0


async def test_deltas_are_told_live(workspace: Path, journal: LoggedJournal) -> None:
    pieces: list[Ephemeral] = []
    chat = ScriptedChat(["A reply in pieces."])
    async with LLMManager(workspace, chat=chat, journal=journal, on_ephemeral=pieces.append) as llm:
        await llm.call("Do it")
    assert "".join(piece.text for piece in pieces) == "A reply in pieces."
    assert {(piece.session, piece.turn, piece.type) for piece in pieces} == {(llm.session, 1, "reply.delta")}


async def test_what_was_lent_is_not_closed_and_what_was_made_is(workspace: Path, journal: LoggedJournal) -> None:
    lent, made = ScriptedChat(), ScriptedChat()

    async def factory(choices: Any) -> ScriptedChat:
        return made

    async with LLMManager(workspace, chat=lent, journal=journal) as llm:
        await llm.call("Do it")
    async with LLMManager(workspace, chat_factory=factory, journal=journal) as llm:
        await llm.call("Do it")
    assert (lent.closed, made.closed) == (0, 1)
    assert await journal.events(limit=1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"workspace": "missing"}, "cannot be opened"),
        ({"workspace": "package.json"}, "not a directory"),
        ({"workspace": "a\0b"}, "cannot be opened"),
        ({"dialect": "nonsense"}, "nonsense"),
        ({"dialect": "assistant_api"}, "never runs tools"),
    ],
)
async def test_bad_choices_are_one_sentence(
    workspace: Path, journal: LoggedJournal, options: dict[str, str], sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence) as caught:
        LLMManager(workspace / options.pop("workspace", "."), chat=ScriptedChat(), journal=journal, **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


async def test_an_empty_task_is_refused(workspace: Path, journal: LoggedJournal) -> None:
    async with LLMManager(workspace, chat=ScriptedChat(), journal=journal) as llm:
        with pytest.raises(UsageError, match="empty"):
            await llm.call(" \n")
    assert await journal.events() == []


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"approve": "zzz"}, "approve is 'zzz'; it must be one of ask, edits, auto, none"),
        ({"mode": "qqq"}, "mode is 'qqq'; it must be one of plan, act"),
        ({"max_iterations": 0}, "max_iterations is 0; it must be 1 or more"),
    ],
)
def test_a_choice_that_means_nothing_is_refused(workspace: Path, choice: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        LLMManager(workspace, chat=ScriptedChat(), **choice)
