"""Calls in YAML: what is one, what is none, and why."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bridge.protocol import CallClosed, ResponseParser, TextDelta, ToolCall, ToolResult, dialects, limits
from tests.protocol.lineform.lines_strategies import arguments, names, streamed, texts
from tool_manager.models import ToolSpec

YAML = dialects.get("yaml_style")
PARSER = ResponseParser("yaml_style")
KNOWING = ResponseParser("yaml_style", tools=[ToolSpec("w", "")])

pytestmark = pytest.mark.requirement("T55")


@pytest.mark.requirement("A11")
@given(names, arguments)
@example(
    "w", {"a": "1.10", "b": "x: #y", "c": " a\n\tb ", "d": "\U0001f600\x7f\x85\u2028", "e": {}, "f": [[], {}], "": None}
)
@example("w", {"null": 1, "true": [1e300, -0.0], "<<": "x", "a b": "---"})
def test_a_formatted_call_parses_back(name: str, args: dict[str, Any]) -> None:
    text = YAML.format_call(ToolCall.of(name, args))
    reply = PARSER.parse(text)
    assert reply.calls == (ToolCall.of(name, args),)
    assert (reply.text, reply.rest, reply.diagnostics) == ("````yaml\n", "````", ())
    assert text.isascii()


@given(
    texts(
        "TOOL: w",
        "TOOL: x\nARGS:\n",
        "ARGS:",
        "  a: 1\n",
        "  b: |\n    ",
        "  - ",
        "[",
        "{",
        "}",
        "&a",
        "*a",
        "!x",
        "? ",
    )
)
def test_any_text_in_any_chunks(text: str) -> None:
    for parser in (PARSER, KNOWING):
        reply = parser.parse(text)
        assert all(streamed(parser, text, size) == reply for size in (1, 2, 5))
        assert reply.text == text if not reply.calls else text.startswith(reply.text) and text.endswith(reply.rest)


@pytest.mark.parametrize(
    ("body", "args"),
    [
        ("  a: 2\n  b: 3.5\n  c: 1e3", {"a": 2, "b": 3.5, "c": 1000.0}),
        (
            "  a: yes\n  b: 1_000\n  c: 12:30\n  d: 2024-01-01\n  e: on",
            {"a": "yes", "b": "1_000", "c": "12:30", "d": "2024-01-01", "e": "on"},
        ),
        (
            "  a: true\n  b: FALSE\n  c: ~\n  d:\n  e: 0x1F\n  f: 0o17\n  g: 007",
            {"a": True, "b": False, "c": None, "d": None, "e": 31, "f": 15, "g": 7},
        ),
        ("  a: |\n    x\n      y\n  b: |-\n    z\n  c: >\n    p\n    q\n", {"a": "x\n  y\n", "b": "z", "c": "p q\n"}),
        ("  a: |\n    TOOL: delete\n    ARGS:\n      b: 1\n    ```", {"a": "TOOL: delete\nARGS:\n  b: 1\n```\n"}),
        (
            "  a: [1, x]\n  b: {c: d}\n  e:\n    - f\n    - g: h",
            {"a": [1, "x"], "b": {"c": "d"}, "e": ["f", {"g": "h"}]},
        ),
        ("  a: 'it''s'\n  b: \"x\\ty\"", {"a": "it's", "b": "x\ty"}),
        ("  a: x  # a remark\n  b: y#z", {"a": "x", "b": "y#z"}),
        ("\n\n  a: 1\n\n  b: 2", {"a": 1, "b": 2}),
        (" {a: 1}", {"a": 1}),
        ("", {}),
    ],
)
def test_values(body: str, args: dict[str, Any]) -> None:
    head = "TOOL: w\nARGS:" + ("" if body.startswith(" {") else "\n")
    for text in (head + body, f"Look:\n```yaml\n{head}{body}\n```\nbye", (head + body).replace("\n", "\r\n")):
        reply = KNOWING.parse(text)
        assert [call.args for call in reply.calls] == [args], reply.diagnostics


@pytest.mark.requirement("A38")
def test_plain_scalars_remember_how_they_were_written() -> None:
    (call,) = PARSER.parse("TOOL: w\nARGS:\n  a: 1.10\n  b: [x, 007]\n  c: '5'\n  d:\n  e: x").calls
    assert call.written == {("a",): "1.10", ("b", 1): "007"}


@pytest.mark.parametrize(
    ("body", "reason", "part"),
    [
        ("  a: !!python/object/apply:os.system ['id']", "yaml", "tags"),
        ("  a: &x [1]\n  b: *x", "yaml", "anchors"),
        ("  b: *.py", "yaml", "not valid"),
        ("  <<: {a: 1}", "yaml", "merge"),
        ("  a: 1\n  a: 2", "yaml", "twice"),
        ("  [a]: 1", "yaml", "simple name"),
        ("\ta: 1", "yaml", "tab"),
        ("\xa0\xa0a: 1", "yaml", "not made of spaces"),
        ('  a: "x', "cut", "not valid"),
        ("  a: [1, ", "cut", "not valid"),
        ("  a: |", "cut", "a value should begin"),
        ("  b: 1\n  a:\n", "cut", "a value should begin"),
        ("  a: x: y", "yaml", "mapping values"),
        ("  a: .inf", "number", "finite"),
        ("  a: 1e999", "number", "finite"),
        ("  a: " + "1" * 6000, "number", "digits"),
        ("  a: " + "[" * 1000 + "]" * 1000, "depth", "nested"),
        ("  a: " + "- " * 500, "yaml", "not valid"),
        ("  " + "".join(f"{'  ' * n}a:\n  " for n in range(300)) + "x", "depth", "nested"),
        ("  a: fix #12", "yaml", "may be part"),
        ("  a: one\n    two", "yaml", "several lines"),
        ("  a: 'one\n    two'", "yaml", "several lines"),
        ("  a: x\u2028y", "yaml", "line break"),
        ('  a: "\\U99999999"', "yaml", "escape"),
        ("  a: \x01", "yaml", "character"),
        ("  just text", "shape", "must hold"),
        ("  a: 1\nb: 2", "shape", "indented deeper"),
        ("  a: [" + "1, " * 6000 + "]", "yaml", "more than"),
    ],
)
def test_a_doubtful_block_is_text_and_nothing_after_it_runs(body: str, reason: str, part: str) -> None:
    text = f"TOOL: w\nARGS:\n{body}"
    later = "\n\nTOOL: w\nARGS:\n  ok: 1" if reason != "cut" else ""
    reply = KNOWING.parse(text + later)
    assert (reply.kind, reply.text) == ("text", text + later)
    assert reply.problem is not None
    assert reply.problem.reason == reason
    assert part in reply.problem.message


def test_a_page_that_changed_the_indentation_is_named() -> None:
    codes = [found.code for found in PARSER.parse("TOOL: w\nARGS:\n\xa0\xa0a: 1").diagnostics]
    assert codes == ["malformed_call", "rendering_damage"]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("TOOL: w", 0),
        ("TOOL: w\n\nDone.", 0),
        ("TOOL: w\n\nfile: a.py", 0),
        ("TOOL: w\nARGS:", 1),
        ("TOOL: w\nARGS: {}\nDone.", 1),
        ("TOOL: w\nARGS:\n  a: 1\nDone.", 1),
        ("TOOL: w\nARGS:\n\nDone.", 1),
        ("TOOL: w\nARGS:\nDone.", 0),
        ('TOOL: w\nARGS:\n{"a": 1}', 0),
        ("TOOL: w\nARGS:\n* a: b", 0),
        ("TOOL: w\nARGS:\n  a: |\n    x\ny", 0),
        ("TOOL: w\nARGS:\n  a: |\n    x\n```\ny\n```", 0),
        ("TOOL: w\nARGS:\n  a: |\n    x\n\ny", 1),
        ("TOOL: w\nARGS:\n  a: |\n    x:\n", 1),
        ("TOOL: w\nARGS:\n  a:\ny", 0),
        ("TOOL: w\nARGS:\n  a: [b, ]\ny", 1),
        ("````yaml\nTOOL: w\nARGS:\n  a: |\n    x\n```\n````", 0),
        ("```yaml\nCopy code\nTOOL: w\nARGS:\n  a: 1\n```", 1),
        ("TOOL: 'w'\nARGS: {}", 1),
        ("\ufeffTOOL: w\nARGS:\n  a: 1\n\nand more", 1),
        ("1. so\n   ```\n   TOOL: w\n   ARGS:\n     a: 1\n   ```\n", 1),
        ("~~~~\nTOOL: w\nARGS: {}\n~~~~", 1),
        ("~~~~\nTOOL: other\n", 0),
        ("TOOL: w\nis a tool", 0),
        ("Use TOOL: w\nARGS:\n  a: 1", 0),
        ("TOOL: w now\nARGS:\n  a: 1", 0),
        ("      TOOL: w\n      ARGS:\n        a: 1", 0),
        ("> TOOL: w\n> ARGS:\n>   a: 1", 0),
        ("```yaml\njobs: 1\nTOOL: w\nARGS:\n  a: 1\n```", 0),
        ("```yaml\nTOOL: w\nARGS:\n  a: 1\n", 0),
        ("```yaml\nTOOL: w\n", 0),
        ("```yaml\nTOOL: w\nARGS:\n  a: 1\nrest\n```", 0),
        ("TOOL: w\nArgs:\n  a: 1", 0),
        ("TOOL: other\nARGS:\n  a: 1", 0),
        ("TOOL: other\n\nTOOL: w\nARGS: {}\n", 1),
    ],
)
def test_where_a_call_stands(text: str, calls: int) -> None:
    assert len(KNOWING.parse(text).calls) == calls


@pytest.mark.parametrize(
    "text",
    [
        "tool: w\nargs:\n  a: 1",
        "**TOOL:** w\n**ARGS:**\n  a: 1",
        "TOOL: other\nARGS:\n  a: 1",
        "TOOL: w # note\nARGS: {}",
        'TOOL: w(file="a")',
        "TOOL:\xa0w\nARGS: {}",
        "TOOL: w\n",
        "TOOL: w\nfile: a",
    ],
)
def test_what_was_meant_as_a_call_is_corrected(text: str) -> None:
    reply = KNOWING.parse(text)
    assert reply.problem is not None
    message = YAML.correction_message(reply)
    assert len(PARSER.parse(message).calls) == 1  # the pattern at its end


@pytest.mark.requirement("T23")
def test_a_hint_is_never_a_call() -> None:
    for hint in ("TOOL: w\nARGS: {}", "TOOL: w"):
        assert PARSER.parse(YAML.error_message("no", hint)).problem is None
    assert YAML.error_message("no", "say TOOL: w").endswith("\nsay TOOL: w")


@pytest.mark.requirement("T7")
def test_only_the_first_call_runs() -> None:
    text = "TOOL: w\nARGS:\n  a: 1\n\nTOOL: w\nARGS:\n  a: 2\n\nTOOL_RESULT: {}"
    reply = PARSER.parse(text)
    assert [call.args for call in reply.calls] == [{"a": 1}]
    assert [found.code for found in reply.diagnostics] == ["extra_call", "model_written_result"]
    assert len(ResponseParser("yaml_style", multi=True).parse(text).calls) == 2


@pytest.mark.requirement("X19")
@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("<THINK>\nTOOL: w\nARGS:\n  a: 1\n</think>", 0),
        ("<thinking>\nTOOL: w\nARGS:\n  a: 1", 0),
        ("<think>\nTOOL: w\nARGS:\n  a: '</think>'\nTOOL: w\n", 0),
        ("<think>hm</think>TOOL: w\nARGS:\n  a: 1", 1),
        ("TOOL: w\nARGS:\n  a: 1\n</think>\n", 0),
        ("TOOL: w\nARGS: {}\n\n</think>\nTOOL: w\nARGS:\n  a: <think>\n", 1),
    ],
)
def test_thinking_never_runs(text: str, calls: int) -> None:
    reply = KNOWING.parse(text)
    assert len(reply.calls) == calls
    assert calls or reply.problem is not None
    assert all(streamed(KNOWING, text, size) == reply for size in (1, 3))


def test_text_comes_early_and_a_call_when_its_block_ends() -> None:
    stream = KNOWING.stream()
    assert stream.feed("Hello") == [TextDelta("Hello")]
    assert stream.feed(" you\n```yaml\nTO") == [TextDelta(" you\n```yaml\n")]
    assert stream.feed("OL: w\nARGS:\n  a: 1\n") == []
    assert stream.feed("```\n") == [CallClosed(ToolCall.of("w", {"a": 1}))]
    assert stream.close() is stream.close()
    with pytest.raises(ValueError, match="closed"):
        stream.feed("x")


@given(st.text())
def test_no_result_is_a_call(text: str) -> None:
    for data in (text, f"\nTOOL: w\nARGS:\n  a: {text}"):
        assert not PARSER.parse(YAML.result_message(ToolCall.of("w", {}), ToolResult.ok(data))).calls
        assert not PARSER.parse(YAML.result_message(ToolCall.of("w", {}), ToolResult.fail(data))).calls


def test_the_prompt_shows_calls_that_parse() -> None:
    prompt = YAML.system_prompt([ToolSpec("read_file", "Reads"), ToolSpec("write_file", "Writes")])
    assert PARSER.parse(prompt).calls[0].name == "tool_name"
    assert "````yaml\nTOOL: read_file\n" in prompt


def test_calls_that_were_thoughts_are_told_up_to_a_bound() -> None:
    reply = ResponseParser("yaml_style", multi=True).parse("TOOL: w\nARGS: {}\n\n" * 60 + "</think>")
    assert not reply.calls
    assert 0 < len(reply.diagnostics) <= limits.MAX_DIAGNOSTICS
