"""The documents' cases for whole loops and for single replies that are run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bridge.agent import LLMManager
from bridge.errors import TabferryError
from tests.agent.scripted import LoggedJournal, ScriptedChat, data

CASES: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "toolcall-cases.jsonl").read_text("utf-8").splitlines()
]


def of(*levels: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in CASES if case["level"] in levels]


def fill(root: Path) -> None:
    for name in ("same", "notes..txt", *(f"a{n}" for n in range(12))):
        (root / name).write_text("text\n", encoding="utf-8")
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "file.txt").write_text("CANARY\n", encoding="utf-8")
    (root.parent / "outside.txt").write_text("CANARY\n", encoding="utf-8")
    (root / "link-to-outside").symlink_to(outside)


async def run(
    case: dict[str, Any], workspace: Path, journal: LoggedJournal
) -> tuple[str, str, ScriptedChat, list[dict[str, Any]]]:
    """Kind of ending, answer or error, the chat, and the calls that were begun."""
    fill(workspace)
    chat = ScriptedChat(case.get("script") or [case["reply"], "The end."])
    options = {key: value for key, value in case.get("options", {}).items() if key == "max_iterations"}
    async with LLMManager(workspace, chat=chat, journal=journal, **options) as llm:
        try:
            kind, text = "text", await llm.call("Go")
        except TabferryError as error:
            kind, text = "error", str(error)
    starts = {event.call for event in await journal.events(limit=500) if event.type == "call.started"}
    parsed = [event for event in await journal.events(limit=500) if event.type == "call.parsed"]
    calls = [{"name": event.data["tool"], "args": event.data["args"]} for event in parsed if event.call in starts]
    return kind, text, chat, calls


@pytest.mark.requirement("T25", "T28", "T34", "T35")
@pytest.mark.parametrize("case", of("loop"))
async def test_a_loop(case: dict[str, Any], workspace: Path, journal: LoggedJournal) -> None:
    expect = case["expect"]
    kind, text, chat, calls = await run(case, workspace, journal)
    assert kind == expect["kind"]
    assert text == expect.get("final", text)
    if case.get("compare") != "no_crash":
        assert calls == expect["calls"]
    for typed in chat.typed[1:]:
        assert typed.startswith(expect.get("wire_prefix", ""))
        result = json.loads(typed.removeprefix("TOOL_RESULT: "))
        assert result.items() >= expect.get("wire_json", {}).items()


@pytest.mark.requirement("T19", "T39", "T40")
@pytest.mark.parametrize("case", of("execute", "validate"))
async def test_one_reply_that_is_run(case: dict[str, Any], workspace: Path, journal: LoggedJournal) -> None:
    expect = case["expect"]
    kind, _, chat, calls = await run(case, workspace, journal)
    assert kind == "text"  # nothing is raised out of the loop
    assert "CANARY" not in "".join(chat.typed)
    if case["level"] == "validate":
        assert chat.typed[1].startswith("TOOL_ERROR: Unknown tool: ")
        return
    result = json.loads(chat.typed[1].removeprefix("TOOL_RESULT: "))
    assert result["success"] is (expect["kind"] == "tool_calls" and expect.get("result", {}).get("success", True))
    assert result.items() >= expect.get("result", {}).items()
    if expect["kind"] == "tool_calls":
        assert calls == expect["calls"]


async def test_nothing_of_a_refused_call_was_begun(workspace: Path, journal: LoggedJournal) -> None:
    [case] = [case for case in CASES if case["id"] == "tc-096"]
    _, _, _, calls = await run(case, workspace, journal)
    assert calls == []
    [denied] = await data(journal, "call.denied")
    assert denied["by"] == "policy"
