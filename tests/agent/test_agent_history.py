from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bridge.agent.history import call_data, history
from bridge.journal import Event
from bridge.protocol import ResponseParser, dialects
from bridge.protocol.history import Replied, Returned, Said, rebuild
from tests.agent.scripted import LoggedJournal, drive, written
from tool_manager.models import ToolCall

READ = ("read_file", {"path": "package.json"})
LIST = ("list_files", {"directory": "."})


def event(type: str, **data: Any) -> Event:
    return Event("j", 1, 0.0, "s", type, task="t", data=data)


@pytest.mark.requirement("C29", "C32", "F16")
@pytest.mark.parametrize("name", [name for name in dialects.names() if dialects.get(name).executes])
async def test_a_session_is_written_again_as_it_was(name: str, workspace: Path, journal: LoggedJournal) -> None:
    dialect = dialects.get(name)
    calls = [READ, LIST] if dialect.several else [READ]
    replies = [f"First I read.\n\n{written(name, *calls)}", "It is 1.0.0."]
    if dialect.needs_call:
        replies[1] = written(name, ("converse", {"message": "It is 1.0.0."}))
    run = await drive(workspace, journal, replies, dialect=name, task="Which version?")
    entries = history(await journal.events(limit=1000))
    messages = rebuild(entries, dialect)
    assert [message.role for message in messages] == ["user", "assistant", "user", "assistant"]
    assert (messages[0].content, messages[2].content) == ("Which version?", run.chat.typed[1])
    assert messages[3].content == "It is 1.0.0."
    parser = ResponseParser(name)
    first, again = parser.parse(replies[0]), parser.parse(messages[1].content)
    assert first.calls
    assert (again.calls, again.prose.strip()) == (first.calls, "First I read.")


@pytest.mark.requirement("C1", "C29")
async def test_thinking_is_kept_and_wrapped_again(workspace: Path, journal: LoggedJournal) -> None:
    reply = f"<think>Hm</think>{written('cogency', READ)}"
    await drive(workspace, journal, [reply, "<think>So</think>Done."], dialect="cogency")
    entries = history(await journal.events(limit=1000))
    assert [entry.thinking for entry in entries if isinstance(entry, Replied)] == ["Hm", "So"]
    assert rebuild(entries, dialects.get("cogency"))[-1].content == "<think>So</think>Done."


@pytest.mark.requirement("C29")
async def test_corrections_are_forgotten(workspace: Path, journal: LoggedJournal) -> None:
    await drive(workspace, journal, ["<TOOL_CALL>\n{", "Done."])
    assert history(await journal.events(limit=1000)) == [Said("Do it"), Replied("Done.")]


@pytest.mark.requirement("C7")
async def test_an_empty_batch_is_kept(workspace: Path, journal: LoggedJournal) -> None:
    run = await drive(workspace, journal, [written("cogency"), "Done."], dialect="cogency")
    assert history(await journal.events(limit=1000))[1:3] == [Replied(calls=()), Returned(text=run.chat.typed[1])]


@pytest.mark.requirement("C29")
def test_a_call_that_cannot_be_read_is_skipped() -> None:
    events = [
        event("reply.done", text="So:", kind="tool_calls"),
        event("call.parsed", tool=7, args={}),
        event("call.parsed", tool="echo", args=[]),
        event("call.parsed", tool="echo", args={"message": "a"}, reasoning=None),
    ]
    assert history(events) == [Replied("So:", (ToolCall.of("echo", {"message": "a"}),))]


def test_a_reply_that_is_an_error_is_no_part_of_it() -> None:
    assert history([event("reply.done", text="<execute>{", kind="error")]) == []


@pytest.mark.requirement("A38")
def test_how_arguments_were_written_is_kept() -> None:
    call = ToolCall.of("echo", {"message": [1.1]}, written={("message", 0): "1.10"})
    assert call_data(call)["written"] == [[["message", 0], "1.10"]]
    [entry] = history([event("reply.done", text="", kind="tool_calls"), event("call.parsed", **call_data(call))])
    assert isinstance(entry, Replied)
    assert entry.calls is not None
    assert entry.calls[0].written == {("message", 0): "1.10"}
