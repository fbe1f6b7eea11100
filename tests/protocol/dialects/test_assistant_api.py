"""A request is the whole message, or it is text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.protocol import CallClosed, ResponseParser, TextDelta, ToolCall, ToolResult, dialects
from tests.protocol.strategies import json_values

PARSER, DIALECT = ResponseParser("assistant_api"), dialects.get("assistant_api")
REQUEST = '{"tool_request": {"name": "x", "arguments": {"a": 1}}}'


def message(**request: Any) -> str:
    return json.dumps({"tool_request": request})


def args(text: str) -> str:
    return f'{{"tool_request":{{"name":"x","arguments":{text}}}}}'


@pytest.mark.requirement("S1")
@pytest.mark.requirement("S2")
@pytest.mark.requirement("S4")
@pytest.mark.parametrize(
    ("text", "call"),
    [
        (f" \t\r\n{REQUEST}\n ", ToolCall.of("x", {"a": 1})),
        (message(arguments={}, name=" x "), ToolCall.of(" x ", {})),
        (message(name="x"), ToolCall.of("x", {})),
        ('{"tool\\u005frequest":{"name":"x"}}', ToolCall.of("x", {})),
    ],
)
def test_a_request(text: str, call: ToolCall) -> None:
    reply = PARSER.parse(text)
    assert (reply.kind, reply.calls, reply.text) == ("tool_calls", (call,), "")


@pytest.mark.requirement("S3")
@pytest.mark.requirement("S4")
@pytest.mark.requirement("S5")
@pytest.mark.parametrize(
    "text",
    [
        "", " ", "Hi", f"Sure! {REQUEST}", f"{REQUEST}.", REQUEST * 2, f"```json\n{REQUEST}\n```", f"[{REQUEST}]",
        REQUEST[:-1], f"\ufeff{REQUEST}", f"\u00a0{REQUEST}", f"{REQUEST}\u00a0", f"<think></think>{REQUEST}", "{",
        "[]", "null", "{}", '{"tool_request": null}', '{"tool_request": [{"name": "x"}]}', message(),
        message(arguments={}), message(name=""), message(name=" \n"), message(name=7),
        message(name="x", arguments=None), message(name="x", arguments=[]), message(name="x", arguments="{}"),
        message(name="x", arguments={}, id=1),
        REQUEST[:-1] + ', "reasoning": "r"}', '{"tool_request":{"name":"x"},"tool_request":{"name":"x"}}',
        '{"tool_request":{"name":"x","name":"x"}}', args('{"a":1,"a":1}'), args('{"a":[{"b":1,"b":2}]}'),
        args('{"a":NaN}'), args('{"a":1e999}'), args('{"a":"\\d"}'), args('{"a":' + "9" * 6000 + "}"),
        args('{"a":' + "[" * 300 + "]" * 300 + "}"), '{"a":' * 100_000, "[" * 100_000,
        "{'tool_request':{'name':'x','arguments':{}}}",
    ],
)  # fmt: skip
def test_everything_else_is_text_and_no_fault(text: str) -> None:
    reply = PARSER.parse(text)
    assert (reply.kind, reply.text, reply.calls, reply.error, reply.diagnostics) == ("text", text, (), None, ())


@pytest.mark.requirement("S5")
@given(st.text(st.sampled_from('{}[]":, \n\\x1') | st.characters(exclude_categories=())), st.integers(1, 5))
def test_any_text_in_pieces(text: str, size: int) -> None:
    for whole in (text, REQUEST + text, f"{text}{REQUEST}", REQUEST[:20] + text + REQUEST[20:]):
        stream = PARSER.stream()
        events = [event for at in range(0, len(whole), size) for event in stream.feed(whole[at : at + size])]
        reply = stream.close()
        assert reply == PARSER.parse(whole) == stream.close()
        shown = "".join(event.text for event in events if isinstance(event, TextDelta))
        assert whole.startswith(shown) and (reply.kind == "text" or not shown)
        assert not [event for event in events if isinstance(event, CallClosed)]


@pytest.mark.requirement("S1")
def test_text_is_held_only_while_it_can_be_a_request() -> None:
    stream = PARSER.stream()
    assert stream.feed("\n {") == stream.feed('"a":') == stream.feed("") == []
    assert stream.feed("x") == [TextDelta('\n {"a":x')]
    assert stream.feed("") == []
    assert stream.feed(REQUEST) == [TextDelta(REQUEST)]
    stream = PARSER.stream()
    assert stream.feed(REQUEST) == stream.feed(" \n") == []
    assert stream.feed(" .") == [TextDelta(REQUEST + " \n .")]
    stream.close()
    with pytest.raises(ValueError, match="closed"):
        stream.feed("")


@pytest.mark.requirement("A11")
@given(st.text(min_size=1).filter(str.strip), json_values())
def test_a_written_request_parses_back(name: str, value: Any) -> None:
    call = ToolCall.of(name, {"a": value, "\x7f": "\x7f"})
    text = DIALECT.format_call(call)
    assert PARSER.parse(text).calls == (call,)
    assert text.isascii() and text.isprintable()


@pytest.mark.requirement("S11")
@pytest.mark.requirement("S19")
@pytest.mark.parametrize(
    ("result", "content"),
    [
        (ToolResult.ok("18°C"), "18°C"),
        (ToolResult.ok({"t": [1]}), {"t": [1]}),
        (ToolResult.ok(json.loads(REQUEST)), json.loads(REQUEST)),
        (ToolResult.fail("no"), "Error: no"),
        (ToolResult.fail(""), "Error: The tool failed without saying why."),
    ],
)
def test_a_result_is_a_message_and_no_request(result: ToolResult, content: Any) -> None:
    text = DIALECT.result_message(ToolCall.of("x", {}), result)
    assert json.loads(text) == {"role": "tool_result", "name": "x", "content": content}
    assert "\n" not in text
    assert PARSER.parse(text).kind == "text"


@pytest.mark.requirement("S18")
@pytest.mark.requirement("X17")
def test_it_never_executes() -> None:
    assert not DIALECT.executes
    assert not DIALECT.several
    assert message(name="read_file", arguments={"path": "package.json"}) in DIALECT.instructions(["read_file"])
    assert "read_file" not in DIALECT.instructions([])
