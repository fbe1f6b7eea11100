"""Calls that could not run, in the words of each dialect, whoever ran them (X15, C13–C15, F21, T23)."""

from __future__ import annotations

import pytest

from bridge.protocol import dialects
from tool_manager import ToolCall, ToolResult
from tool_manager.models import InvalidCode

NAMES = [name for name in dialects.names() if dialects.get(name).executes]
UNKNOWN = ToolResult.fail("Unknown tool: nope", "unknown_tool")
MISSING = ToolResult.fail("Missing required parameter: path", "missing")


@pytest.mark.requirement("X15")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("result", [UNKNOWN, MISSING])
def test_every_dialect_words_what_could_not_run(name: str, result: ToolResult) -> None:
    dialect, call = dialects.get(name), ToolCall.of("nope", {})
    words = dialect.invalid_text(call, result.code or "", result.error or "")
    for message in (dialect.result_message(call, result), dialect.results_message([(call, result), (call, result)])):
        assert words in message
    failed = ToolResult.fail("Unknown colour: nope")  # what ran and failed is said in the tool's own words
    assert "Unknown colour: nope" in dialect.result_message(call, failed)


@pytest.mark.requirement("C13", "C14", "C15", "X15")
@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        ("unknown_tool", "Unknown tool: nope", "Tool 'nope' not registered"),
        ("missing", "Missing required parameter: message", "Missing required field: message"),
        ("type", 'Expected type string, got integer for parameter "a"', "expected string, got integer"),
    ],
)
def test_a_batch_of_cogency_fails_in_its_slot(code: InvalidCode, error: str, words: str) -> None:
    call = ToolCall.of("nope", {})
    ran = (ToolCall.of("x", {}), ToolResult.ok(1))
    message = dialects.get("cogency").results_message([ran, (call, ToolResult.fail(error, code)), ran])
    first, middle, last = message.splitlines()[2:5]
    assert words in middle
    assert '"status": "failure"' in middle
    assert '"status": "success"' in first
    assert '"status": "success"' in last


@pytest.mark.requirement("T19", "T23", "X15")
@pytest.mark.parametrize("name", ["tool_call", "yaml_style", "function_style", "xml_style", "auto"])
def test_the_dialects_of_one_call_answer_with_a_tool_error(name: str) -> None:
    message = dialects.get(name).result_message(ToolCall.of("nope", {}), UNKNOWN)
    assert message == "TOOL_ERROR: Unknown tool: nope. Please try again with correct format."


@pytest.mark.requirement("F21", "X15")
@pytest.mark.parametrize(
    ("result", "words"),
    [(UNKNOWN, "tool not found: nope"), (MISSING, "invalid arguments for nope: Missing required parameter: path")],
)
def test_forge_says_that_nothing_ran(result: ToolResult, words: str) -> None:
    message = dialects.get("forge").result_message(ToolCall.of("nope", {}), result)
    assert message.splitlines()[0] == words
    assert "execution failed" not in message


@pytest.mark.requirement("A38", "X15")
@pytest.mark.parametrize("name", ["openai_json", "gemini_json", "default_json"])
def test_the_json_dialects_say_it_in_their_one_message(name: str) -> None:
    message = dialects.get(name).results_message([(ToolCall.of("nope", {}), UNKNOWN)])
    assert "Status: Error\nDetails: No tool definition found for name 'nope'" in message
