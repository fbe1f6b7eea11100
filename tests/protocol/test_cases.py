"""The cases of all dialects, at every level: a reply parsed, validated, run, a loop of replies, a session."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from bridge.agent import LLMManager
from bridge.agent.limits import MAX_ITERATIONS
from bridge.errors import TabferryError
from bridge.protocol import CallClosed, ParsedReply, ResponseParser, TextDelta, dialects
from bridge.protocol.pending import PendingConversation, Refused, Response
from tests.agent.scripted import LoggedJournal, ScriptedChat
from tests.protocol.cases import CASES, Case, check_calls, dialect_of, exact, expanded, of, plain_calls
from tests.protocol.fixture_tools import add_fixtures, fill
from tool_manager import ToolManager, ToolResult

ONE_BY_ONE = 100_000
"""The longest reply that is fed character by character."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    workspace = tmp_path / "ws"
    workspace.mkdir()
    fill(workspace)
    return workspace


@pytest.fixture
async def manager(root: Path) -> AsyncIterator[ToolManager]:
    async with ToolManager(root, approve="auto") as manager:
        add_fixtures(manager, root)
        yield manager


def parser_of(case: Case, manager: ToolManager | None = None) -> ResponseParser:
    multi = case.get("options", {}).get("multi", False)
    return ResponseParser(dialect_of(case), multi=multi, tools=manager.specs() if manager else None)


def check_reply(case: Case, text: str, reply: ParsedReply) -> None:
    expect = expanded(case, case["expect"])
    check_calls(case, plain_calls(reply))
    if case.get("compare") == "no_crash":
        assert reply.kind != "tool_calls"
        return
    assert reply.kind == expect["kind"]
    assert (reply.error is not None) is (reply.kind == "error")
    assert reply.text == expect.get("text", expect.get("text_before", reply.text))
    assert reply.rest == expect.get("text_after", reply.rest)
    if reply.kind == "text" and "text" not in expect:
        assert reply.text == text
    if "reasoning" in expect:
        assert reply.calls[0].reasoning == expect["reasoning"]
    if "diagnostic" in expect:
        assert expect["diagnostic"] in [found.code for found in reply.diagnostics]


@pytest.mark.parametrize("case", of("parse"))
def test_a_reply_is_parsed(case: Case) -> None:
    text = expanded(case, case["reply"])
    check_reply(case, text, parser_of(case).parse(text))


@pytest.mark.requirement("C27")
@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("case", of("parse"))
def test_a_reply_in_pieces_is_the_same_reply(case: Case, size: int) -> None:
    text, parser = expanded(case, case["reply"]), parser_of(case)
    size = max(size, len(text) // ONE_BY_ONE)
    stream = parser.stream()
    events = [event for at in range(0, len(text), size) for event in stream.feed(text[at : at + size])]
    reply = stream.close()
    assert reply == parser.parse(text)
    closed = tuple(event.call for event in events if isinstance(event, CallClosed))
    assert closed in ((), reply.calls) or "call_in_thinking" in [found.code for found in reply.diagnostics]
    shown = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert reply.kind == "tool_calls" or reply.text.startswith(shown)


async def outcome(case: Case, manager: ToolManager) -> tuple[ParsedReply, list[ToolResult]]:
    """What `case`'s reply means where the tools are known, and what came of its calls."""
    reply = parser_of(case, manager).parse(expanded(case, case["reply"]))
    return reply, await manager.execute_batch(reply.calls)


@pytest.mark.parametrize("case", of("validate"))
async def test_a_call_is_validated(case: Case, manager: ToolManager) -> None:
    reply = parser_of(case, manager).parse(expanded(case, case["reply"]))
    prepared = [await manager.prepare(call) for call in reply.calls]
    is_valid = bool(prepared) and all(each.decision != "invalid" for each in prepared)
    assert is_valid is (case["expect"]["kind"] == "tool_calls")
    if is_valid:
        check_calls(case, [{"name": each.call.name, "args": each.call.args} for each in prepared])
    if "error" in case["expect"]:
        assert case["expect"]["error"] in (reply.error or "", *(each.reason for each in prepared))


@pytest.mark.parametrize("case", of("execute"))
async def test_a_reply_is_run(case: Case, manager: ToolManager, root: Path) -> None:
    reply, results = await outcome(case, manager)
    expect = json.loads(json.dumps(case["expect"]).replace("@WORKSPACE@", str(root)))
    assert reply.calls
    typed = parser_of(case).dialect.results_message(list(zip(reply.calls, results, strict=True)))
    assert "CANARY" not in typed + repr(results)
    if expect["kind"] == "tool_calls":
        check_calls(case, plain_calls(reply))
    assert len(results) == len(reply.calls)
    check_results(expect, results)
    check_wire(expect, [typed])
    if "stops_loop" in expect:
        assert bool(definition_breaks(manager, reply.calls[0].name)) is expect["stops_loop"]


def definition_breaks(manager: ToolManager, name: str) -> bool:
    definition = manager.tool(name)
    return definition is not None and definition.loop_breaking


def check_results(expect: dict[str, Any], results: Sequence[ToolResult]) -> None:
    first = results[0]
    seen = {"success": first.success, "data": first.data, "error": first.error}
    assert seen.items() >= {"success": expect["kind"] == "tool_calls", **expect.get("result", {})}.items()
    if "error" in expect:
        assert first.error is not None and expect["error"] in first.error
    if "result_text" in expect:
        assert expect["result_text"] == first.data or expect["result_text"] in exact(first.data)
    if "results" in expect:
        contents = [each.data if each.success else each.error for each in results]
        assert exact(contents) == exact([each["content"] for each in expect["results"]])


def check_wire(expect: dict[str, Any], typed: Sequence[str]) -> None:
    """What is typed back is what `expect` says, each message of it."""
    for message in typed:
        assert message.startswith(expect.get("wire_prefix", ""))
        for part in expect.get("wire_contains", ()):
            assert part in message
        at = 0
        for part in expect.get("wire_order", ()):
            at = message.index(part, at) + len(part)
        if "wire_json" in expect:
            assert json.loads(message.removeprefix(expect["wire_prefix"])).items() >= expect["wire_json"].items()
        if "results" in expect:
            body = message.split("<results>")[1].split("</results>")[0]
            assert exact(json.loads(body)) == exact(expect["results"])


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[LoggedJournal]:
    opened = LoggedJournal.at(tmp_path)
    yield opened
    await opened.close()


@pytest.mark.parametrize("case", of("loop"))
async def test_a_loop(case: Case, root: Path, manager: ToolManager, journal: LoggedJournal) -> None:
    expect, chat = case["expect"], ScriptedChat(case["script"])
    dialect, most = dialect_of(case), case.get("options", {}).get("max_iterations", MAX_ITERATIONS)
    async with LLMManager(root, chat=chat, journal=journal, dialect=dialect, tools=manager, max_iterations=most) as llm:
        try:
            kind, final = "text", await llm.call("Go")
        except TabferryError as error:
            kind, final = "error", str(error)
    assert (kind, final) == (expect["kind"], expect.get("final", final))
    assert not [part for part in expect.get("final_must_not_contain", ()) if part in final]
    check_calls(case, await begun(journal))
    check_wire(expect, chat.typed[1:])


async def begun(journal: LoggedJournal) -> list[dict[str, Any]]:
    """The calls that were really begun, in the order of the reply."""
    events = await journal.events(limit=10_000)
    started = {event.call for event in events if event.type == "call.started"}
    parsed = [event for event in events if event.type == "call.parsed" and event.call in started]
    return [{"name": event.data["tool"], "args": event.data["args"]} for event in parsed]


@pytest.mark.parametrize("case", of("session"))
def test_a_session(case: Case) -> None:
    conversation = PendingConversation()
    for turn in case["session"]:
        prompt, expect = conversation.request(turn["request"]["messages"]), turn.get("expect", {})
        if isinstance(prompt, Refused):
            assert prompt.status == expect["status"]
            continue
        assert "status" not in expect
        assert [part for part in turn.get("prompt_must_contain", ()) if part not in prompt.text] == []
        assert [part for part in turn.get("prompt_must_not_contain", ()) if part in prompt.text] == []
        if turn.get("fails"):
            conversation.failed()
        else:
            check_response(conversation.reply(turn["llm"]), expect)
        assert conversation.pending is expect.get("pending", conversation.pending)


def check_response(response: Response, expect: dict[str, Any]) -> None:
    assert response.content == expect.get("content", response.content)
    assert response.tool_request == expect.get("tool_request", response.tool_request)
    assert (response.content == "") >= (response.tool_request is not None)


def test_cases_are_many_and_each_names_its_requirements() -> None:
    assert len(CASES) > 250
    assert [case["id"] for case in CASES if not case["requirements"]] == []
    assert len({case["id"] for case in CASES}) == len(CASES)


def test_every_dialect_has_cases() -> None:
    named = {dialect_of(case) for case in CASES}
    assert set(dialects.names()) - named == set()
