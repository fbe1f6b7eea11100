"""Calls as in Python: what is one, what is none, and why."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bridge.protocol import CallClosed, ResponseParser, TextDelta, ToolCall, ToolResult, dialects
from tests.protocol.lineform.lines_strategies import arguments, names, streamed, texts
from tool_manager.models import ToolSpec

FUNCTION = dialects.get("function_style")
PARSER = ResponseParser("function_style")
KNOWING = ResponseParser("function_style", tools=[ToolSpec("f", ""), ToolSpec("read_file", "")])

pytestmark = pytest.mark.requirement("T56")


@pytest.mark.requirement("A11")
@given(names, arguments)
@example(
    "f",
    {"a": '\'"""\\\n\r\t\x00\x7f\U0001f600', "a b": 1, "": None, "class": [True, {}], "b": -0.0, "c": {"d": [1e300]}},
)
def test_a_formatted_call_parses_back(name: str, args: dict[str, Any]) -> None:
    text = FUNCTION.format_call(ToolCall.of(name, args))
    reply = PARSER.parse(text)
    assert reply.calls == (ToolCall.of(name, args),)
    assert (reply.text, reply.rest, reply.diagnostics) == ("````python\n", "\n````", ())
    assert text.isascii()
    assert text.count("\n") == 2


@given(texts("f(", "f(a=", "g(b='", '"""', ")", "[", "{", ", ", "1", "x", "**", ":", "r'", "=", "f()"))
def test_any_text_in_any_chunks(text: str) -> None:
    for parser in (PARSER, KNOWING):
        reply = parser.parse(text)
        assert all(streamed(parser, text, size) == reply for size in (1, 2, 5))
        assert reply.text == text if not reply.calls else text.startswith(reply.text) and text.endswith(reply.rest)


@pytest.mark.parametrize(
    ("body", "args"),
    [
        ("", {}),
        ("a='x', b=\"y\",", {"a": "x", "b": "y"}),
        ('a=\'\'\'it\'s\n"x"\'\'\', b="""p"q"""', {"a": 'it\'s\n"x"', "b": 'p"q'}),
        (
            r"a='\n\t\\\'\x41\u00e9\U0001F600\101\d\0', b=r'\n', c='\ud83d\ude00'",
            {"a": "\n\t\\'A\xe9\U0001f600A\\d\0", "b": "\\n", "c": "\U0001f600"},
        ),
        (
            "a=1, b=-2.5, c=.5, d=1e3, e=0x1F, f=+7, g=1.",
            {"a": 1, "b": -2.5, "c": 0.5, "d": 1000.0, "e": 31, "f": 7, "g": 1.0},
        ),
        ("a=True, b=false, c=None, d=null", {"a": True, "b": False, "c": None, "d": None}),
        ("a=[1, 'x', []], b={'k': {\"l\": []}, },", {"a": [1, "x", []], "b": {"k": {"l": []}}}),
        ("\n  a = 1,  # one )\n  b='#',\n", {"a": 1, "b": "#"}),
        ("a='''x\\\ny''', b=''", {"a": "xy", "b": ""}),
        ("**{'a b': 1}, c=2", {"a b": 1, "c": 2}),
    ],
)
def test_values(body: str, args: dict[str, Any]) -> None:
    for text in (
        f"f({body})",
        f"Look:\n```python\n# so\nf({body})  # done\n```\nbye",
        f"f({body})\r\n",
        f"  f({body}) \n\nx",
    ):
        reply = KNOWING.parse(text)
        assert [call.args for call in reply.calls] == [args], reply.diagnostics
        assert all(streamed(KNOWING, text, size) == reply for size in (1, 2, 3))


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ('f(a="x', "cut"),
        ("f(a=", "cut"),
        ("f(", "cut"),
        ("f(a=[1", "cut"),
        ('f(a="""x"', "cut"),
        ("f(fi", "cut"),
        ('f("x")', "shape"),
        ("f(a=1, 2)", "shape"),
        ("f(a=b)", "shape"),
        ("f(a=g(1))", "shape"),
        ("f(a='x' 'y')", "shape"),
        ("f(a='x' + 'y')", "shape"),
        ("f(a=f'x')", "shape"),
        ("f(a=b'x')", "shape"),
        ("f(a=(1, 2))", "shape"),
        ("f(a={1: 2})", "shape"),
        ("f(a={1, 2})", "shape"),
        ('f(a={"b": 1, "b": 2})', "shape"),
        ("f(a={'b' 2})", "shape"),
        ("f(a=1, a=2)", "shape"),
        ("f(a=007)", "shape"),
        ("f(a=1j)", "shape"),
        ("f(a=nan)", "shape"),
        ("f(a=1e999)", "number"),
        ("f(**[1])", "shape"),
        (f"f(a={'1' * 6000})", "number"),
        (f"f(a=0x{'1' * 6000})", "number"),
        ("f(a='\\x1')", "shape"),
        ("f(a='\\N{DASH}')", "shape"),
        ("f(a='\\UFFFFFFFF')", "shape"),
        ("f(a='x\ny')", "shape"),
        (f"f(a={'[' * 999}{']' * 999})", "depth"),
        ("f(a=__import__('os'))", "shape"),
        ("f(a=1])", "shape"),
        ("read_fil(path='x')", "shape"),
    ],
)
def test_a_doubtful_call_is_text_and_nothing_after_it_runs(call: str, reason: str) -> None:
    text = call if reason == "cut" else f"{call}\nf(ok=1)"
    reply = KNOWING.parse(text)
    assert (reply.kind, reply.text) == ("text", text)
    assert reply.problem is not None
    assert reply.problem.reason == reason
    assert all(streamed(KNOWING, text, size) == reply for size in (1, 2))


@pytest.mark.parametrize(
    "text",
    [
        "print(x)",
        'print("x")',
        "f(x)",
        "f(*a)",
        "f(a=1) is a call",
        "f(a=1).b",
        "f(a=1)\nis dangerous.",
        "f()\n is dangerous.",
        "I call f(a=1)",
        "g(a=1)",
        "```js\nf(a=1)\n```",
        "```python\nimport os\nf(a=1)\n```",
        "```python\nx = 1\n\nf(a=1)\n```",
        "call read_file(path) to see",
        "f(a == 1)",
        'g(a="""\nf(a=1)\n""")',
        'g("""\nf(a=1)\n""")',
        "f",
    ],
)
def test_prose_and_programs_are_no_calls(text: str) -> None:
    reply = KNOWING.parse(text)
    assert (reply.kind, reply.text, reply.diagnostics) == ("text", text, ())


@pytest.mark.parametrize("text", ["print(x)", 'print("x")', "f(x, a=1)", "Note (see below)\nx"])
def test_without_a_registry_only_whole_calls_with_names_are_taken(text: str) -> None:
    assert PARSER.parse(text).kind == "text"
    assert PARSER.parse("g(a=1)").calls == (ToolCall.of("g", {"a": 1}),)


def test_in_a_fence_a_call_is_over_with_its_line() -> None:
    stream = KNOWING.stream()
    stream.feed("```python\n")
    assert stream.feed("f(a=1)\n") == [CallClosed(ToolCall.of("f", {"a": 1}))]


@pytest.mark.parametrize(
    "later", ["", "\n", "\n \r\nThen.", "\nf(b=2)", "\n```\nx\n```", "\nTOOL_RESULT: {}", "\n<think>\nx"]
)
def test_what_may_follow_a_call(later: str) -> None:
    reply = KNOWING.parse(f"f(a=1){later}")
    assert [call.args for call in reply.calls] == [{"a": 1}]
    assert all(streamed(KNOWING, f"f(a=1){later}", size) == reply for size in (1, 2, 3))


@pytest.mark.requirement("T23")
def test_a_hint_is_never_a_call() -> None:
    assert PARSER.parse(FUNCTION.error_message("no", "f(a=1)")).problem is None
    assert not PARSER.parse(FUNCTION.error_message("no", "f(a=1)")).calls


@pytest.mark.requirement("T7")
def test_only_the_first_call_runs() -> None:
    text = "f(a=1)\nf(a=2)\n"
    reply = KNOWING.parse(text)
    assert [call.args for call in reply.calls] == [{"a": 1}]
    assert [(found.code, found.line) for found in reply.diagnostics] == [("extra_call", 2)]
    assert len(ResponseParser("function_style", multi=True).parse(text).calls) == 2


@pytest.mark.requirement("X19")
@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("<think>\nf(a=1)\n</think>", 0),
        ("<thinking>f(a=1)", 0),
        ("<think>\nf(a='</think>')\nf(b=1)", 0),
        ("<Think>\nf(a\n</THINK>\nf(a=1)", 1),
        ("f(a=1)\n</think>", 0),
        ("<think>f(a=1)\nso", 0),
    ],
)
def test_thinking_never_runs(text: str, calls: int) -> None:
    reply = KNOWING.parse(text)
    assert len(reply.calls) == calls
    assert calls or reply.problem is not None


@pytest.mark.parametrize(
    "text",
    [
        '- `read_file(path="a")`',
        "> f(a=1)",
        "      f(a=1)",
        "functions.f(a=1)",
        "print(default_api.f(a=1))",
        "x = f(a=1)",
        "[f(a='x')]",
        "f(a=1);",
    ],
)
def test_a_call_in_marks_is_corrected(text: str) -> None:
    reply = KNOWING.parse(text)
    assert [found.code for found in reply.diagnostics] == ["malformed_call"]
    assert len(PARSER.parse(FUNCTION.correction_message(reply)).calls) == 1


def test_text_comes_early_and_a_call_when_its_line_ends() -> None:
    stream = KNOWING.stream()
    assert stream.feed("Hello you") == [TextDelta("Hello you")]
    assert stream.feed("\nread_fi") == [TextDelta("\n")]
    assert stream.feed("le(path='x'") == []
    assert stream.feed(")\n") == []
    assert stream.feed("\n") == [CallClosed(ToolCall.of("read_file", {"path": "x"}))]
    assert FUNCTION.closed_block_is_final


@given(st.text())
def test_no_result_is_a_call(text: str) -> None:
    for data in (text, f"\nf(a='{text}')\n"):
        assert not PARSER.parse(FUNCTION.result_message(ToolCall.of("f", {}), ToolResult.ok(data))).calls


def test_the_prompt_shows_calls_that_parse() -> None:
    prompt = FUNCTION.system_prompt([ToolSpec("read_file", "Reads"), ToolSpec("write_file", "Writes")])
    assert '````python\nread_file(path="package.json")\n````' in prompt
    assert PARSER.parse(prompt).calls[0].name == "tool_name"
