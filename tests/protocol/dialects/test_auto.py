"""Which dialect a reply is in, and what is none."""

from __future__ import annotations

import pytest
from hypothesis import given

from bridge.protocol import ResponseParser, TextDelta, ToolCall, ToolResult, dialects, limits
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


@pytest.mark.requirement("X17", "X21")
def test_a_request_of_the_assistant_api_says_that_it_is_one() -> None:
    text = '{"tool_request": {"name": "a", "arguments": {}}}'
    stream = PARSER.stream()
    assert stream.feed(text) == []
    reply = stream.close()
    assert (reply.dialect, [call.name for call in reply.calls]) == ("assistant_api", ["a"])
    assert not dialects.get(reply.dialect).executes
    assert not PARSER.parse(f"```json\n{text}\n```").calls


@pytest.mark.requirement("X21")
@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        (CALL, "tool_call"),
        (BATCH, "cogency"),
        (FORGE, "forge"),
        (XML, "autobyteus_xml"),
        ('<tool name="a"><arg name="b">1</arg></tool>', "xml_style"),
        ('{"name": "a", "args": {}}', "gemini_json"),
        ("<TOOL_CALL>{]</TOOL_CALL>", "tool_call"),
        ("Hello", ""),
    ],
)
def test_the_reply_says_which_dialect_it_is_in(text: str, dialect: str) -> None:
    assert PARSER.parse(text).dialect == dialect


ARGS = '{"name": "a", "args": {"b": 1}}'


def test_arguments_are_those_of_the_dialect_that_knows_them() -> None:
    assert KNOWING.parse(ARGS).calls == (ToolCall.of("a", {"b": 1}),)


@pytest.mark.parametrize(
    "text",
    [
        f'```json title="x"\n{ARGS}\n```',
        f"```JSON\n{ARGS}\n```",
        f"Text:\n~~~tool_code\r\n{ARGS}\r\n~~~\r\n",
        f"```js\n{{b}}\n```\n```json\n{ARGS}\n```",
        f"<!-- so --> x\n```json\n{ARGS}\n`````",
        f"```html\n<!--\n```\n\n```\n{ARGS}\n```",
        f"<invoke name='x'>\n</invoke> no\n```\n{ARGS}\n```",
        "<tool><tool_name>a</tool_name><arguments></arguments></tool>",
        "<tool>\n <server_name>local</server_name><tool_name>a</tool_name><arguments></arguments></tool>",
    ],
)
def test_calls_in_fences_and_elements(text: str) -> None:
    reply = KNOWING.parse(text)
    assert [call.name.rpartition(".")[2] for call in reply.calls] == ["a"], reply.diagnostics
    assert all(streamed(KNOWING, text, size) == reply for size in (1, 2, 3, 7))


@pytest.mark.parametrize(
    "text",
    [
        f"````markdown\n```json\n{ARGS}\n```\n````",
        f"~~~python\nx\n```json\n{ARGS}\n```\n~~~",
        f"<!-- hidden\n```json\n{ARGS}\n```\n-->",
        f"<!-- ```x -->\n````x\n```json\n{ARGS}\n```\n````",
        f"So:\n    ```json\n    {ARGS}\n    ```",
        f"````json\n{ARGS}\n```",
        f"```json\n{ARGS}\n~~~",
        f"```json\n{ARGS}",
    ],
)
def test_json_that_is_content_is_no_call(text: str) -> None:
    reply = KNOWING.parse(text)
    assert (reply.kind, reply.text, reply.calls) == ("text", text, ())
    assert PARSER.parse(text).diagnostics == ()
    assert all(streamed(KNOWING, text, size) == reply for size in (1, 2, 3, 7))


@pytest.mark.parametrize("head", ["<tool name='x'>", "<invoke name=", "<execute>", "TOOL: a", "a(", "a(b='c',"])
def test_json_after_the_beginning_of_another_call_never_runs(head: str) -> None:
    text = f"Now\n{head}\nor\n```json\n{ARGS}\n```\n{CALL}"
    reply = KNOWING.parse(text)
    assert (reply.kind, reply.text, reply.problem and reply.problem.reason) == ("text", text, "shape")
    assert all(streamed(KNOWING, text, size) == reply for size in (1, 2, 3, 7))


@pytest.mark.parametrize("text", [f"<tool name='x'>\n{CALL}", f"<tool name='x'>{BATCH}", f"<execute>{BATCH}"])
def test_a_call_within_the_beginning_of_another_never_runs(text: str) -> None:
    reply = KNOWING.parse(text)
    assert not reply.calls
    assert reply.problem is not None or reply.kind == "error"
    assert all(streamed(KNOWING, text, size) == reply for size in (1, 2, 3, 7))


@pytest.mark.requirement("X19")
@pytest.mark.parametrize("call", [CALL, BATCH, FORGE, XML, '```json\n{"name": "a", "arguments": {}}\n```'])
def test_thinking_never_runs(call: str) -> None:
    assert not PARSER.parse(f"<THINK>\n{call}\n</think>").calls
    assert not PARSER.parse(f"<thinking>\n{call}").calls
    assert not PARSER.parse(f"{call}\n</think>\n").calls
    assert len(PARSER.parse(f"<think>\n{call}\n</think>\n{CALL}").calls) == 1


def test_xml_in_thinking_is_stepped_over() -> None:
    text = f'<think>\n<tool name="a"><arguments><arg name="b">x < y</arg></arguments></tool>\nOne {XML}</think>{CALL}'
    reply = PARSER.parse(text)
    assert [call.name for call in reply.calls] == ["a"]
    assert all(streamed(PARSER, text, size) == reply for size in (1, 2, 3, 7))
    assert PARSER.parse("<think><tool name='a'><arguments>").problem is not None


def test_remarks_are_counted() -> None:
    reply = PARSER.parse("<think>" + CALL * 60)
    assert len(reply.diagnostics) <= limits.MAX_DIAGNOSTICS + 1


@pytest.mark.parametrize("head", ["", "So:\n```json\n"])
def test_json_that_is_cut_is_corrected(head: str) -> None:
    reply = KNOWING.parse(head + '{"name": "a", "arguments": {"b": "x')
    assert (reply.calls, reply.problem and reply.problem.reason) == ((), "cut")


def test_a_block_that_is_none_after_all_lets_no_later_call_run() -> None:
    reply = KNOWING.parse(f"<TOOL_CALL>\u201cso\u201d it begins\n{CALL}")
    assert (reply.kind, reply.calls) == ("text", ())


def test_a_call_after_a_block_that_its_dialect_does_not_know_never_runs() -> None:
    text = '<tool name=a><arg name=b>1</arg></tool> or <tool name="a"><arg name="b">1</arg></tool>'
    stream = KNOWING.stream()
    assert all(isinstance(event, TextDelta) for event in stream.feed(text))
    reply = stream.close()
    assert (reply.kind, reply.calls, reply.problem and reply.problem.reason) == ("text", (), "shape")


@pytest.mark.parametrize("text", ["<TOOL_CALL>" * 9, "<tool name='a", "<tool x>", "<tool name='a'>\n<"])
def test_tags_alone_are_text(text: str) -> None:
    reply = KNOWING.parse(text)
    assert (reply.kind, reply.text) == ("text", text)
    assert all(streamed(KNOWING, text, size) == reply for size in (1, 2, 3, 7))


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
    assert stream.close() is stream.close()
    with pytest.raises(ValueError, match="closed"):
        stream.feed("x")


def test_it_teaches_and_answers_as_tool_call() -> None:
    taught, call, tools = dialects.get("tool_call"), ToolCall.of("a", {"b": 1}), [ToolSpec("read_file", "Reads")]
    assert AUTO.format_call(call) == AUTO.format_calls([call]) == taught.format_call(call)
    assert PARSER.parse(AUTO.format_calls([call, call])).calls == (call, call)
    assert AUTO.results_message([(call, ToolResult.ok(1))]) == taught.results_message([(call, ToolResult.ok(1))])
    assert AUTO.result_message(call, ToolResult.ok(1)) == taught.result_message(call, ToolResult.ok(1))
    assert AUTO.system_prompt(tools) == taught.system_prompt(tools)
