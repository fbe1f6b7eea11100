from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.protocol import ParsedReply, ResponseParser, dialects
from bridge.protocol.history import Entry, Message, Replied, Returned, Said, rebuild, stored
from tool_manager.models import ToolCall, ToolResult, ToolSpec

DIALECTS = dialects.names()
TOOLS = [ToolSpec(name, name) for name in ("read_file", "write_file", "echo")]

texts = st.text(st.characters(codec="utf-8", exclude_characters="<>`~{}[]&"), max_size=40)
values = st.text(st.characters(codec="utf-8"), max_size=40)
args = st.dictionaries(st.sampled_from(["path", "content", "message"]), values, max_size=3)
calls = st.lists(st.builds(ToolCall.of, st.sampled_from(["read_file", "write_file", "echo"]), args), max_size=3)


def read(dialect: str, text: str) -> ParsedReply:
    return ResponseParser(dialect, tools=TOOLS).parse(text)


def from_json(entry: Replied) -> Replied:
    """`entry` as a journal would give it back."""
    if entry.calls is None:
        return entry
    kept = json.loads(json.dumps([[call.name, call.args, call.reasoning] for call in entry.calls]))
    return Replied(entry.text, tuple(ToolCall.of(*each) for each in kept), entry.thinking)


@pytest.mark.requirement("A11", "C29")
@pytest.mark.parametrize("name", DIALECTS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(said=texts, thinking=texts, batch=calls)
def test_what_is_rebuilt_parses_to_what_was_stored(name: str, said: str, thinking: str, batch: list[ToolCall]) -> None:
    dialect = dialects.get(name)
    before = f"<{dialect.thinking_tag}>{thinking}</{dialect.thinking_tag}>{said}" if dialect.several else said
    written = dialect.format_calls(batch if dialect.several else batch[:1]) if batch else ""
    kept = stored(read(name, f"{before}\n\n{written}" if before and name != "assistant_api" else written))
    assert kept is not None
    [*_, message] = rebuild([Said("Go"), from_json(kept)], dialect) or [Message("user", "")]
    again = stored(read(name, message.content if message.role == "assistant" else ""))
    assert again == kept


@pytest.mark.requirement("C29")
@pytest.mark.parametrize("name", DIALECTS)
@given(calls)
def test_every_call_comes_back(name: str, batch: list[ToolCall]) -> None:
    dialect = dialects.get(name)
    wanted = batch if dialect.several else batch[:1]
    if not wanted:
        return
    [message] = rebuild([Replied("", tuple(wanted))], dialect)
    assert read(name, message.content).calls == tuple(wanted)


A, B = ToolCall.of("echo", {"message": "a"}), ToolCall.of("echo", {"message": "b"})


def cogency(*entries: Entry) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in rebuild(entries, dialects.get("cogency"))]


def block(*batch: ToolCall) -> str:
    return dialects.get("cogency").format_calls(batch)


def results(*outcomes: tuple[ToolCall, Any]) -> str:
    return dialects.get("cogency").results_message([(call, ToolResult.ok(data)) for call, data in outcomes])


def returned(*batch: ToolCall) -> Returned:
    return Returned(tuple((call, ToolResult.ok(1)) for call in batch))


@pytest.mark.requirement("C29")
@pytest.mark.parametrize(
    ("entries", "messages"),
    [
        ([], []),
        ([Replied()], []),
        ([Said("Go"), Replied("Yes.")], [("user", "Go"), ("assistant", "Yes.")]),
        ([Replied("Yes.", None, "Hm")], [("assistant", "<think>Hm</think>Yes.")]),
        ([Replied("So:", (A, B), "Hm")], [("assistant", f"<think>Hm</think>So:\n\n{block(A, B)}")]),
        ([Replied(calls=(A,)), returned(A)], [("assistant", block(A)), ("user", results((A, 1)))]),
        ([Replied(calls=()), Returned()], [("assistant", block()), ("user", results())]),
        ([returned(A)], [("user", results((A, 1)))]),
        ([Replied(calls=(A,)), Returned(text="as typed")], [("assistant", block(A)), ("user", "as typed")]),
        ([Replied(calls=(A,)), Replied(calls=(B,))], [("assistant", block(A)), ("assistant", block(B))]),
        ([Replied("So:", (A,)), Said("Stop")], [("assistant", "So:"), ("user", "Stop")]),
        ([Replied(calls=(A,)), Said("Stop")], [("user", "Stop")]),
    ],
)
def test_what_becomes_of_the_entries(entries: Sequence[Entry], messages: list[tuple[str, str]]) -> None:
    assert cogency(*entries) == messages


@pytest.mark.requirement("T29")
def test_results_that_the_model_wrote_itself_are_not_stored() -> None:
    call = dialects.get("tool_call").format_call(A)
    kept = stored(read("tool_call", f'So:\n\n{call}\nTOOL_RESULT: {{"success": true}}\nDone.'))
    assert kept == Replied("So:", (A,))


@pytest.mark.requirement("C29")
def test_a_reply_that_could_not_be_used_is_not_stored() -> None:
    reply = read("cogency", "<execute>{</execute>")
    assert (reply.kind, stored(reply)) == ("error", None)
