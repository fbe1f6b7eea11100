"""What holds of every dialect, whatever the reply: inverse, any chunking, never raises, loses nothing, no injection."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from bridge.protocol import ParsedReply, ResponseParser, ToolCall, ToolResult, dialects
from tests.protocol.invariants import check
from tests.protocol.strategies import (
    EVIL,
    NAMES,
    any_text,
    hostile,
    json_values,
    known_calls,
    replies,
    texts,
    tools,
)
from tool_manager import ToolSpec, builtin_specs
from tool_manager.coercion import coerced

EXAMPLE = re.compile(r"^````\w*\n.*?^````$", re.MULTILINE | re.DOTALL)
"""How every prompt prints a call."""

every_dialect = pytest.mark.parametrize("name", NAMES)
WITHOUT_TYPES = frozenset(
    name
    for name in NAMES
    if (call := ResponseParser(name).parse(dialects.get(name).format_call(ToolCall.of("t", {"a": 1}))).calls)
    and call[0].written is not None
)
"""The dialects that write every leaf as text."""


def read(name: str, text: str, **options: Any) -> ParsedReply:
    return ResponseParser(name, **options).parse(text)


def typed(spec: ToolSpec, call: ToolCall) -> dict[str, Any]:
    """The arguments as `spec` has their types."""
    return coerced(call, spec.parameters).args


def equal(left: Any, right: Any) -> bool:
    """Equal with types: 1 is not 1.0, true is not 1."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


@every_dialect
@pytest.mark.requirement("A11")
@settings(max_examples=60)
@given(given=known_calls())
def test_parsing_is_the_inverse_of_formatting(name: str, given: tuple[ToolSpec, ToolCall]) -> None:
    spec, call = given
    written = dialects.get(name).format_call(call)
    for reply in (read(name, written), read(name, f"Sure.\n\n{written}\n", tools=[spec])):
        if name == "assistant_api" and reply.text.startswith("Sure"):
            continue  # S1: nothing may stand beside its request
        [found] = reply.calls
        assert found.name == call.name
        # a path loses its outer white space where every leaf is text (X22), and so does the one it is compared with
        assert equal(typed(spec, found), typed(spec, replace(call, written=found.written)))


@every_dialect
@pytest.mark.requirement("A11")
@settings(max_examples=40)
@given(args=st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), json_values(), max_size=3))
def test_types_of_json_survive_where_the_dialect_has_them(name: str, args: dict[str, Any]) -> None:
    if name in WITHOUT_TYPES:
        args = {key: value for key, value in args.items() if isinstance(value, str)}
    [found] = read(name, dialects.get(name).format_call(ToolCall.of("some_tool", args))).calls
    assert equal(found.args, args)


@every_dialect
@pytest.mark.requirement("A11", "C29")
@settings(max_examples=25)
@given(names=st.lists(st.sampled_from(["one", "two", "three"]), min_size=1, max_size=4), text=texts)
def test_several_calls_are_read_back_in_order(name: str, names: list[str], text: str) -> None:
    dialect = dialects.get(name)
    calls = [ToolCall.of(each, {"text": text, "number": str(at)}) for at, each in enumerate(names)]
    found = read(name, dialect.format_calls(calls)).calls if dialect.several else ()
    assert [(each.name, each.args) for each in found] == [(each.name, each.args) for each in calls if dialect.several]
    assert [each.id for each in found] == [each.id for each in calls if dialect.several]


@every_dialect
@pytest.mark.requirement("C27")
@settings(max_examples=80)
@given(text=replies(), cuts=st.lists(st.integers(1, 9), min_size=1, max_size=8), multi=st.booleans())
def test_any_chunking_gives_the_same_reply(name: str, text: str, cuts: list[int], multi: bool) -> None:
    check(name, text, cuts, multi=multi)


@every_dialect
@pytest.mark.requirement("T10", "X3")
@settings(max_examples=60)
@given(text=st.one_of(st.text(st.characters(exclude_categories=())), any_text))
def test_nothing_is_raised_and_nothing_is_lost(name: str, text: str) -> None:
    check(name, text, [3, 1])


@every_dialect
@settings(max_examples=30)
@given(before=texts, after=texts, content=texts)
def test_what_stands_around_a_call_is_text_and_rest(name: str, before: str, after: str, content: str) -> None:
    written = dialects.get(name).format_call(ToolCall.of("some_tool", {"content": content}))
    reply = read(name, f"{before}\n{written}\n{after}")
    if len(reply.calls) != 1 or reply.thinking:
        return
    whole = f"{before}\n{written}\n{after}"
    start, end = whole.index(reply.text), len(whole) - len(reply.rest)
    source = whole[start + len(reply.text) :] if not reply.rest else whole[: whole.rindex(reply.rest, start)]
    assert end >= start
    assert reply.calls[0].name in source


@every_dialect
@pytest.mark.requirement("T10", "F34", "X3")
@settings(max_examples=12)
@given(given=known_calls())
def test_no_beginning_of_a_call_is_another_call(name: str, given: tuple[ToolSpec, ToolCall]) -> None:
    """A cut reply holds the whole call or none: never one with less in it."""
    _, call = given
    written = dialects.get(name).format_call(call)
    whole = read(name, written).calls
    for end in range(max(0, len(written) - 400), len(written)):
        assert read(name, written[:end]).calls in ((), whole)


@every_dialect
@pytest.mark.requirement("X19")
@settings(max_examples=20)
@given(tag=st.sampled_from(["think", "THINK", "thinking", "Thinking"]), closes=st.booleans(), before=st.booleans())
def test_what_is_thought_never_runs(name: str, tag: str, closes: bool, before: bool) -> None:
    written = dialects.get(name).format_call(ToolCall.of(EVIL, {"a": "1"}))
    text = f"{'Well. ' * before}<{tag}>\nperhaps\n\n{written}\n" + f"</{tag}>\nNo." * closes
    assert read(name, text).calls == ()


@every_dialect
@pytest.mark.requirement("C23", "C24", "S19", "T29")
@settings(max_examples=60)
@given(data=hostile(), tool=st.one_of(st.just("some_tool"), hostile().map(str)), success=st.booleans())
def test_no_result_is_a_call(name: str, data: Any, tool: str, success: bool) -> None:
    dialect, call = dialects.get(name), ToolCall.of(tool, {"a": str(data)})
    result = ToolResult.ok(data) if success else ToolResult.fail(str(data))
    messages = [
        dialect.result_message(call, result),
        dialect.results_message([(call, result), (call, result)]),
        dialect.error_message(f"Unknown tool: {tool}", str(data)),
        dialect.error_message(dialect.invalid_text(call, "unknown_tool", f"Unknown tool: {tool}")),
    ]
    for message in messages:
        assert read(name, message).calls == ()
        assert read(name, f"I was told:\n\n{message}\n\nWell.").calls == ()


@every_dialect
@settings(max_examples=40)
@given(reply=replies())
def test_a_correction_runs_nothing_of_what_it_corrects(name: str, reply: str) -> None:
    """It may show the format, with a call of its own; what the reply wanted is not in it."""
    parsed = read(name, reply)
    if parsed.calls or (parsed.kind == "text" and parsed.problem is None):
        return
    message = dialects.get(name).correction_message(parsed)
    shown = read(name, message, multi=True).calls
    assert {call.name for call in shown} <= {"tool_name", *(spec.name for spec in builtin_specs())}
    assert not [call for call in shown if "1" in call.args.values()]


@every_dialect
@pytest.mark.requirement("A10", "A11", "A13")
@settings(max_examples=15)
@given(spec=tools())
def test_every_printed_example_is_the_call_that_it_shows(name: str, spec: ToolSpec) -> None:
    dialect = dialects.get(name)
    shown = dialect.manifest([spec]).texts[spec.name]
    for example in EXAMPLE.findall(shown):
        [call] = read(name, example, tools=[spec]).calls
        assert call.name == spec.name
        assert list(Draft202012Validator(spec.parameters).iter_errors(typed(spec, call))) == []
    for example in EXAMPLE.findall(dialect.instructions([spec.name for spec in builtin_specs()])):
        calls = read(name, example).calls
        assert calls
        again = dialect.format_call(calls[0]) if len(calls) == 1 else dialect.format_calls(calls)
        assert [(each.name, each.args) for each in read(name, again).calls] == [
            (each.name, each.args) for each in calls
        ]


@every_dialect
@pytest.mark.requirement("A15", "T31")
@settings(max_examples=15)
@given(text=st.sampled_from(["{{ 7*7 }}", "{% raw %}", "{{tools}}", "{# x #}", "${x}", "<TOOL_CALL>", "````"]))
def test_a_prompt_shows_tool_text_as_it_is(name: str, text: str) -> None:
    spec = ToolSpec("probe", f"Does {text} well.", {"type": "object", "properties": {}, "required": []})
    prompt = dialects.get(name).system_prompt([spec])
    assert "49" not in prompt
    assert "probe" in prompt
