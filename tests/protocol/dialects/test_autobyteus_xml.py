"""The dialect's prompt, results and corrections."""

from __future__ import annotations

import re

import pytest

from bridge.protocol import ResponseParser, ToolCall, ToolResult, dialects
from tool_manager import ToolSpec, builtin_specs
from tool_manager.coercion import coerced

DIALECT = dialects.get("autobyteus_xml")
PARSER = ResponseParser("autobyteus_xml")
PLAN = ToolSpec(
    "plan",
    'Says "who" does <what> & when\nand why',
    {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "like \"this\", e.g., 'Q3 <plan>'"},
            "tasks": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "hours": {"type": "number"}},
                    "required": ["name"],
                },
            },
            "tags": {"type": "array", "items": {"type": "integer"}},
            "mode": {"enum": ["fast", "slow"], "default": "fast"},
            "who": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
            "any": {},
        },
        "required": ["title", "tasks"],
    },
)
TIME = ToolSpec("get_time", "Tells the time")


@pytest.mark.requirement("A12")
def test_the_definition() -> None:
    text = DIALECT.tool_text(PLAN)
    assert text.startswith(
        "## Tool Definition:\n"
        '<tool name="plan" description="Says &quot;who&quot; does &lt;what&gt; &amp; when&#10;and why">\n'
        "    <arguments>\n"
        '        <arg name="title" type="string" '
        'description="like &quot;this&quot;, e.g., \'Q3 &lt;plan&gt;\'" required="true" />\n'
        '        <arg name="tasks" type="array" required="true">\n'
        '            <items type="object">\n'
        '                <arg name="name" type="string" required="true" />\n'
        '                <arg name="hours" type="number" required="false" />\n'
        "            </items>\n"
        "        </arg>\n"
        '        <arg name="tags" type="array" required="false">\n'
        '            <items type="integer" />\n'
        "        </arg>\n"
        '        <arg name="mode" type="enum" required="false" default="fast" enum_values="fast,slow" />\n'
        '        <arg name="who" type="string|array" required="false" />\n'
        '        <arg name="any" type="any" required="false" />\n'
        "    </arguments>\n"
        "</tool>\n\n"
        "## Tool Usage Examples and Guidelines:\n"
        "### Example 1: Basic Call (Required Arguments)\n"
    )
    assert "    <!-- This tool takes no arguments -->\n</tool>" in DIALECT.tool_text(TIME)


@pytest.mark.requirement("A13")
@pytest.mark.requirement("A11")
@pytest.mark.parametrize("spec", [PLAN, TIME, *builtin_specs()], ids=lambda spec: spec.name)
def test_each_example_parses_back_and_fits(spec: ToolSpec) -> None:
    examples = DIALECT.tool_text(spec).partition("## Tool Usage Examples")[2]
    found = [call for each in examples.split("\n### ")[1:] for call in PARSER.parse(each).calls]
    assert len(found) == examples.count("### Example ")
    for call in found:
        assert call.name == spec.name
        assert call.args.keys() >= set(spec.parameters["required"])
        typed = coerced(call, spec.parameters)
        assert PARSER.parse(DIALECT.format_call(typed)).calls == (call,)


@pytest.mark.requirement("A13")
def test_the_second_example_is_there_for_optional_arguments_only() -> None:
    second = "### Example 2: Advanced Call (With Optional & Nested Arguments)\n"
    assert second in DIALECT.tool_text(PLAN)
    assert second not in DIALECT.tool_text(TIME)
    assert '<arg name="title">Q3 &lt;plan&gt;</arg>' in DIALECT.tool_text(PLAN)
    assert DIALECT.tool_text(PLAN).count("<item>123</item>") == 2


@pytest.mark.requirement("A14")
def test_the_manifest() -> None:
    bad = ToolSpec("bad", "", {"properties": 7})
    manifest = DIALECT.manifest([PLAN, bad, TIME])
    guide, *blocks = manifest.text.split("\n\n---\n\n")
    assert "<item>task_1</item>" in guide
    assert blocks == [DIALECT.tool_text(PLAN), DIALECT.tool_text(TIME)]
    assert list(manifest.skipped) == ["bad"]
    assert DIALECT.manifest([bad]).text == ""


@pytest.mark.requirement("A37")
def test_one_message_for_all_results() -> None:
    calls = [ToolCall.of("a", {}), ToolCall.of("b", {})]
    message = DIALECT.results_message([(call, ToolResult.ok(1)) for call in calls])
    assert re.findall(r"Tool: (\w+) \(ID: (\w+)\)", message) == [(call.name, call.id) for call in calls]
    assert DIALECT.result_message(calls[0], ToolResult.ok(1)) == DIALECT.results_message([(calls[0], ToolResult.ok(1))])


@pytest.mark.parametrize("name", ["autobyteus_xml", "xml_style"])
def test_the_prompt_holds_the_format(name: str) -> None:
    dialect, parser = dialects.get(name), ResponseParser(name, multi=True)
    prompt = dialect.instructions(["read_file", "write_file"])
    shown = [call for part in prompt.split("\n\n") for call in parser.parse(part).calls]
    assert {call.name for call in shown} == {"tool_name", "read_file", "write_file"}
    assert {"content": "<p>Salt & pepper</p>\n", "path": "hello.html"} in [call.args for call in shown]
    assert "read_file" not in dialect.instructions([])


@pytest.mark.parametrize("name", ["autobyteus_xml", "xml_style"])
@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('<tool name="a"><arg name="x">half', "less at a time"),
        ('<tool name="a"><arg name="x">half</tool>', "write &lt; for <"),
        ("a\n<tool name=“a”>", "typographic"),
        ('<think><tool name="a"><arg name="x">1</arg></tool></think>', "outside your thinking"),
        ("I am done", "no call was found"),
    ],
)
def test_a_correction_says_what_where_and_how(name: str, text: str, part: str) -> None:
    message = dialects.get(name).correction_message(ResponseParser(name).parse(text))
    assert message.startswith("TOOL_ERROR: No tool was run: ")
    assert part in message
    assert message.count("````") == 2 and message.endswith("\n````")
    assert len(message) < 600
    assert [call.name for call in ResponseParser(name).parse(message).calls] == ["tool_name"]


@pytest.mark.requirement("A38", "X15")
def test_refusals_in_the_words_of_the_document() -> None:
    dialect, call = dialects.get("autobyteus_xml"), ToolCall.of("add", {})
    assert dialect.invalid_text(call, "unknown_tool", "Unknown tool: add") == "No tool definition found for name 'add'"
    told = dialect.invalid_text(call, "missing", "Missing required parameter: b")
    assert told == "Invalid arguments for tool 'add': Required parameter 'b' is missing."
    assert dialects.get("xml_style").invalid_text(call, "unknown_tool", "Unknown tool: add") == "Unknown tool: add"
