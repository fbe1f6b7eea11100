"""Dialects whose every reply must be a call, and replies that are errors (F17-F19, X3, X8)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bridge.agent.limits import LISTED_TOOLS
from bridge.protocol import ParsedReply, ResponseParser
from tests.agent.scripted import LoggedJournal, call, data, drive, written
from tool_manager import ToolManager

READ = written("forge", ("read_file", {"path": "package.json"}))
END = written("forge", ("task_completion", {"result": "It is 1.0.0."}))


@pytest.mark.requirement("F17", "F18", "X8")
async def test_a_reply_without_a_call_is_an_error_that_is_fed_back(workspace: Path, journal: LoggedJournal) -> None:
    run = await drive(workspace, journal, ["Let me see.", "Hm.", "Well.", READ, "So.", END], dialect="forge")
    assert (run.kind, run.text) == ("text", "It is 1.0.0.")
    assert [each["name"] for each in run.calls] == ["read_file", "task_completion"]
    assert run.chat.typed[1] == run.chat.typed[2]
    assert "MUST use a tool in every response" in run.chat.typed[1]


@pytest.mark.requirement("F19")
async def test_the_same_error_five_times_in_a_row_stops_the_task(workspace: Path, journal: LoggedJournal) -> None:
    run = await drive(workspace, journal, ["Hm."] * 9, dialect="forge")
    assert (run.kind, len(run.chat.typed)) == ("error", 5)
    assert run.text == "The same error came 5 times in a row; the task was stopped."


@pytest.mark.requirement("F33")
async def test_the_tools_that_end_a_task_are_shown_only_where_every_reply_is_a_call(
    workspace: Path, journal: LoggedJournal
) -> None:
    shown = (await drive(workspace, journal, [END], dialect="forge")).chat.typed[0]
    assert "task_completion" in shown
    assert "ask_question" in shown
    hidden = (await drive(workspace, journal, ["Done."])).chat.typed[0]
    assert "task_completion" not in hidden


@pytest.mark.requirement("F3", "F17", "F33")
async def test_a_hidden_tool_can_be_called_all_the_same(workspace: Path, journal: LoggedJournal) -> None:
    question = call("ask_question", question="Which?", suggestions=["a", "b"])
    run = await drive(workspace, journal, [question])
    assert (run.kind, run.text) == ("text", "Which?\n\nSuggested answers:\n1. a\n2. b")


@pytest.mark.requirement("C11", "C12", "X3")
async def test_a_malformed_batch_is_an_error_in_the_words_of_its_dialect(
    workspace: Path, journal: LoggedJournal
) -> None:
    good = written("cogency", ("read_file", {"path": "package.json"}))
    run = await drive(workspace, journal, ["<execute>[{]</execute>", good, "Done."], dialect="cogency")
    assert (run.kind, run.text) == ("text", "Done.")
    assert run.chat.typed[1].startswith("Error: Malformed tool call syntax.")
    assert [sent["kind"] for sent in await data(journal, "prompt.sent")] == ["task", "correction", "result"]


async def test_malformed_twice_is_corrected_then_the_user_is_asked(workspace: Path, journal: LoggedJournal) -> None:
    run = await drive(workspace, journal, ["<execute>[{]</execute>"] * 5, dialect="cogency")
    assert (run.kind, len(run.chat.typed)) == ("error", 3)
    assert "corrected 2 times" in run.text


@pytest.mark.requirement("F5", "F21")
async def test_an_invalid_call_is_an_error_in_the_words_of_its_dialect(workspace: Path, journal: LoggedJournal) -> None:
    script = [written("forge", ("nope", {})), written("forge", ("read_file", {})), END]
    run = await drive(workspace, journal, script, dialect="forge")
    assert run.chat.typed[1].startswith("tool not found: nope")
    assert run.chat.typed[2].startswith("invalid arguments for read_file: ")


@pytest.mark.requirement("F21")
async def test_an_unknown_tool_is_answered_by_the_list_of_the_known(workspace: Path, journal: LoggedJournal) -> None:
    run = await drive(workspace, journal, [written("forge", ("read_fil", {})), END], dialect="forge")
    first, remedy, *listed = run.chat.typed[1].split("\n")
    assert first == "tool not found: read_fil"
    assert remedy.startswith('ERROR: Unknown tool "read_fil". Did you mean read_file?')
    assert listed == sorted(listed)
    assert "- task_completion: End the task when it is done." in listed
    assert any(line.startswith("- read_file: Read a text file") for line in listed)


@pytest.mark.requirement("F21")
async def test_a_list_of_thousands_of_tools_is_cut(workspace: Path, journal: LoggedJournal) -> None:
    def prepare(tools: ToolManager) -> None:
        for number in range(1_000):
            tools.register_tool({"name": f"a{number}", "description": "An <tool>.", "handler": lambda: 1})

    script = [written("forge", ("nope", {})), END]
    run = await drive(workspace, journal, script, dialect="forge", prepare=prepare)
    listed = run.chat.typed[1].split("\n")[2:]
    assert len(listed) == LISTED_TOOLS
    assert listed[0] == "- a0: An \\u003ctool>."


REQUEST = '{"tool_request": {"name": "read_file", "arguments": {"path": "package.json"}}}'


@pytest.mark.requirement("X17")
async def test_a_call_of_a_dialect_that_never_runs_is_corrected(workspace: Path, journal: LoggedJournal) -> None:
    good = written("tool_call", ("read_file", {"path": "package.json"}))
    run = await drive(workspace, journal, [REQUEST, good, "It is 1.0.0."], dialect="auto")
    assert (run.kind, run.text, len(run.calls)) == ("text", "It is 1.0.0.", 1)
    assert "here" in run.chat.typed[1]
    assert "<TOOL_CALL>" in run.chat.typed[1]
    assert [sent["kind"] for sent in await data(journal, "prompt.sent")] == ["task", "correction", "result"]


@pytest.mark.requirement("X17")
async def test_such_a_call_never_runs_whoever_read_it(
    workspace: Path, journal: LoggedJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = ResponseParser.parse

    def parse_request(self: ResponseParser, text: str) -> ParsedReply:
        del self
        return replace(parse(ResponseParser("assistant_api"), text), dialect="assistant_api")

    monkeypatch.setattr(ResponseParser, "parse", parse_request)
    run = await drive(workspace, journal, [REQUEST] * 9, dialect="auto")
    assert (run.kind, run.calls, len(run.chat.typed)) == ("error", [], 3)
    assert "this way of asking for a tool cannot run here" in run.chat.typed[1]
