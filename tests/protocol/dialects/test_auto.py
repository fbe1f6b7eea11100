"""Which dialect a reply is in, and what is none."""

from __future__ import annotations

import pytest
from hypothesis import given

from bridge.protocol import ResponseParser, TextDelta, ToolCall, ToolResult, dialects
from tests.protocol.lineform.lines_strategies import arguments, names, streamed, texts
from tool_manager.models import ToolSpec

AUTO = dialects.get("auto")
PARSER = ResponseParser("auto")
KNOWING = ResponseParser("auto", tools=[ToolSpec("a", "")])

CALL = '<TOOL_CALL>{"tool":"a","args":{}}</TOOL_CALL>'
BATCH = '<execute>[{"name":"a","args":{}}]</execute>'
FORGE = '<tool>{"tool_name":"a","arguments":{}}</tool>'
XML = '<tool name="a"><arguments></arguments></tool>'
DETECTED = (
    "tool_call",
    "cogency",
    "forge",
    "autobyteus_xml",
    "xml_style",
    "openai_json",
    "gemini_json",
    "default_json",
)


@pytest.mark.requirement("X21")
@pytest.mark.parametrize("dialect", DETECTED)
@given(names, arguments)
def test_each_dialect_is_found(dialect: str, name: str, args: dict[str, object]) -> None:
    found = dialects.get(dialect)
    text = found.format_call(ToolCall.of(name, args))
    own = ResponseParser(dialect).parse(text)
    reply = PARSER.parse(f"Well:\n{text}\nbye")
    assert own.calls
    assert reply.calls == own.calls
    assert [call.written for call in reply.calls] == [call.written for call in own.calls]


@pytest.mark.parametrize("dialect", ["yaml_style", "function_style"])
def test_calls_in_lines_are_not_looked_for(dialect: str) -> None:
    text = dialects.get(dialect).format_call(ToolCall.of("a", {"b": 1}))
    assert (KNOWING.parse(text).kind, KNOWING.parse(text).text) == ("text", text)


@pytest.mark.requirement("X21")
@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f"Use <TOOL_CALL>, <tool> or <execute>.\n{FORGE}", ["a"]),
        (f'Use <tool name="x"> so.\n{CALL}', ["a"]),
        (f"{XML}\n{CALL}", ["a"]),
        ('<tool name="a"><arg name="b">1</arg></tool>', ["a"]),
        ('{"name": "a", "arguments": {}}', ["a"]),
        (' [{"name": "a", "args": {}}] ', ["a"]),
        ('```\n{"tool": {"function": "a"}}\n```', ["a"]),
        (f'```json\n{{"x": 1}}\n```\n{CALL}', ["a"]),
        (f"```js\n{{a: 1}}\n```\n{CALL}", ["a"]),
        (f"[Note] {CALL}", ["a"]),
        (f"````json\n{CALL}\n````", ["a"]),
        ('So {"name": "a", "arguments": {}}', []),
        ('{"name": "a", "arguments": {}} it is', []),
        ('```json\n{"name": "a", "arguments": {}}\nmore\n```', []),
        ('```json\n{"name": "a", "arguments": {}}', []),
        ('{"name": "unknown", "arguments": {}}', []),
        ('{"name": "b", "version": "1"}', []),
        (f'{{"content": "{XML}"}}'.replace('"a"', "'a'"), []),
        (f'```json\n{{"x": "{XML}"}}\n```'.replace('"a"', "'a'"), []),
    ],
)
def test_what_decides(text: str, names: list[str]) -> None:
    reply = KNOWING.parse(text)
    assert [call.name for call in reply.calls] == names
    assert names or (reply.text, reply.problem) == (text, None)
    assert all(streamed(KNOWING, text, size) == reply for size in (1, 2, 3, 7))


@pytest.mark.parametrize(
    "first",
    [
        '<TOOL_CALL>{"tool":"a",</TOOL_CALL>',
        '<TOOL_CALL>{"tool":"a","args":{"x":"',
        "<execute>[{]</execute>",
        '<tool>{"tool_name":"a",}</tool>',
        '<tool name="a"><arguments><arg name="b">',
        '```json\n{"name":"a","arguments":{"b":1,}}\n```',
        '{"tool_calls":[{"function":{"name":"a","arguments":"{"}}]',
        '{"tool_request": {"name": "a", "arguments": 1,',
    ],
)
def test_nothing_runs_after_a_broken_block(first: str) -> None:
    for later in (CALL, BATCH, FORGE, XML):
        reply = KNOWING.parse(f"{first}\n{later}")
        assert not reply.calls
        assert reply.problem is not None


@pytest.mark.requirement("X17")
def test_a_request_of_the_assistant_api_is_never_run() -> None:
    reply = PARSER.parse('{"tool_request": {"name": "a", "arguments": {}}}')
    assert (reply.kind, reply.calls) == ("text", ())
    assert reply.problem is not None


@pytest.mark.requirement("X19")
@pytest.mark.parametrize("call", [CALL, BATCH, FORGE, XML, '```json\n{"name": "a", "arguments": {}}\n```'])
def test_thinking_never_runs(call: str) -> None:
    assert not PARSER.parse(f"<THINK>\n{call}\n</think>").calls
    assert not PARSER.parse(f"<thinking>\n{call}").calls
    assert not PARSER.parse(f"{call}\n</think>\n").calls
    assert len(PARSER.parse(f"<think>\n{call}\n</think>\n{CALL}").calls) == 1


def test_a_tag_in_a_string_ends_no_thinking() -> None:
    text = '<think><TOOL_CALL>{"tool":"a","args":{"b":"</think>"}}</TOOL_CALL>' + CALL
    assert not PARSER.parse(text).calls


@given(
    texts(
        CALL,
        BATCH,
        FORGE,
        XML,
        "<TOOL_CALL>",
        "{",
        "}",
        "<tool ",
        'name="a">',
        "<arg ",
        "<tool>",
        "\n```json\n",
        '{"name":"a","args":{}}',
        "</tool>",
    )
)
def test_any_text_in_any_chunks(text: str) -> None:
    for parser in (PARSER, KNOWING):
        reply = parser.parse(text)
        assert all(streamed(parser, text, size) == reply for size in (1, 2, 5))
        assert reply.calls or reply.text == text


def test_text_comes_early() -> None:
    stream = PARSER.stream()
    assert stream.feed("Hello <b") == [TextDelta("Hello <b")]
    assert stream.feed(" <TOOL") == [TextDelta(" ")]
    assert stream.feed("S>") == [TextDelta("<TOOLS>")]


def test_it_teaches_and_answers_as_tool_call() -> None:
    taught, call, tools = dialects.get("tool_call"), ToolCall.of("a", {"b": 1}), [ToolSpec("read_file", "Reads")]
    assert AUTO.format_call(call) == taught.format_call(call)
    assert AUTO.results_message([(call, ToolResult.ok(1))]) == taught.results_message([(call, ToolResult.ok(1))])
    assert AUTO.result_message(call, ToolResult.ok(1)) == taught.result_message(call, ToolResult.ok(1))
    assert AUTO.system_prompt(tools) == taught.system_prompt(tools)
