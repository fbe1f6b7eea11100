"""OpenAI's shapes, and what all JSON dialects write."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from bridge.protocol import CallClosed, ResponseParser, ToolCall, ToolResult, dialects
from bridge.protocol.jsonform.jsonblobs import MISUNDERSTOOD
from tests.protocol.strategies import json_values
from tool_manager import ToolSpec, builtin_specs

NAMES = ("openai_json", "gemini_json", "default_json")
REFUSALS = [
    (
        "missing",
        "Missing required parameter: a.b",
        "Invalid arguments for tool 'x': Required parameter 'a.b' is missing.",
    ),
    ("type", "Expected type string, got null", "Invalid arguments for tool 'x': Expected type string, got null"),
]
KNOWN = [ToolSpec("known", "A tool")]


def read(value: Any, **options: Any) -> list[tuple[str, dict[str, Any]]]:
    reply = ResponseParser("openai_json", **options).parse(json.dumps(value))
    return [(call.name, call.args) for call in reply.calls]


A: dict[str, Any] = {"name": "a", "arguments": {"p": 1}}
B: dict[str, Any] = {"name": "b", "arguments": '{"q": "x"}'}


@pytest.mark.requirement("A18")
@pytest.mark.parametrize(
    ("value", "names"),
    [
        ({"tool_calls": [A, {"function": B}]}, "ab"),
        ({"tools": [{"function": A}]}, "a"),
        ({"tool": {"function": A}}, "a"),
        ({"tool": A}, "a"),
        ([A, B], "ab"),
        ({"function": A, "id": "call_1", "type": "function"}, "a"),
        (A, "a"),
        ({"tool_calls": [A], "tools": [B], "tool": B, **B}, "a"),
        ({"tools": [A], "tool": B, **B}, "a"),
        ({"tool": A, **B}, "a"),
        ({"tool_calls": [], "tools": [A], **A}, ""),
        ({"tool": {}, **A}, ""),
        ({"tool_calls": A, "tools": "x", "tool": None, **B}, "b"),
        ({"tool": "x", "arguments": {}}, ""),
        ({"function": "x", "arguments": {}}, ""),
        ([[A]], ""),
    ],
)
def test_shapes_and_their_precedence(value: Any, names: str) -> None:
    assert "".join(name for name, _ in read(value)) == names


@pytest.mark.requirement("A19")
@pytest.mark.parametrize("arguments", [None, "", " ", {}, "{}"])
def test_no_arguments_are_an_empty_object(arguments: Any) -> None:
    assert read({"name": "a", "arguments": arguments}) == [("a", {})]
    assert read([{"function": {"name": "a"}, "id": "1", "type": "function"}]) == [("a", {})]


@pytest.mark.requirement("A19")
@pytest.mark.parametrize(
    ("item", "is_meant"),
    [
        ({"name": "a", "arguments": 123}, True),
        ({"name": "a", "arguments": "[1]"}, True),
        ({"name": "a", "arguments": "null"}, True),
        ({"name": "a", "arguments": [1]}, True),
        ({"name": 5, "arguments": {}}, True),
        ({"name": "", "arguments": {}}, True),
        ({"arguments": {}}, True),
        ({"function": {"name": 5}}, False),
        ({"function": {}}, False),
        (5, False),
        (None, False),
        ({"type": "function", "function": {"name": "known", "description": "d", "parameters": {}}}, False),
    ],
)
def test_items_that_are_no_call_are_left_out(item: Any, is_meant: bool) -> None:
    assert read({"tool_calls": [item, A]}, tools=KNOWN) == [("a", {"p": 1})]
    reply = ResponseParser("openai_json").parse(text := json.dumps([item]))
    assert (reply.kind, reply.text) == ("text", text)
    assert (reply.problem is not None and reply.problem.reason == "shape") is is_meant


@pytest.mark.requirement("A19")
def test_a_string_is_decoded_once() -> None:
    assert read({"name": "a", "arguments": '{"x": "{\\"y\\": 1}"}'}) == [("a", {"x": '{"y": 1}'})]


@pytest.mark.requirement("A20")
@pytest.mark.requirement("A36")
@pytest.mark.parametrize(
    "arguments", ['{"k": "no end', "oops", "{'a': 1}", '{"a": NaN}', '{"a":' * 300 + "1" + "}" * 300]
)
def test_arguments_that_are_no_json_void_the_reply(arguments: str) -> None:
    bad = json.dumps({"name": "b", "arguments": arguments})
    for text in (
        bad,
        f"Hi\n{json.dumps(A)}\n{bad}\n{json.dumps(A)}",
        json.dumps({"tool_calls": [A, json.loads(bad), A]}),
    ):
        for size in (1, 10**6):
            stream = ResponseParser("openai_json").stream()
            events = [event for at in range(0, len(text), size) for event in stream.feed(text[at : at + size])]
            reply = stream.close()
            assert (reply.kind, reply.calls, reply.text, reply.rest) == ("error", (), text, "")
            assert not [event for event in events if isinstance(event, CallClosed)]
            assert reply.error is not None and reply.error.startswith(f"{MISUNDERSTOOD} It stands at line ")
            assert reply.problem is not None and "arguments" in reply.problem.message


@pytest.mark.requirement("A20")
def test_many_remarks_do_not_hide_why() -> None:
    reply = ResponseParser("openai_json").parse('{"arguments":1}\n' * 80 + '{"name":"b","arguments":"x"}')
    assert "line 81, column 1: the string" in (reply.error or "")
    assert len(reply.diagnostics) == 50


@pytest.mark.requirement("A21")
def test_a_bare_name_is_a_call_only_of_a_tool_that_exists() -> None:
    for value in ({"name": "Bob", "age": 3}, {"name": "known"}, [{"name": "known"}]):
        assert read(value) == []
        assert read(value, tools=KNOWN) == ([] if "age" in value else [("known", {})])
    assert read({"name": "Bob", "arguments": {}}, tools=KNOWN) == [("Bob", {})]
    assert read({"tool": {"name": "Bob"}}, tools=KNOWN) == [("Bob", {})]


@pytest.mark.requirement("A9")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("openai_json", {"type": "function", "function": {"name": "t", "description": "d", "parameters": {"x": 1}}}),
        ("gemini_json", {"name": "t", "description": "d", "parameters": {"x": 1}}),
        ("default_json", {"name": "t", "description": "d", "inputSchema": {"x": 1}}),
    ],
)
def test_schemas(name: str, expected: Any) -> None:
    text = dialects.get(name).tool_text(ToolSpec("t", "d", {"x": 1}))
    assert json.JSONDecoder().raw_decode(text.removeprefix("## Tool Definition:\n"))[0] == expected
    empty = dialects.get(name).tool_text(ToolSpec("t", "d", {}))
    assert json.dumps({"type": "object", "properties": {}, "required": []})[1:30] in " ".join(empty.split())


@pytest.mark.requirement("A10")
@pytest.mark.requirement("A14")
@pytest.mark.parametrize("name", NAMES)
def test_the_manifest_and_its_examples(name: str) -> None:
    dialect = dialects.get(name)
    bad = [ToolSpec("bad", "d", {"properties": 5}), ToolSpec(" ", "d"), ToolSpec("nan", "d", {"x": float("nan")})]
    manifest = dialect.manifest([*builtin_specs(), *bad])
    assert sorted(manifest.skipped) == [" ", "bad", "nan"]
    assert manifest.text == "\n\n---\n\n".join(manifest.texts.values())
    optional = "### Example 2: Advanced Call (With Optional Arguments)\n````json\n"
    for tool in builtin_specs():
        text = manifest.texts[tool.name]
        assert "\n\nExample: To use this tool, you could provide the following JSON object as a tool call:\n\n" in text
        assert "\n\n### Example 1: Basic Call (Required Arguments)\n````json\n" in text
        has_optional = len(tool.parameters["required"]) < len(tool.parameters["properties"])
        assert (optional in text) or not has_optional
        reply = ResponseParser(name).parse(text[text.index("### Example 1") :])
        assert [call.name for call in reply.calls] == [tool.name] * text.count("### Example")
    assert "---" not in dialect.manifest(builtin_specs()[:1]).text


@pytest.mark.requirement("A14")
@pytest.mark.parametrize("name", NAMES)
def test_a_definition_that_is_quoted_is_no_call(name: str) -> None:
    for tool in builtin_specs():
        text = dialects.get(name).tool_text(tool)
        assert ResponseParser(name, tools=[tool]).parse(text[: text.index("Example")]).calls == ()


@pytest.mark.requirement("A11")
@pytest.mark.parametrize("name", NAMES)
@given(args=json_values().map(lambda value: {"a": value, "\x7f": "```\n<think>"}))
def test_written_calls_parse_back(name: str, args: dict[str, Any]) -> None:
    calls = [ToolCall.of("one", args), ToolCall.of("tw\x7fo", {}), ToolCall.of("three", {"b": args})]
    dialect = dialects.get(name)
    text = dialect.format_calls(calls)
    assert ResponseParser(name).parse(f"Now.\n{text}\nDone.").calls == tuple(calls)
    assert text.isascii() and text.count("\n") == 8
    assert dialect.format_call(calls[0]).startswith("````json\n{")


@pytest.mark.requirement("A37")
@pytest.mark.parametrize("name", NAMES)
def test_results_are_one_message_without_a_call(name: str) -> None:
    dialect, call = dialects.get(name), ToolCall.of("one", {})
    written = dialect.format_call(call)
    message = dialect.results_message([(call, ToolResult.ok(written)), (call, ToolResult.fail(written))])
    assert message.startswith("The following tool executions have completed.")
    assert message.index("Status: Success") < message.index("Status: Error")
    assert dialect.result_message(call, ToolResult.ok(1)).count("Tool: one") == 1
    assert ResponseParser(name, tools=KNOWN).parse(message).calls == ()


@pytest.mark.requirement("X15")
@pytest.mark.parametrize("name", NAMES)
def test_refusals_in_the_words_of_the_document(name: str) -> None:
    dialect, call = dialects.get(name), ToolCall.of("x", {})
    assert dialect.invalid_text(call, "unknown_tool", "e") == "No tool definition found for name 'x'"
    for code, error, told in REFUSALS:
        assert dialect.invalid_text(call, code, error) == told
    assert dialect.invalid_text(call, "other", "e") == "e"
    written = dialect.format_call(call)
    for message in (dialect.error_message(written), dialect.error_message("e", written)):
        assert ResponseParser(name).parse(message).calls == ()


@pytest.mark.parametrize("name", NAMES)
def test_the_instructions_show_the_dialects_own_call(name: str) -> None:
    dialect = dialects.get(name)
    for names, count in (([], 1), (["read_file"], 2)):
        reply = ResponseParser(name).parse(dialect.instructions(names))
        assert [call.name for call in reply.calls] == ["tool_name", "read_file"][:count]
    assert dialect.several and dialect.executes
    assert dialect.closed_block_is_final is (name != "openai_json")
    correction = dialect.correction_message(ResponseParser(name).parse('{"tool":{"function":{"name":"a","args":{"b'))
    assert len(ResponseParser(name).parse(correction).calls) == 1


def test_a_correction_quotes_no_call() -> None:
    reply = ResponseParser("gemini_json").parse('[{"name":"y","args":{}} {"name":"z","args":{}}]')
    assert reply.problem is not None and '{"name"' in reply.problem.message
    message = dialects.get("gemini_json").correction_message(reply)
    assert [call.name for call in ResponseParser("gemini_json").parse(message).calls] == ["tool_name"]


@pytest.mark.requirement("A19")
@pytest.mark.parametrize(
    ("value", "is_told"),
    [
        ([{"function": {"name": "a"}, "name": "b", "arguments": {"x": 1}}], True),
        ({"tool": {"name": "a", "args": {"x": 1}}}, True),
        ({"tool": {"name": "a"}, "input": {"x": 1}}, True),
        ({"tool_calls": [{"name": "a", "args": {"x": 1}}]}, True),
        ({"name": "known", "version": "1.0"}, True),
        ({"role": "tool_result", "name": "known", "content": "x"}, True),
        ({"name": "unknown", "version": "1.0"}, False),
        ({"tools": [{"name": "known", "parameters": {}}]}, False),
    ],
)
def test_arguments_that_stand_elsewhere_are_not_lost(value: Any, is_told: bool) -> None:
    reply = ResponseParser("openai_json", tools=KNOWN).parse(json.dumps(value))
    assert (reply.calls, reply.problem is not None) == ((), is_told)
