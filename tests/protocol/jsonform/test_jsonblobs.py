"""Calls as bare JSON, found in any text: fences, prose, thinking, broken values, pieces."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.protocol import CallClosed, ParsedReply, ResponseParser, TextDelta, ToolCall

PARSER = ResponseParser("gemini_json")
X = '{"name":"x","args":{}}'
Y = '{"name":"y","args":{}}'
HARD = ["```", "json\n", "python\n", "\n", "~~~", "<think>", "</think>", "{", "[", "]", "}", '"', "\\", " ", ",", ":",
        X, Y, X[:-1], '{"name":"z","args":{"a":"b', "text", "[1]", '{"a":"```"}', "> ", "- ", 
        "{“name”:“x”,“args”:"]  # fmt: skip
texts = st.lists(st.sampled_from(HARD) | st.text(max_size=3), max_size=20).map("".join)


def names(text: str) -> list[str]:
    return [call.name for call in PARSER.parse(text).calls]


def in_pieces(text: str, sizes: list[int]) -> tuple[ParsedReply, str, list[ToolCall]]:
    stream, events, at = PARSER.stream(), [], 0
    for size in sizes:
        events += stream.feed(text[at : at + size])
        at += size
    events += stream.feed(text[at:])
    shown = "".join(event.text for event in events if isinstance(event, TextDelta))
    return stream.close(), shown, [event.call for event in events if isinstance(event, CallClosed)]


@pytest.mark.requirement("A16")
@pytest.mark.requirement("C27")
@given(texts, st.lists(st.integers(0, 5), max_size=60))
def test_every_way_of_cutting_gives_the_same_reply(text: str, sizes: list[int]) -> None:
    whole = PARSER.parse(text)
    for cut in (sizes, [1] * len(text)):
        reply, shown, closed = in_pieces(text, cut)
        assert reply == whole
        assert tuple(closed) == whole.calls or "</think" in text  # which takes back what stood before it
        assert whole.text.startswith(shown)


@pytest.mark.requirement("A17")
@given(texts)
def test_text_without_a_call_comes_back_whole(text: str) -> None:
    reply = PARSER.parse(text)
    assert text.startswith(reply.text)
    assert reply.calls or (reply.kind, reply.text, reply.rest) == ("text", text, "")


@pytest.mark.requirement("A16")
@given(
    st.text(st.characters(exclude_characters="{[<`~"), max_size=9),
    st.lists(st.text("abc\n é]}", max_size=9), min_size=1),
)
def test_no_character_is_lost(before: str, between: list[str]) -> None:
    reply = PARSER.parse(before + "".join(X + each for each in between))
    assert (reply.text, reply.rest) == (before, "".join(between))
    assert len(reply.calls) == len(between)


@pytest.mark.requirement("A16")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (X, ["x"]),
        (f"a {X} b {Y} c", ["x", "y"]),
        (X + Y + "]" + X, ["x", "y", "x"]),
        (f"```json\n{X}\n```", ["x"]),
        (f"```JSON title\n{X}\n```", ["x"]),
        (f"```json{X}```", ["x"]),
        (f"``````\n{X}\n``````\n~~~\n{Y}\n~~~", ["x", "y"]),
        (f"```json\nCopy code\n{X}\n```", ["x"]),
        (f"json\nКопировать код\n{X}", ["x"]),
        (f"{X}\n```\nAll done.", ["x"]),
        (f"```python\nd = {X}\n```\n{Y}", ["y"]),
        (f"```python\nd = {X}\n{Y}", []),
        (f"~~~python\n{X}\n```\n{X}\n~~~\n{Y}", ["y"]),
        (f"````md\n```json\n{X}\n```\n````\n{Y}", ["y"]),
        (f"  > - ```py\n{X}\n  > ```\n{Y}", ["y"]),
        (f"1. ```py\n{X}\n```\r\n{Y}", ["y"]),
        (f"```py {X}``` {Y}", ["y"]),
        (f"```py {X}\n{X} ``` \n``` x\n{X}\n```\t\n{Y}", ["y"]),
        (f"use ```py {Y}", ["y"]),
        (f"{'`' * 200}py\n{X}", ["x"]),
        (f"```py\n{'`' * 200}\n{X}", []),
        (f"```{'p' * 60}\n{X}", []),
        (f"{' ' * 80}```py\n{X}", ["x"]),
        ('{"name":"w","args":{"c":"```py\\n<think>\\n```"}} ' + X, ["w", "x"]),
        (f"{{ {X}", ["x"]),
        (f"[see {X}] {{0}} {{{{x}}}} [1] [] {{}}", ["x"]),
        (f'{{"a": 1 oops {X}', []),
        (f'{{"a": 1 oops {X} }} {Y}', ["y"]),
        (f'{{"a":{{"b": 1 oops {X}}}}} {Y}', ["y"]),
        (f'[{{"a": 1 oops {X} }} {Y}', ["y"]),
        (f'{{"a" oops {X}', ["x"]),
        (f'{{"status": {X}}} {Y}', ["y"]),
        (f'{{"a":"\\d"}} {X}', ["x"]),
        (f"{'[' * 300}{X}{']' * 300}{Y}", ["y"]),
    ],
)
def test_where_calls_are_found(text: str, expected: list[str]) -> None:
    assert names(text) == expected
    assert [call.name for call in in_pieces(text, [1] * len(text))[0].calls] == expected


@pytest.mark.requirement("A16")
@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ('{"name":"a","args":{"c":"half', "cut"),
        ('{"name":"a","args":{', "cut"),
        (f"[{X}", "cut"),
        (f"[{X}, oops]", "json"),
        (f"[{X} {Y}]", "json"),
        ('{"name":"a","args":{"c":"say "hi""}}', "json"),
        ('{"id":"1","name":"a","args":{"c":"\n"}}', "json"),
        ('{"id":1,"on":null,"x":-1.5e3,"name":"a","args":{"c":"\n"}}', "json"),
        ('{"name":"a","args":{"c":"\\d"}}', "json"),
        ('{"name":"a","args":{"n":NaN}}', "number"),
        ('{"name":"a","args":{"n":' + "9" * 6000 + "}}", "number"),
        ('{"name":"a","args":{"n":1e999}}', "number"),
        ('{"name":"a","args":{"n":' + "[" * 300 + "]" * 300 + "}}", "depth"),
        ('{"name":"a","args":{"n":' + "[" * 300, "depth"),
        ('{"name":"a","args":{"n":' + "[" * 150 + '"x" y', "json"),
    ],
)
def test_nothing_runs_after_a_broken_call(broken: str, reason: str) -> None:
    text = f"Look:\n{broken}"
    for more in ("", f"\n{Y}\n"):
        reply = PARSER.parse(text + more)
        assert (reply.kind, reply.calls, reply.text) == ("text", (), text + more)
        assert reply.problem is not None
        assert reply.problem.line >= 2
        if not more:
            assert reply.problem.reason == reason
    assert names(f"{X} {text}\n{Y}") == ["x"]


@pytest.mark.requirement("A17")
@pytest.mark.parametrize(
    "text",
    ['{"status":"thinking"}', '{"name":"Bob","age":3}', "[1, 2", '{"a":', "{", "[", '{"name":"Bob', "a {b} [c](d)",
     '{"a":1,}', '{"args":["--x"], // c\n}', "[" * 300, '{"x":{“y”:1}}', "{“name”:“Bob”}"],
)  # fmt: skip
def test_json_that_is_no_call_is_text_without_a_remark(text: str) -> None:
    reply = PARSER.parse(text)
    assert (reply.kind, reply.text, reply.diagnostics) == ("text", text, ())


@pytest.mark.requirement("X19")
@pytest.mark.parametrize(
    ("text", "expected", "code"),
    [
        (f"<think>{X}</think>{Y}", ["y"], "call_in_thinking"),
        (f"<THINKING>{X}</Thinking>Done", [], "call_in_thinking"),
        (f"<think>{X}</think> ", [], "malformed_call"),
        (f"<think>{X}", [], "malformed_call"),
        (f'<think>{{"a": "</think>"}} {X}</think>{Y}', ["y"], "call_in_thinking"),
        (f"<think>```py\n</think>{Y}", ["y"], None),
        (f"<think>\n{{x [1] {{\"name\":\"z\",\"args\":{{\n</think>{Y}", ["y"], None),
        (f"```py\n<think>\n```\n{Y}", [], "malformed_call"),
        (f"<think></think><think>{Y}</think>Done", [], "call_in_thinking"),
        (f"a {X} b</think> {Y}", ["y"], "call_in_thinking"),
        (f"a {X}</Thinking >Done", [], "malformed_call"),
        (f'{X} {{"a": 1 oops</think> {Y} }}{Y}', ["y"], "call_in_thinking"),
        (f'{X} {{"a": 1 oops <think> {X} }}{Y}', ["x", "y"], None),
        (f'{X} {{"name":"a","args":{{oops </think>{Y}', [], "call_in_thinking"),
        (f"</think>{X}", ["x"], None),
        (f"<think>{X}</think>" * 80, [], "malformed_call"),
        ('{"name":"z","args":{"c":"<think>"}}' + Y, ["z", "y"], None),
    ],
)  # fmt: skip
def test_no_call_in_thinking_runs(text: str, expected: list[str], code: str | None) -> None:
    reply = PARSER.parse(text)
    assert [call.name for call in reply.calls] == expected
    assert next((found.code for found in reply.diagnostics), None) == code
    assert len(reply.diagnostics) <= 50


@pytest.mark.requirement("A17")
@pytest.mark.parametrize(
    ("text", "damaged"),
    [
        ("{“name”: “x”, “args”: {}}", True),
        ("{&quot;name&quot;: &quot;x&quot;, &quot;args&quot;: {}}", True),
        ("{«tool»: {«function»: «x»}}", True),
        ("{„name“: „x“, „args“: {}}", True),
        ("{&#34;name&#34;: 1}", False),
    ],
)
def test_quotes_that_a_page_has_changed(text: str, damaged: bool) -> None:
    reply = PARSER.parse(f"So:\n{text}")
    assert reply.kind == "text"
    assert (reply.problem is not None) is damaged
    assert ("rendering_damage" in [found.code for found in reply.diagnostics]) is damaged
    assert names(f"{text} {X}") == ["x"]


def test_eaten_backslashes_are_told() -> None:
    reply = PARSER.parse('{"name":"a","args":{"c":"say "hi""}}')
    assert [found.code for found in reply.diagnostics] == ["malformed_call", "rendering_damage"]
    assert "character 31" in reply.diagnostics[0].message


@pytest.mark.requirement("C27")
def test_text_comes_early_and_calls_when_they_close() -> None:
    stream = PARSER.stream()
    assert stream.feed("Let me [see] {this} ``") == [TextDelta("Let me [see] {this} ``")]
    assert stream.feed("` <thi") == [TextDelta("` <thi")]
    assert stream.feed("s\n" + X[:-2]) == [TextDelta("s\n")]
    assert stream.feed("}") == []
    assert stream.feed("} and") == [CallClosed(ToolCall.of("x", {}))]
    assert stream.feed(Y) == [CallClosed(ToolCall.of("y", {}))]
    assert stream.close() is stream.close()
    assert (stream.close().text, stream.close().rest) == ("Let me [see] {this} ``` <this\n", " and")
    with pytest.raises(ValueError, match="closed"):
        stream.feed("x")


@pytest.mark.requirement("A16")
def test_held_text_comes_as_soon_as_it_is_no_json() -> None:
    stream = PARSER.stream()
    assert stream.feed('a {"b"') == [TextDelta("a ")]
    assert stream.feed(": 1") == []
    assert stream.feed("x {") == [TextDelta('{"b": 1x {')]
    assert stream.feed("}} {") == [TextDelta("}} ")]
    assert stream.feed("}") == [TextDelta("{}")]
    assert stream.feed("<think>[1") == [TextDelta("<think>[1")]


@pytest.mark.requirement("T17")
@given(st.text(st.characters(exclude_categories=())))
def test_no_text_raises(text: str) -> None:
    for each in (text, X[:-1] + text, "<think>" + text + X, "```" + text):
        assert PARSER.parse(each).kind in ("text", "tool_calls")


def test_a_large_value_is_the_same_in_pieces() -> None:
    args: dict[str, Any] = {"c": "line\n" * 3000, "l": [{"a": number, "b": [None, True]} for number in range(900)]}
    for text in (json.dumps({"name": "x", "args": args}), json.dumps({"other": args})):
        assert in_pieces(text, [100] * 1000)[0] == PARSER.parse(text)
    assert PARSER.parse(json.dumps([{"no": args}, {"name": "x", "args": args}])).calls == (ToolCall.of("x", args),)
