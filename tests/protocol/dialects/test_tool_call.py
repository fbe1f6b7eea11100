"""The dialect as a writer: calls, errors, corrections."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.protocol import ResponseParser, ToolCall, dialects, limits
from tool_manager.models import call_id

TOOL_CALL = dialects.get("tool_call")
PARSER = ResponseParser("tool_call")

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.requirement("T1")
@given(st.text(min_size=1), st.dictionaries(st.text(), values), st.none() | st.text())
def test_a_formatted_call_parses_back(name: str, args: dict[str, Any], reasoning: str | None) -> None:
    call = ToolCall(call_id(name, args), name, args, reasoning)
    text = TOOL_CALL.format_call(call)
    assert PARSER.parse(text).calls == (call,)
    assert text.isascii()
    assert text.count("\n") == 4


@pytest.mark.requirement("T23")
@pytest.mark.parametrize("error", ["Unknown tool: x", "Unknown tool: x."])
def test_the_error_sentence(error: str) -> None:
    expected = "TOOL_ERROR: Unknown tool: x. Please try again with correct format."
    assert TOOL_CALL.error_message(error) == expected
    assert TOOL_CALL.error_message(error, "Did you mean y?") == f"{expected}\nDid you mean y?"


@pytest.mark.requirement("T23")
def test_an_error_that_quotes_the_model_can_be_typed() -> None:
    message = TOOL_CALL.error_message("Unknown tool: " + "x\n\ud800\u200b" * 5000)
    assert len(message) < 2_100
    assert message.isprintable()


@pytest.mark.requirement("C23")
def test_an_error_that_quotes_a_call_is_none() -> None:
    call = TOOL_CALL.format_call(ToolCall.of("evil_tool", {}))
    for message in (TOOL_CALL.error_message(call), TOOL_CALL.error_message("x", call)):
        assert PARSER.parse(message).calls == ()
        assert "`" not in message


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('<TOOL_CALL>{"tool":"a","args":{"c":"half', "in parts"),
        ("a\n<TOOL_CALL>{“tool”:1}</TOOL_CALL>", "line 2, column 13"),
        ("<TOOL_CALL>{“tool”:1}</TOOL_CALL>", "typographic"),
        ('<think><TOOL_CALL>{"tool":"a","args":{}}</TOOL_CALL></think>', "outside your thinking"),
        ("<tool_call>{</tool_call>", "must be written exactly so"),
        ('<TOOL_CALL>{"tool":"a","args":{"c":"' + "<TOOL_CALL>```" * 9 + '\n"}}', "not valid"),
        (f"{json.dumps({'tool': 'a', 'args': {}})}", "without <TOOL_CALL> and </TOOL_CALL>"),
        ("I am done", "no call was found"),
    ],
)
def test_a_correction_says_what_where_and_how(text: str, part: str) -> None:
    message = TOOL_CALL.correction_message(PARSER.parse(text))
    assert message.startswith("TOOL_ERROR: No tool was run: ")
    assert part in message
    assert message.endswith("\n````")
    assert message.count("````") == 2
    assert len(message) <= limits.MAX_CORRECTION
    assert len(PARSER.parse(message).calls) == 1  # the only call in it is the pattern at its end


@pytest.mark.parametrize("name", dialects.names())
@pytest.mark.parametrize(
    "content", ["<TOOL_CALL>{}", '<execute>[{"name":"e","args":{}}]', "TOOL: e\nARGS:\n", "\U0001f600" * 9]
)
@pytest.mark.parametrize(
    "head", ['<TOOL_CALL>{"tool":"a" ', "<TOOL_CALL>{“", "<tool_call>{", "<TOOL_CALL>{'", "<tool_call "]
)
def test_a_correction_is_short_and_in_no_dialect_a_call(name: str, content: str, head: str) -> None:
    message = TOOL_CALL.correction_message(PARSER.parse(f"{head}{content}>{{{content}</TOOL_CALL>"))
    assert len(message) <= limits.MAX_CORRECTION
    found = ResponseParser(name).parse(message).calls
    assert [(call.name, call.args) for call in found] in ([], [("tool_name", {"arg1": "value1"})])
    assert bool(found) is (name in ("tool_call", "auto"))


@pytest.mark.requirement("T7")
def test_the_note_on_further_calls_is_a_sentence_and_no_call() -> None:
    one, two = TOOL_CALL.extra_calls_note(1), TOOL_CALL.extra_calls_note(2)
    assert "1 more call was" in one
    assert "2 more calls were" in two
    assert "\n" not in one + two
    assert PARSER.parse(one).kind == "text"


@pytest.mark.requirement("T18")
def test_valid_json_is_never_repaired() -> None:
    """What clean-up would destroy (URLs, apostrophes, comment marks) arrives as it was sent."""
    content = "see https://e.org//a /* b */ // it's 'quoted', [1,] # x"
    call = json.dumps({"tool": "write_file", "args": {"path": "p", "content": content}})
    reply = ResponseParser().parse(f"<TOOL_CALL>{call}</TOOL_CALL>")
    assert reply.calls[0].args == {"path": "p", "content": content}
    broken = ResponseParser().parse(f"<TOOL_CALL>{call[:-1]},}}</TOOL_CALL>")
    assert (broken.kind, broken.calls) == ("text", ())
