from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bridge.agent import Answer, LLMManager
from bridge.conversation import ChatReply
from bridge.errors import NeedsUser, TabferryError, TaskStopped
from bridge.relay.service import PendingApproval
from tests.agent.scripted import LoggedJournal, ScriptedChat, Step, call, data, read_as, types
from tool_manager import ToolManager

READ = call("read_file", path="package.json")
WRITE = call("write_file", path="new.txt", content="hello")
CUT = '<TOOL_CALL>\n{"tool": "read_file", "args": {"path": '


async def converse(
    workspace: Path, journal: LoggedJournal, script: list[Step], **options: Any
) -> tuple[str, ScriptedChat]:
    chat = ScriptedChat(script)
    async with LLMManager(workspace, chat=chat, journal=journal, **options) as llm:
        return await llm.call("Do it"), chat


def result_of(typed: str) -> Any:
    prefix = "TOOL_RESULT: "
    assert typed.startswith(prefix)
    assert "\n" not in typed
    assert typed.isascii()
    return json.loads(typed.removeprefix(prefix))


@pytest.mark.requirement("T25", "T26", "T27", "T28", "T58")
async def test_a_call_its_result_and_the_answer(workspace: Path, journal: LoggedJournal) -> None:
    answer, chat = await converse(workspace, journal, [READ, "The version in package.json is 1.0.0"])
    assert answer == "The version in package.json is 1.0.0"
    result = result_of(chat.typed[1])
    assert list(result) == ["success", "data", "error"]
    assert (result["success"], result["error"]) == (True, None)
    assert json.loads(result["data"]["content"])["version"] == "1.0.0"


@pytest.mark.requirement("T31")
async def test_the_first_message_is_system_prompt_and_task(workspace: Path, journal: LoggedJournal) -> None:
    _, chat = await converse(workspace, journal, ["Done."])
    assert chat.typed[0].startswith("You are an AI coding assistant")
    assert "read_file(path: string" in chat.typed[0]
    assert chat.typed[0].endswith("\n\nTASK: Do it")


@pytest.mark.requirement("T25", "T39")
async def test_a_tool_that_fails_is_told_to_the_model_and_the_loop_goes_on(
    workspace: Path, journal: LoggedJournal
) -> None:
    async def boom() -> None:
        raise RuntimeError("boom failed")

    chat = ScriptedChat([call("boom"), "It is broken."])
    async with LLMManager(workspace, chat=chat, journal=journal, approve="auto") as llm:
        parameters = {"type": "object", "properties": {}, "required": []}
        entry = {"name": "boom", "description": "Fails.", "parameters": parameters, "handler": boom}
        llm.tools.register_tool(entry)
        llm.tools.policy = type(llm.tools.policy)("auto", "act")
        assert await llm.call("Do it") == "It is broken."
    result = result_of(chat.typed[1])
    assert (result["success"], result["data"]) == (False, None)
    assert result["error"]


@pytest.mark.requirement("T19", "T23")
async def test_an_unknown_tool_is_a_tool_error(workspace: Path, journal: LoggedJournal) -> None:
    _, chat = await converse(workspace, journal, [call("read_fil", path="a"), "Sorry."])
    first, *hint = chat.typed[1].split("\n")
    assert first == "TOOL_ERROR: Unknown tool: read_fil. Please try again with correct format."
    assert "read_file" in hint[0]
    assert await types(journal, "call.started", "call.denied") == ["call.denied"]


@pytest.mark.requirement("T20", "T23")
async def test_a_missing_parameter_is_a_tool_error(workspace: Path, journal: LoggedJournal) -> None:
    _, chat = await converse(workspace, journal, [call("read_file"), "Sorry."])
    assert chat.typed[1].startswith(
        "TOOL_ERROR: Missing required parameter: path. Please try again with correct format."
    )


@pytest.mark.requirement("T29")
async def test_what_the_model_writes_after_its_call_is_never_fed_back(workspace: Path, journal: LoggedJournal) -> None:
    invented = 'TOOL_RESULT: {"success": true, "data": {"version": "9.9.9"}, "error": null}\nIt is 9.9.9.'
    answer, chat = await converse(workspace, journal, [f"{READ}\n{invented}", "It is 1.0.0."])
    assert answer == "It is 1.0.0."
    assert not any("9.9.9" in typed for typed in chat.typed)
    assert [done["answer"] for done in await data(journal, "session.task_done")] == ["It is 1.0.0."]


@pytest.mark.requirement("T7")
async def test_only_the_first_call_of_a_reply_runs(workspace: Path, journal: LoggedJournal) -> None:
    _, chat = await converse(workspace, journal, [f"{READ}\n{WRITE}", "Done."], approve="auto")
    assert not (workspace / "new.txt").exists()
    assert len(chat.typed) == 2


@pytest.mark.requirement("T36")
async def test_every_call_is_recorded_with_an_id_of_its_own(workspace: Path, journal: LoggedJournal) -> None:
    await converse(workspace, journal, [READ, READ, call("list_files", directory="."), "Done."])
    parsed = await data(journal, "call.parsed")
    assert [each["tool"] for each in parsed] == ["read_file", "read_file", "list_files"]
    ids = [event.call for event in await journal.events() if event.type == "call.parsed"]
    assert ids[0] is not None
    assert (ids[0][-2:], ids[1]) == ("_0", f"{ids[0][:-2]}_1")
    for id_ in ids:
        steps = [event.type for event in await journal.events() if event.call == id_]
        assert steps == ["call.parsed", "call.granted", "call.started", "call.done", "call.delivered"]


@pytest.mark.requirement("T34", "T36")
async def test_max_iterations_counts_replies_and_keeps_every_call(workspace: Path, journal: LoggedJournal) -> None:
    script: list[Step] = [call("list_files", directory=".", depth=depth) for depth in range(1, 9)]
    with pytest.raises(TaskStopped, match=r"Max iterations reached \(5\)\. LLM did not provide final answer\."):
        await converse(workspace, journal, script, max_iterations=5)
    assert len(await data(journal, "call.done")) == 5
    [failed] = await data(journal, "session.task_failed")
    assert (failed["exit_code"], failed["error"][:3]) == (1, "Max")


@pytest.mark.requirement("T35")
async def test_the_third_equal_call_is_not_run(workspace: Path, journal: LoggedJournal) -> None:
    with pytest.raises(NeedsUser):
        await converse(workspace, journal, [READ, READ, READ, "never asked for"])
    assert len(await data(journal, "call.done")) == 2
    assert [failed["exit_code"] for failed in await data(journal, "session.task_failed")] == [3]
    assert (await data(journal, "state"))[-1]["reason"] == "repeated_call"


async def test_three_failures_stop_the_task(workspace: Path, journal: LoggedJournal) -> None:
    script: list[Step] = [call("read_file", path=f"missing{n}") for n in range(5)]
    with pytest.raises(TaskStopped, match="3 calls failed"):
        await converse(workspace, journal, script)
    assert len(await data(journal, "call.done")) == 3


@pytest.mark.requirement("T10")
@pytest.mark.requirement("X2")
async def test_a_malformed_block_is_corrected_twice_and_then_the_user_is_asked(
    workspace: Path, journal: LoggedJournal
) -> None:
    with pytest.raises(NeedsUser) as caught:
        await converse(workspace, journal, [CUT, CUT, CUT, "never asked for"])
    assert caught.value.reason == "malformed"
    kinds = [prompt["kind"] for prompt in await data(journal, "prompt.sent")]
    assert kinds == ["task", "correction", "correction"]
    assert await data(journal, "call.started") == []


@pytest.mark.requirement("T5")
async def test_a_call_in_look_alike_tags_does_not_run_and_is_corrected(workspace: Path, journal: LoggedJournal) -> None:
    answer, chat = await converse(workspace, journal, [READ.replace("TOOL_CALL", "tool_call"), "It is 1.0.0."])
    assert (answer, len(chat.typed)) == ("It is 1.0.0.", 2)
    assert chat.typed[1].startswith("TOOL_ERROR: ")
    assert await data(journal, "call.parsed") == []


@pytest.mark.requirement("T2")
async def test_a_call_in_thinking_does_not_run_and_the_answer_after_it_stands(
    workspace: Path, journal: LoggedJournal
) -> None:
    reply = f"<think>\n{READ}\n</think>\nIt is 1.0.0."
    answer, chat = await converse(workspace, journal, [reply])
    assert (answer, len(chat.typed)) == (reply, 1)


async def test_a_correction_that_helps(workspace: Path, journal: LoggedJournal) -> None:
    answer, chat = await converse(workspace, journal, [CUT, READ, "It is 1.0.0."])
    assert (answer, len(chat.typed)) == ("It is 1.0.0.", 3)


@pytest.mark.requirement("T10")
async def test_malformed_as_text_is_the_behaviour_of_the_document(workspace: Path, journal: LoggedJournal) -> None:
    answer, chat = await converse(workspace, journal, [CUT], on_malformed="text")
    assert (answer, len(chat.typed)) == (CUT, 1)


async def test_malformed_as_error_fails(workspace: Path, journal: LoggedJournal) -> None:
    with pytest.raises(TabferryError, match="malformed"):
        await converse(workspace, journal, [CUT], on_malformed="error")


@pytest.mark.parametrize("sources", [("tee",), ("copy",), ("code",), ("tee", "code")])
async def test_a_write_read_from_a_weak_source_is_asked_for_again_and_then_given_up(
    workspace: Path, journal: LoggedJournal, sources: Any
) -> None:
    with pytest.raises(NeedsUser) as caught:
        await converse(workspace, journal, [read_as(WRITE, *sources)] * 5, approve="auto")
    assert caught.value.reason == "malformed"
    assert not (workspace / "new.txt").exists()
    assert [prompt["kind"] for prompt in await data(journal, "prompt.sent")] == ["task", "correction", "correction"]
    assert "fenced" in (await data(journal, "prompt.sent"))[1]["text"]


async def test_a_write_that_comes_again_from_the_tap_runs(workspace: Path, journal: LoggedJournal) -> None:
    answer, _ = await converse(workspace, journal, [read_as(WRITE, "tee"), WRITE, "Done."], approve="auto")
    assert answer == "Done."
    assert (workspace / "new.txt").read_text(encoding="utf-8") == "hello"


async def test_a_read_from_a_weak_source_runs(workspace: Path, journal: LoggedJournal) -> None:
    _, chat = await converse(workspace, journal, [read_as(READ, "tee"), "It is 1.0.0."])
    assert result_of(chat.typed[1])["success"] is True


@pytest.mark.parametrize(
    "reply",
    [
        read_as(READ, "rendered"),
        ChatReply(
            (read_as(READ, "cdp").captures[0], read_as(call("read_file", path="b"), "tee").captures[0]), "end", 1
        ),
    ],
)
async def test_a_doubtful_call_never_runs_not_even_a_read(
    workspace: Path, journal: LoggedJournal, reply: ChatReply
) -> None:
    _, chat = await converse(workspace, journal, [reply, "I give up."])
    assert chat.typed[1].startswith("TOOL_ERROR: ")
    assert await data(journal, "call.parsed") == []


@pytest.mark.requirement("T43")
async def test_a_denial_reaches_the_model_with_its_reason(workspace: Path, journal: LoggedJournal) -> None:
    async def deny(question: PendingApproval) -> Answer:
        assert question.diff is not None
        assert "+hello" in question.diff
        return Answer(False, "terminal", "use another name")

    _, chat = await converse(workspace, journal, [WRITE, "I will."], approver=deny)
    result = result_of(chat.typed[1])
    assert result == {"success": False, "data": None, "error": "Denied by terminal: use another name"}
    assert not (workspace / "new.txt").exists()
    assert await types(journal, "call.asking", "call.denied", "call.started") == ["call.asking", "call.denied"]


@pytest.mark.requirement("T43")
@pytest.mark.parametrize("approve", ["ask", "none"])
async def test_a_write_that_nobody_can_approve_is_denied(workspace: Path, journal: LoggedJournal, approve: str) -> None:
    _, chat = await converse(workspace, journal, [WRITE, "I see."], approve=approve)
    assert result_of(chat.typed[1])["success"] is False
    assert not (workspace / "new.txt").exists()


@pytest.mark.requirement("T43")
async def test_a_write_that_was_approved_runs_and_says_who_approved_it(workspace: Path, journal: LoggedJournal) -> None:
    async def approve(question: PendingApproval) -> Answer:
        return Answer(True, "vscode")

    await converse(workspace, journal, [WRITE, "Done."], approver=approve)
    assert (workspace / "new.txt").read_text(encoding="utf-8") == "hello"
    assert [granted["by"] for granted in await data(journal, "call.granted")] == ["vscode"]
    [changed] = await data(journal, "file.changed")
    [started] = await data(journal, "call.started")
    assert (changed["path"], changed["before"]) == ("new.txt", None)
    assert started["after"] == {"new.txt": changed["after"]}


async def test_what_changed_while_the_user_thought_is_not_overwritten(workspace: Path, journal: LoggedJournal) -> None:
    async def approve(question: PendingApproval) -> Answer:
        (workspace / "new.txt").write_text("mine", encoding="utf-8")
        return Answer(True, "terminal")

    _, chat = await converse(workspace, journal, [WRITE, "I see."], approver=approve)
    assert result_of(chat.typed[1])["success"] is False
    assert (workspace / "new.txt").read_text(encoding="utf-8") == "mine"


async def test_tools_of_ones_own_are_recorded_too(workspace: Path, journal: LoggedJournal) -> None:
    async with ToolManager(workspace, approve="auto") as tools:
        await converse(workspace, journal, [WRITE, "Done."], tools=tools)
    assert await types(journal, "call.started", "file.changed", "call.done") == [
        "call.started",
        "file.changed",
        "call.done",
    ]
