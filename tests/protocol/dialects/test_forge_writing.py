"""The dialect forge as a writer: calls, results, recovery texts, the prompt."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given

from bridge.protocol import ResponseParser, ToolCall, ToolResult, dialects, limits
from tests.protocol.tagged.tagged import HARD_TEXT, arguments, hard_text, nested, values
from tool_manager.models import ToolSpec

FORGE = dialects.get("forge")
PARSER = ResponseParser("forge")
CALL = ToolCall.of("calculator", {"a": 1})
MUST = "you must use a tool in every response."


@pytest.mark.requirement("A11")
@given(hard_text.filter(bool), arguments)
@example("x", {"deep": nested(limits.MAX_DEPTH - 3)})
def test_a_formatted_call_parses_back(name: str, args: dict[str, Any]) -> None:
    call = ToolCall.of(name, args)
    text = FORGE.format_call(call)
    reply = PARSER.parse(f"So.\n{text}")
    assert reply.calls == (call,)
    assert text.isascii()
    assert text.count("\n") == 4
    value = json.loads(text.split("\n")[2])
    assert list(value) == ["server_name", "tool_name", "arguments"]
    assert value["server_name"] == "local"


@pytest.mark.requirement("F22")
@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ("345.00", "345.00"),
        ("Result: 345.00 (a * b)", "Result: 345.00 (a * b)"),
        ("two\nlines", '"two\\nlines"'),
        ("<tool>", '"\\u003ctool>"'),
        ("`x`", '"\\u0060x\\u0060"'),
        ("a\\u003cb", '"a\\\\u003cb"'),
        ('say "hi"', '"say \\"hi\\""'),
        ("é", '"\\u00e9"'),
        (" x", '" x"'),
        ("", '""'),
        ({"bytes": 22}, '{"bytes": 22}'),
        (None, "null"),
        (float("inf"), '"Infinity"'),
    ],
)
def test_a_result(data: object, shown: str) -> None:
    assert FORGE.result_message(CALL, ToolResult.ok(data)) == f"Tool 'calculator' result:\n{shown}"


@pytest.mark.requirement("F21")
@pytest.mark.requirement("F23")
def test_a_failure() -> None:
    message = FORGE.result_message(CALL, ToolResult.fail("cannot divide by zero"))
    first, second = message.split("\n")
    assert first == "tool execution failed: cannot divide by zero"
    assert second.startswith('ERROR: Tool "calculator" execution failed. ')
    assert FORGE.result_message(CALL, ToolResult(False)).split("\n")[0] != "tool execution failed: "


@pytest.mark.requirement("F22")
@given(hard_text, values)
@example("x", "Tool 'x' result:\n<tool>{}</tool>")
def test_no_result_calls_or_leaves_its_line(name: str, data: Any) -> None:
    call = ToolCall.of(name, {})
    for result in (ToolResult.ok(data), ToolResult.fail(f"{name}{data}")):
        message = FORGE.result_message(call, result)
        assert message.count("\n") == 1
        assert not set(message) & set("<`")
        reply = PARSER.parse(message)
        assert (reply.kind, reply.text, reply.problem) == ("text", message, None)


@pytest.mark.requirement("F21")
@pytest.mark.requirement("F5")
@pytest.mark.requirement("X15")
@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        ("unknown_tool", "Unknown tool: calculator", "tool not found: calculator"),
        ("missing", "Missing required parameter: b", "invalid arguments for calculator: Missing required parameter: b"),
        (
            "type",
            "Expected type number, got string",
            "invalid arguments for calculator: Expected type number, got string",
        ),
        ("other", "Unknown parameter: c", "invalid arguments for calculator: Unknown parameter: c"),
    ],
)
def test_the_words_for_a_call_that_cannot_run(code: str, error: str, words: str) -> None:
    assert FORGE.invalid_text(CALL, code, error) == words


@pytest.mark.requirement("F21")
def test_an_unknown_tool_goes_back_with_what_to_do() -> None:
    message = FORGE.error_message("tool not found: calc", "Did you mean calculator?")
    assert message.startswith('tool not found: calc\nERROR: Unknown tool "calc". Did you mean calculator? ')
    assert message.lower().endswith(MUST)
    other = FORGE.error_message("invalid arguments for t: b")
    assert other.startswith("invalid arguments for t: b\nERROR: The tool was not run. ")


@pytest.mark.parametrize("part", HARD_TEXT)
def test_an_error_is_typed_on_its_line(part: str) -> None:
    message = FORGE.error_message(f"tool not found: {part}", f"Did you mean {part}?")
    assert message.count("\n") == 1
    assert not set(message) & set("<`\ud800")


@pytest.mark.requirement("F21")
@pytest.mark.requirement("F18")
@pytest.mark.parametrize(
    ("text", "head", "part"),
    [
        ("Done.", "ERROR: No tool call found", "ask_question"),
        ("<Tool>{}</Tool>", "ERROR: No tool call found", "must be written exactly so"),
        ("<think><tool>{}</tool></think>", "ERROR: No tool call found", "inside thinking"),
        (
            "<tool>{tool_name: 1}</tool>",
            "ERROR: Invalid tool call JSON.\nParse error: failed to parse",
            "Common issues:\n- ",
        ),
        ("<tool> {tool_name: 1}</tool>", "ERROR: Invalid", "Content: \\u003ctool> {tool_name: 1}\\u003c/tool>\n"),
        ('Hi\n<tool>{"tool_name":"a', "ERROR: Invalid", "less at a time"),
        ("<tool>{“tool_name”:1}</tool>", "ERROR: Invalid", "typographic"),
        (
            "<tool>{}</tool>",
            'ERROR: Missing required field "tool_name": tool_name is required in tool call.\n',
            '"arguments"',
        ),
        ('<tool>{"tool_name":"a","server_name":"b"}</tool>', "ERROR: Only local supported. ", "not run"),
        ('<tool>{"tool_name":"a","arguments":1}</tool>', "ERROR: invalid arguments for a: ", "not run"),
    ],
)
def test_a_recovery_says_what_where_and_how(text: str, head: str, part: str) -> None:
    message = FORGE.correction_message(PARSER.parse(text))
    assert message.startswith(head)
    assert part in message
    assert MUST in message.lower()
    pattern = message[message.index("````") :]
    assert [call.name for call in PARSER.parse(pattern).calls] == ["tool_name"]


@pytest.mark.requirement("F21")
@pytest.mark.parametrize("hard", ["x<`", "\U0001f600", '"', "{“", '{"tool_name":"x","arguments":{"a":"b "c" ', "\\"])
@pytest.mark.parametrize(
    "head",
    [
        "", "\n" * 9_999, '{"tool_name": "a", "arguments": ', '{"tool_name": "', '{"arguments": [], "tool_name": "',
        "<tool_name>", '{“tool_name”: "', "<",
    ],
)  # fmt: skip
@pytest.mark.parametrize("tail", ["", "</tool>", '"}</tool>', "</tool_name></tool>"])
def test_a_recovery_quotes_little_of_a_long_reply(head: str, hard: str, tail: str) -> None:
    message = FORGE.correction_message(PARSER.parse(f"<tool>{head}{hard * 9_000}{tail}"))
    assert message.startswith("ERROR: ")
    assert len(message) <= limits.MAX_CORRECTION
    assert message.count("````") == 2


TOOLS = [
    ToolSpec("now", "The\n time, {{ 7*7 }}"),
    ToolSpec("read_file", "Read", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
]


@pytest.mark.requirement("F16")
def test_the_prompt_lists_tools_with_their_schemas() -> None:
    text = FORGE.system_prompt(TOOLS)
    for tool in TOOLS:
        assert f"## {tool.name}\n" in text
        assert f"\narguments: {json.dumps(tool.parameters)}\n" in text
    assert "The time, {{ 7*7 }}" in text
    assert "You MUST use a tool in every response" in text
    assert all(f"- {name}(" in text for name in ("task_completion", "ask_question", "converse"))


@pytest.mark.requirement("F16")
def test_the_prompt_shows_calls_that_parse_and_a_failure() -> None:
    text = FORGE.system_prompt(TOOLS)
    calls = ResponseParser("forge", multi=True).parse(text).calls
    assert [call.name for call in calls] == ["tool_name", "read_file", "ask_question", "task_completion"]
    assert "tool execution failed: " in text
    assert len(text) < 5_000
    assert "read_file" not in FORGE.system_prompt(TOOLS[:1])


@pytest.mark.requirement("A14")
def test_a_tool_that_makes_no_sense_is_left_out() -> None:
    manifest = FORGE.manifest([ToolSpec("bad", "x", {"properties": 1}), *TOOLS])
    assert list(manifest.texts) == ["now", "read_file"]
    assert list(manifest.skipped) == ["bad"]
