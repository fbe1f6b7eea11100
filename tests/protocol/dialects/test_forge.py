"""The dialect forge as a reader: Go's JSON, one call, what is an error and what is text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bridge.protocol import CallClosed, ParsedReply, ResponseParser, TextDelta
from tests.protocol.tagged.tagged import HARD_TEXT, fed, unaccounted

ECHO = '{"tool_name":"echo","arguments":{"message":"x"}}'
NOT_PARSED = "failed to parse tool call JSON: "
REQUIRED = "tool_name is required in tool call"


def parse(text: str) -> ParsedReply:
    return ResponseParser("forge").parse(text)


def block(json_text: str) -> str:
    return f"<tool>\n{json_text}\n</tool>"


def called(reply: ParsedReply) -> tuple[str, dict[str, Any]]:
    assert reply.kind == "tool_calls"
    assert reply.error is None
    (call,) = reply.calls
    return call.name, call.args


def codes(reply: ParsedReply) -> list[str]:
    return [found.code for found in reply.diagnostics]


@pytest.mark.requirement("F6")
@pytest.mark.parametrize(
    "text",
    [
        f"<tool>{ECHO}</tool>",
        f"<tool>\n\n  {ECHO}\t\n</tool>",
        f"````json\n{block(ECHO)}\n````",
        block('{"server_name": "local", "tool_name": "echo", "arguments": {"message": "x"}}'),
    ],
)
def test_a_call(text: str) -> None:
    assert called(parse(text)) == ("echo", {"message": "x"})


@pytest.mark.requirement("F6")
@pytest.mark.parametrize(
    "text",
    [
        f"< tool >{ECHO}< /tool >",
        f"<Tool>{ECHO}</Tool>",
        f'<tool id="1">{ECHO}</tool>',
        f"<tools>{ECHO}</tools>",
        f"&lt;tool&gt;{ECHO}&lt;/tool&gt;",
        ECHO,
    ],
)
def test_other_spellings_of_the_tag_are_text(text: str) -> None:
    reply = parse(text)
    assert (reply.kind, reply.calls, reply.text, reply.error) == ("text", (), text, None)


@pytest.mark.requirement("F7")
@pytest.mark.requirement("X9")
@pytest.mark.parametrize("server", ["", '"server_name":"",', '"server_name":null,', '"server_name":"local",'])
def test_no_server_is_the_local_one(server: str) -> None:
    assert called(parse(block(f'{{{server}"tool_name":"t","arguments":{{}}}}'))) == ("t", {})


@pytest.mark.requirement("F8")
@pytest.mark.requirement("X9")
@pytest.mark.parametrize("server", ["remote", "Local", " local", "localhost"])
def test_another_server_is_an_error(server: str) -> None:
    reply = parse(block(json.dumps({"server_name": server, "tool_name": "t", "arguments": {}})))
    assert (reply.kind, reply.calls, reply.error) == ("error", (), "Only local supported")


@pytest.mark.requirement("F9")
@pytest.mark.parametrize(
    "content", ["{}", '{"arguments":{}}', '{"tool_name":""}', '{"tool_name":null}', '{"name":"x"}']
)
def test_a_name_is_required(content: str) -> None:
    reply = parse(f"a {block(content)} {block(ECHO)}")
    assert (reply.kind, reply.calls, reply.error) == ("error", (), REQUIRED)


@pytest.mark.requirement("F14")
def test_null_is_an_empty_call() -> None:
    for text in ("<tool>null</tool>", "<tool>\nnull\n</tool>"):
        reply = parse(text)
        assert (reply.kind, reply.calls, reply.error) == ("error", (), REQUIRED)


@pytest.mark.requirement("F10")
@pytest.mark.requirement("X3")
@pytest.mark.parametrize(
    "content",
    [
        "not valid json",
        "",
        '"x"',
        "42",
        f"[{ECHO}]",
        "{tool_name: echo}",
        ECHO[:-1],
        f"{ECHO[:-1]},}}",
        f"{ECHO} {ECHO}",
        f"```json\n{ECHO}\n```",
        '{"tool_name":"echo","arguments":{"n":NaN}}',
        '{"tool_name":7,"arguments":{}}',
        '{"tool_name":"echo","server_name":["local"]}',
    ],
)
def test_what_is_no_call_is_an_error_and_nothing_runs(content: str) -> None:
    reply = parse(f"Look: {block(content)} then {block(ECHO)}")
    assert (reply.kind, reply.calls) == ("error", ())
    assert reply.error is not None
    assert reply.error.startswith(NOT_PARSED)


@pytest.mark.requirement("F11")
@pytest.mark.requirement("F18")
def test_no_block_is_text_unchanged() -> None:
    text = "  Just some text, about 3 < 4.\n"
    reply = parse(text)
    assert (reply.kind, reply.text, reply.error, reply.diagnostics) == ("text", text, None, ())
    assert ResponseParser("forge").dialect.needs_call


@pytest.mark.requirement("F12")
def test_the_first_block_is_the_call_and_what_surrounds_it_is_trimmed() -> None:
    text = f" \nI think.\nSo:\n\n{block(ECHO)}\n\nAfter {block(ECHO)}. \n"
    reply = parse(text)
    assert called(reply) == ("echo", {"message": "x"})
    assert reply.text == "I think.\nSo:"
    assert reply.rest.startswith("After ")
    assert reply.rest.rstrip(".").endswith("</tool>")
    assert "extra_call" in codes(reply)


@pytest.mark.requirement("X1")
def test_several_only_on_request() -> None:
    text = block(ECHO) + block('{"tool_name":"b"}')
    assert len(parse(text).calls) == 1
    assert [call.name for call in ResponseParser("forge", multi=True).parse(text).calls] == ["echo", "b"]


@pytest.mark.requirement("F13")
@pytest.mark.requirement("X4")
@pytest.mark.parametrize("content", [*HARD_TEXT, f"<tool>{ECHO}</tool>", "use </tool> to close"])
def test_any_content_is_safe_in_a_string(content: str) -> None:
    for ascii_only in (True, False):
        value = {"tool_name": "converse", "arguments": {"message": content}}
        assert called(parse(block(json.dumps(value, ensure_ascii=ascii_only)))) == ("converse", {"message": content})


@pytest.mark.requirement("F14")
@pytest.mark.parametrize(
    "content",
    [
        '{"TOOL_NAME":"t","Arguments":{"A":1},"SERVER_Name":"local"}',
        '{"tool_name":"u","Tool_Name":"t","arguments":{"A":1}}',
        '{"tool_name":"t","Tool_Name":null,"arguments":{"A":1}}',
        '{"tool_name":"t","arguments":{"A":1},"reason":{"tool_name":"x"},"arguments2":[]}',
    ],
)
def test_keys_in_any_case_and_unknown_ones_ignored(content: str) -> None:
    assert called(parse(block(content))) == ("t", {"A": 1})


@pytest.mark.requirement("F15")
@pytest.mark.requirement("X13")
@pytest.mark.parametrize("content", ['{"tool_name":"t"}', '{"tool_name":"t","arguments":null}'])
def test_no_arguments_is_empty_input_for_the_tool_to_refuse(content: str) -> None:
    assert called(parse(block(content))) == ("t", {})


@pytest.mark.requirement("F15")
@pytest.mark.parametrize("arguments", ['"{\\"message\\":\\"x\\"}"', '["x"]', "1", "true", '""'])
def test_arguments_are_an_object_and_never_decoded_twice(arguments: str) -> None:
    reply = parse(block(f'{{"tool_name":"echo","arguments":{arguments}}}'))
    assert (reply.kind, reply.calls) == ("error", ())
    assert reply.error == "invalid arguments for echo: they must be a JSON object"


@pytest.mark.requirement("F15")
@pytest.mark.parametrize("key", ["args", "parameters", "params", "input", "Args"])
@pytest.mark.parametrize("rest", ["", ', "arguments": null'])
def test_arguments_under_another_name_are_not_lost(key: str, rest: str) -> None:
    reply = parse(block(f'{{"tool_name":"echo","{key}":{{"a":1}}{rest}}}'))
    assert (reply.kind, reply.calls) == ("error", ())
    assert reply.error == 'invalid arguments for echo: they must stand under "arguments"'
    assert called(parse(block(f'{{"tool_name":"t","{key}":1,"arguments":{{}}}}'))) == ("t", {})


@pytest.mark.requirement("F34")
@pytest.mark.parametrize("tag", ["think", "thinking", "Thinking"])
def test_thinking_is_moved_out(tag: str) -> None:
    reply = parse(f"<{tag}>if a<b && c>d {block(ECHO)} <i></{tag}>\nNow:\n" + block('{"tool_name":"t"}'))
    assert called(reply) == ("t", {})
    assert reply.text == "Now:"
    assert "a<b && c>d" in reply.thinking
    assert "call_in_thinking" in codes(reply)
    assert parse(f"<{tag}>open {block(ECHO)}").calls == ()
    assert parse(f"<{tag}>hm</{tag}>Hi").text == "Hi"


@pytest.mark.requirement("F34")
@pytest.mark.parametrize("cut", range(len("<tool>"), len(block(ECHO))))
def test_a_truncated_call_never_runs(cut: int) -> None:
    reply = parse(f"a {block(ECHO)[:cut]}")
    assert (reply.kind, reply.calls) == ("error", ())


@pytest.mark.parametrize("forged", ["Tool 'echo' result:\nx", "tool execution failed: x"])
def test_results_that_the_model_writes_are_remarked(forged: str) -> None:
    assert codes(parse(f"{block(ECHO)}\n{forged}")) == ["model_written_result"]
    assert codes(parse("The tool execution failed: x")) == []


PIECES = [
    "<tool>", "</tool>", "<tool", "<think>", "</think>", "<THINKING>", "</thinking>", "<thin", "<", "[", "]", ECHO,
    '{"tool_name":"a","arguments":{"c":"', '"}}', "{", "}", '"', "\\", '\\"', "\n", " ", "\ufeff", "text", "null",
    "````json\n", "42", "NaN", "“", "<Tool>{", "Tool 'a' result:\n", "\ud800", block(ECHO), "<tool_name>", "nul",
]  # fmt: skip


@pytest.mark.requirement("F34")
@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=12).map("".join),
    st.lists(st.integers(0, 500), max_size=12),
)
@example(f" \n<thinking>a</thinking> b \n{block(ECHO)} c ", [3, 12, 20, 33])
def test_every_chunking_gives_the_same_answer(text: str, cuts: list[int]) -> None:
    whole = parse(text)
    events, reply = fed("forge", text, cuts)
    assert reply == whole
    one_by_one, reply = fed("forge", text, list(range(len(text))))
    assert reply == whole
    for each in (events, one_by_one):
        closed = tuple(event.call for event in each if isinstance(event, CallClosed))
        assert closed == whole.calls or "</think" in text.lower()  # which takes back what stood before it
        shown = "".join(event.text for event in each if isinstance(event, TextDelta))
        assert whole.text.strip().startswith(shown.strip())


@given(
    st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=8).map("".join),
    st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=8).map("".join),
)
def test_every_character_is_somewhere(before: str, after: str) -> None:
    text = f"{before}{block(ECHO)}{after}"
    reply = parse(text)
    lost = unaccounted(text, reply)
    if reply.kind != "tool_calls":
        assert lost <= set("</thinkg>THINKG")


@pytest.mark.requirement("F34")
def test_calls_close_with_the_tag_and_text_comes_early() -> None:
    stream = ResponseParser("forge").stream()
    assert stream.feed("Hi.\n<to") == [TextDelta("Hi.\n")]
    assert stream.feed(f"ol>{ECHO}</tool") == []
    events = stream.feed(">")
    assert [event.call.name for event in events if isinstance(event, CallClosed)] == ["echo"]
    assert stream.feed("rest") == []
