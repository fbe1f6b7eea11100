"""Objects in the manner of JavaScript or Python: what stands in them is their content, never a call."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.protocol.jsonform.oddkey import ODD_OBJECT_BEGINS, OddKey
from bridge.protocol.tagged.hops import Finder
from tests.protocol.invariants import check

X = '{"name":"x","args":{}}'
Y = '{"name":"y","args":{}}'
PIECES = ["{", "}", "[", "'", "a", "имя", ":", " ", "\n", "$", "-", '"', "<think>", "</think>", "```", "py\n", ",", X]


@pytest.mark.requirement("A16")
@pytest.mark.parametrize("cut", [1, 3, 7, 10**6])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{{'tool': {X}}} {Y}", ["y"]),
        (f"{{ name:'x', call: {X}}} {Y}", ["y"]),
        (f"{{\n  name\n : 'x', call: {{a: {X}}}\n}}\n{Y}", ["y"]),
        (f"{{имя: {X}}} {Y}", ["y"]),
        (f"{{'the  key' : {X}}} {Y}", ["y"]),
        (f"{{'': {X}}} {Y}", ["y"]),
        (f"[{{$key-1: {X}}}] {Y}", ["y"]),
        (f'{{"a": {{b: {X}}}}} {Y}', ["y"]),
        (f"{{'tool': {X} {Y}", []),
        (f"{{tool: {X} {Y}", []),
        (f"{{ not json {X}", ["x"]),
        (f"{{ name\n {X}", ["x"]),
        (f"{{'it is {X}", ["x"]),
        (f"{{'it'\n{X}", ["x"]),
        (f"{{'it\n': {X}", ["x"]),
        (f"{{: {X}", ["x"]),
        (f"{{a.b: {X}", ["x"]),
        (f"a: {X}", ["x"]),
        ("{'tool'", []),
        ("{'tool", []),
        ("{tool ", []),
    ],
)
def test_no_call_in_an_object_with_such_a_key_runs(text: str, expected: list[str], cut: int) -> None:
    reply = check("gemini_json", text, [cut])
    assert [call.name for call in reply.calls] == expected


@pytest.mark.requirement("A16")
@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join), st.lists(st.integers(1, 5), min_size=1, max_size=9))
def test_every_way_of_cutting_gives_the_same_reply(text: str, cuts: list[int]) -> None:
    check("gemini_json", text, cuts)


@given(st.text("a9é$-' \n:x", min_size=1).map(str.lstrip).filter(bool), st.integers(1, 3))
def test_the_bracket_is_found_where_a_key_may_follow(text: str, size: int) -> None:
    key, at, verdict = OddKey(), 0, None
    while at < len(text) and verdict is None:
        at, verdict = key.read(text[: at + size], at)
    is_found = Finder("{", ODD_OBJECT_BEGINS).search("{" + text, 0) is not None
    assert is_found is (verdict is not False)


@pytest.mark.requirement("A16")
@pytest.mark.parametrize(
    "before",
    [
        '"role":"assistant","content":null,',
        '"content":[{"type":"text","on":[ ]},{}],',
        '"meta":{"a":{"b":[1, 2]}} , "x":{},',
    ],
)
def test_a_broken_call_after_any_members_is_one(before: str) -> None:
    reply = check("openai_json", f'{{{before}"tool_calls":[{{"name":"x",oops}}]}} {{"name":"y","arguments":{{}}}}', [5])
    assert reply.calls == ()
    assert reply.problem is not None


@pytest.mark.parametrize("before", ['"a":[1,],', '"a":{"b":1,},', '"a":[[[[]]]],'])
def test_what_is_no_plain_member_hides_the_sign(before: str) -> None:
    reply = check("openai_json", f'{{{before}"tool_calls":[{{"name":"x",oops}}]}}', [5])
    assert (reply.kind, reply.diagnostics) == ("text", ())
