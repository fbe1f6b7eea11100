"""Replies with several calls, in the dialects that allow them (X1, X5, X6, C17-C21)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from bridge.agent import Answer, LLMManager
from bridge.conversation import SentMessage
from bridge.errors import NeedsUser, TaskCancelled
from bridge.protocol import dialects
from bridge.relay.service import PendingApproval
from tests.agent.scripted import LoggedJournal, Run, ScriptedChat, call, data, drive, read_as, types, written
from tool_manager import ToolCall, ToolManager, ToolResult, tool
from tool_manager.middleware import Next

READ = ("read_file", {"path": "package.json"})
MISSING = ("read_file", {"path": "missing"})


def write(path: str, content: str = "hello") -> tuple[str, dict[str, Any]]:
    return "write_file", {"path": path, "content": content}


def results(run: Run, at: int = 1) -> list[dict[str, Any]]:
    typed = run.chat.typed[at]
    assert typed.startswith("<results>")
    found = json.loads(typed.removeprefix("<results>").removesuffix("</results>"))
    assert isinstance(found, list)
    return found


async def cogency(workspace: Path, journal: LoggedJournal, *replies: Any, **options: Any) -> Run:
    batches = [written("cogency", *reply) if isinstance(reply, list) else reply for reply in replies]
    return await drive(workspace, journal, batches, dialect="cogency", **options)


@pytest.mark.requirement("C5", "C19", "C20", "C21")
async def test_every_call_of_a_batch_gets_its_slot_and_one_message_goes_back(
    workspace: Path, journal: LoggedJournal
) -> None:
    run = await cogency(workspace, journal, [READ, MISSING, READ], "It is 1.0.0.")
    assert (run.kind, run.text, len(run.chat.typed)) == ("text", "It is 1.0.0.", 2)
    assert [each["status"] for each in results(run)] == ["success", "failure", "success"]
    assert results(run)[1]["content"] == "File not found: missing"
    assert (await types(journal, "call.delivered", "call.parsed")).count("call.delivered") == 3


@pytest.mark.requirement("C7")
async def test_an_empty_batch_has_an_empty_array_of_results(workspace: Path, journal: LoggedJournal) -> None:
    run = await cogency(workspace, journal, [], [], [], [], "Done.")
    assert (run.text, results(run), results(run, 4)) == ("Done.", [], [])


@pytest.mark.requirement("C7", "T34")
async def test_empty_batches_end_by_the_iterations(workspace: Path, journal: LoggedJournal) -> None:
    run = await cogency(workspace, journal, *[[]] * 9, max_iterations=4)
    assert (run.kind, run.text[:22]) == ("error", "Max iterations reached")


@pytest.mark.requirement("C17", "C18")
async def test_calls_run_side_by_side_and_their_results_keep_the_order(workspace: Path, journal: LoggedJournal) -> None:
    second_began = asyncio.Event()

    @tool("Waits for the other")
    async def first() -> str:
        await second_began.wait()
        return "first"

    @tool("Goes ahead")
    async def second() -> str:
        second_began.set()
        return "second"

    def prepare(tools: ToolManager) -> None:
        tools.register(first)
        tools.register(second)

    async with asyncio.timeout(30):
        run = await cogency(workspace, journal, [("first", {}), ("second", {})], "Done.", prepare=prepare)
    assert [each["content"] for each in results(run)] == ["first", "second"]


@pytest.mark.requirement("X5")
async def test_what_touches_the_same_file_runs_in_the_order_of_the_batch(
    workspace: Path, journal: LoggedJournal
) -> None:
    a = {"path": "a.txt"}
    run = await cogency(
        workspace, journal, [write("a.txt", "1"), ("read_file", a), write("a.txt", "2"), ("read_file", a)], "Done."
    )
    contents = [each["content"]["content"] for each in results(run)[1::2]]
    assert contents == ["1", "2"]
    assert (workspace / "a.txt").read_text(encoding="utf-8") == "2"


@pytest.mark.requirement("C13", "C14", "C15")
async def test_a_wrong_call_fails_in_its_slot_and_the_others_run(workspace: Path, journal: LoggedJournal) -> None:
    batch = [("nope", {}), write("a.txt"), ("read_file", {}), ("read_file", {"path": 7})]
    run = await cogency(workspace, journal, [*batch, READ], "Done.")
    assert [each["status"] for each in results(run)] == ["failure", "success", "failure", "failure", "success"]
    assert results(run)[0] == {"tool": "nope", "status": "failure", "content": "Tool 'nope' not registered"}
    assert results(run)[2]["content"] == "Missing required field: path"
    assert "expected string" in results(run)[3]["content"]
    assert (workspace / "a.txt").exists()


@pytest.mark.requirement("A37")
@pytest.mark.parametrize("name", [name for name in dialects.names() if dialects.get(name).several])
async def test_every_dialect_of_several_calls_runs_them_all(name: str, workspace: Path, journal: LoggedJournal) -> None:
    run = await drive(workspace, journal, [written(name, READ, write("a.txt")), "Done."], dialect=name)
    assert (run.kind, run.text, len(run.chat.typed)) == ("text", "Done.", 2)
    assert run.calls == [{"name": each, "args": args} for each, args in (READ, write("a.txt"))]
    assert (workspace / "a.txt").read_text(encoding="utf-8") == "hello"


@pytest.mark.requirement("T8", "T49")
async def test_multi_runs_all_calls_of_a_dialect_of_one(workspace: Path, journal: LoggedJournal) -> None:
    reply = f"{call('read_file', path='package.json')}\n{call('nope')}\n{call('list_files', directory='.')}"
    run = await drive(workspace, journal, [reply, "Done."], multi=True)
    lines = run.chat.typed[1].splitlines()
    assert [json.loads(line.removeprefix("TOOL_RESULT: "))["success"] for line in lines[::2]] == [True, True]
    assert lines[1] == "TOOL_ERROR: Unknown tool: nope. Please try again with correct format."


@pytest.mark.requirement("T7")
async def test_without_multi_the_model_is_told_that_only_the_first_ran(workspace: Path, journal: LoggedJournal) -> None:
    reply = f"{call('read_file', path='package.json')}\n{call('list_files', directory='.')}"
    run = await drive(workspace, journal, [reply, "Done."])
    result, note = run.chat.typed[1].splitlines()
    assert json.loads(result.removeprefix("TOOL_RESULT: "))["success"] is True
    assert note.startswith("Only your first call was run: 1 more call was in the same reply.")
    assert [each["name"] for each in run.calls] == ["read_file"]


@pytest.mark.requirement("X6")
@pytest.mark.requirement("F17")
async def test_nothing_runs_after_a_loop_breaking_call_which_ends_the_task(
    workspace: Path, journal: LoggedJournal
) -> None:
    end = ("task_completion", {"result": "All done."})
    run = await cogency(workspace, journal, [write("a.txt"), end, write("b.txt")], "never asked for")
    assert (run.kind, run.text, len(run.chat.typed)) == ("text", "All done.", 1)
    assert [(workspace / name).exists() for name in ("a.txt", "b.txt")] == [True, False]
    [denied] = await data(journal, "call.denied")
    assert denied["reason"] == "Not run: task_completion ended this batch."


@pytest.mark.requirement("F17")
async def test_a_loop_breaking_call_that_fails_does_not_stop_the_task(workspace: Path, journal: LoggedJournal) -> None:
    run = await cogency(workspace, journal, [("task_completion", {"result": ""}), write("b.txt")], "Done.")
    assert (run.text, [each["status"] for each in results(run)]) == ("Done.", ["failure", "failure"])
    assert results(run)[0]["content"] == "result cannot be empty"
    assert not (workspace / "b.txt").exists()


@pytest.mark.requirement("C30", "X11")
async def test_the_breaker_returns_the_results_before_it_stops(workspace: Path, journal: LoggedJournal) -> None:
    run = await cogency(workspace, journal, [READ, *[MISSING] * 3], "I see.")
    assert run.kind == "error"
    assert run.text == "3 calls failed in a row; the task was stopped. The last error was: File not found: missing"
    assert [each["status"] for each in results(run)] == ["success", "failure", "failure", "failure"]
    assert (len(run.chat.typed), (await types(journal)).count("call.delivered")) == (2, 4)


@pytest.mark.requirement("X11")
async def test_where_one_call_is_a_reply_the_last_error_is_said_and_recorded(
    workspace: Path, journal: LoggedJournal
) -> None:
    script = [call("read_file", path=f"missing{number}") for number in range(3)]
    run = await drive(workspace, journal, script)
    assert (run.kind, len(run.chat.typed)) == ("error", 3)
    assert run.text.endswith("The last error was: File not found: missing2")
    assert run.done[-1]["error"] == "File not found: missing2"


@pytest.mark.requirement("C17", "X5")
async def test_tools_that_do_not_declare_their_effect_keep_the_order_of_a_path(
    workspace: Path, journal: LoggedJournal
) -> None:
    files: dict[str, str] = {}

    @tool(description="Write")
    async def write(file: str, content: str) -> str:
        for _ in range(20):
            await asyncio.sleep(0)
        files[file] = content
        return "written"

    @tool(description="Read")
    async def read(file: str) -> str | None:
        return files.get(file)

    def prepare(tools: ToolManager) -> None:
        tools.register(write)
        tools.register(read)

    batch = [("write", {"file": "b.txt", "content": "new"}), ("read", {"file": "b.txt"}), ("read", {"file": "c.txt"})]
    run = await cogency(workspace, journal, batch, "Done.", prepare=prepare)
    assert [each["content"] for each in results(run)] == ["written", "new", None]


@pytest.mark.requirement("C13", "C14", "C15", "X15")
async def test_who_runs_a_batch_by_himself_gets_the_words_of_the_dialect_too(workspace: Path) -> None:
    calls = [ToolCall.of("nope", {}), ToolCall.of("read_file", {}), ToolCall.of("read_file", {"path": 1})]
    async with ToolManager(workspace) as tools:
        outcomes = list(zip(calls, await tools.execute_batch(calls), strict=True))
    said = dialects.get("cogency").results_message(outcomes)
    for words in ("Tool 'nope' not registered", "Missing required field: path", "expected string, got integer"):
        assert words in said


@pytest.mark.requirement("C21", "T35")
async def test_a_thousand_equal_calls_in_one_batch_run(workspace: Path, journal: LoggedJournal) -> None:
    run = await cogency(workspace, journal, [("list_files", {"directory": "."})] * 1000, "Done.")
    assert (run.text, len(results(run)), len(run.calls)) == ("Done.", 1000, 1000)


@pytest.mark.requirement("C31")
async def test_a_batch_is_counted(workspace: Path, journal: LoggedJournal) -> None:
    await cogency(workspace, journal, [READ, MISSING, ("nope", {})], "Done.")
    assert await data(journal, "usage") == [{"tools_executed": 3, "success_count": 1, "failure_count": 2}]


@pytest.mark.requirement("T43")
async def test_questions_come_one_at_a_time(workspace: Path, journal: LoggedJournal) -> None:
    asking, seen = 0, []

    async def approve(question: PendingApproval) -> Answer:
        nonlocal asking
        asking += 1
        seen.append((question.args["path"], asking))
        await asyncio.sleep(0)
        asking -= 1
        return Answer(question.args["path"] != "b.txt", "terminal")

    batch = [write("a.txt"), write("b.txt"), write("c.txt")]
    run = await cogency(workspace, journal, batch, "Done.", approve="ask", approver=approve)
    assert sorted(seen) == [("a.txt", 1), ("b.txt", 1), ("c.txt", 1)]
    assert [each["status"] for each in results(run)] == ["success", "failure", "success"]


async def test_a_batch_with_a_write_from_a_weak_source_is_asked_for_again_as_a_whole(
    workspace: Path, journal: LoggedJournal
) -> None:
    batch = written("cogency", READ, write("a.txt"))
    run = await cogency(workspace, journal, read_as(batch, "tee"), batch, "Done.")
    assert run.chat.typed[1].startswith("Error: ")
    assert [each["status"] for each in results(run, 2)] == ["success", "success"]
    assert [denied["by"] for denied in await data(journal, "call.denied")] == ["trust", "trust"]


@pytest.mark.parametrize("batch", [[READ, write("a.txt")], [write("a.txt"), ("task_completion", {"result": "x"})]])
async def test_no_call_of_a_batch_with_a_write_runs_when_the_user_acted(
    workspace: Path, journal: LoggedJournal, batch: list[Any]
) -> None:
    class Disturbed(ScriptedChat):
        async def settle(self, sent: SentMessage) -> None:
            raise NeedsUser("user_acted", "Another message was sent in this chat.")

    chat = Disturbed([written("cogency", *batch)])
    async with LLMManager(workspace, chat=chat, journal=journal, approve="auto", dialect="cogency") as llm:
        with pytest.raises(NeedsUser, match="Another message"):
            await llm.call("Do it")
    assert not (workspace / "a.txt").exists()
    assert await types(journal, "call.started", "call.denied") == ["call.denied", "call.denied"]


@pytest.mark.requirement("A38")
async def test_arguments_that_were_written_as_text_are_recorded_as_they_ran(
    workspace: Path, journal: LoggedJournal
) -> None:
    listing = ("list_files", {"directory": ".", "depth": "1"})
    run = await drive(workspace, journal, [written("autobyteus_xml", listing, READ), "Done."], dialect="autobyteus_xml")
    assert run.calls[0] == {"name": "list_files", "args": {"directory": ".", "depth": 1}}
    [parsed, _] = await data(journal, "call.parsed")
    assert parsed["args"]["depth"] == "1"


async def test_a_journal_that_fails_stops_the_whole_batch(workspace: Path, tmp_path: Path) -> None:
    refused = LoggedJournal.at(tmp_path / "other", refuse=lambda type: type == "call.started")
    run = await cogency(workspace, refused, [write("a.txt"), write("b.txt"), READ], "never asked for")
    await refused.close()
    assert (run.kind, run.text) == ("error", "The disk is full: call.started was not recorded.")
    assert [(workspace / name).exists() for name in ("a.txt", "b.txt")] == [False, False]


@pytest.mark.parametrize("held", ["write_file", "read_file"])
async def test_a_cancelled_batch_leaves_no_call_without_an_end(
    workspace: Path, journal: LoggedJournal, held: str
) -> None:
    reached = asyncio.Event()

    async def hold(called: ToolCall, next_: Next) -> ToolResult:
        if called.name == held:
            reached.set()
            if held == "read_file":
                await asyncio.Event().wait()
        return await next_(called)

    chat = ScriptedChat([written("cogency", write("a.txt"), READ, ("list_files", {"directory": "."}))])
    async with LLMManager(workspace, chat=chat, journal=journal, approve="auto", dialect="cogency") as llm:
        llm.tools.use(hold)
        task = asyncio.create_task(llm.call("Do it"))
        await reached.wait()
        await llm.cancel()
        with pytest.raises(TaskCancelled):
            await task
    events = await journal.events(limit=1000)
    begun = {event.call for event in events if event.type == "call.parsed"}
    over = [event.call for event in events if event.type in ("call.done", "call.denied")]
    assert (len(begun), sorted(over, key=str)) == (3, sorted(begun, key=str))
