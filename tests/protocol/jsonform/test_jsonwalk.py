"""Where JSON ends in text that is still arriving, and where text stops being JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.protocol import limits
from bridge.protocol.jsonform.jsonwalk import JsonWalk, decode_text
from bridge.protocol.jsontext import BadJson

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)
containers = st.lists(values, max_size=4) | st.dictionaries(st.text(), values, max_size=4)


def walked(text: str, size: int) -> tuple[int, str]:
    """Where the walk over `text` in pieces of `size` stopped, and why."""
    walk, state, at = JsonWalk(), "more", 0
    for start in range(0, len(text), size):
        at, state = walk.walk(text[start : start + size], 0)
        if state != "more":
            return start + at, state
    return len(text), state


@pytest.mark.requirement("A16")
@given(containers, st.sampled_from([None, 1]), st.booleans(), st.text(), st.integers(1, 9))
def test_a_value_ends_where_it_ends(value: Any, indent: int | None, is_ascii: bool, after: str, size: int) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=is_ascii)
    assert walked(text + after, size) == walked(text + after, 10**6) == (len(text), "end")
    assert walked(text[:-1], size) == (len(text) - 1, "more")


@pytest.mark.requirement("A16")
@pytest.mark.parametrize(
    ("begin", "rest"),
    [
        ("{", "{"), ("{", "x"), ("[", "see"), ("[", ","), ("{ ", "'a'"), ('{"a"', ","), ('{"a":', "}"), ('{"a":1', "]"),
        ('{"a":1,', "}"), ("[1", "}"), ("[1,", "]"), ("[1 ", "2]"), ('["a" ', '"b"]'), ("[tru", "]"), ("[01", "]"),
        ("[1.", "]"), ("[-", "]"), ("[nul", ",1]"), ('["a', "\nb"), ('["a\\', "\n"), ('{"a', "\x00"),
        ('{"a" \t', "}"), ('{"a":"b"', "<think>"),
        ("[", "NaN]"), ("[", "+1]"), ('{"a":1, "b":2, ', "c"), ('[1, "x", null, ', "]"), ('{"a":"b","c":tru', "}"),
    ],
)  # fmt: skip
def test_text_stops_being_json_at_the_first_character_that_cannot_be(begin: str, rest: str) -> None:
    for size in (1, 2, 3, 100):
        assert walked(begin + rest, size) == (len(begin), "broken")


@pytest.mark.requirement("T17")
def test_what_is_too_deep_is_told_once_and_walked_on() -> None:
    walk, text = JsonWalk(), "[" * (limits.MAX_DEPTH + 9)
    at, state = walk.walk(text, 0)
    assert (at, state) == (limits.MAX_DEPTH + 1, "deep")
    assert walk.walk(text, at) == (len(text), "more")
    assert walk.walk("]" * len(text) + "x", 0) == (len(text), "end")
    assert walk.deepest == len(text)


@pytest.mark.requirement("T17")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "cut"), ("{", "cut"), ("x", "json"), ("[1] 2", "json"), ("NaN", "number"), ("9" * 5000, "number"),
        ("[" * 201 + "]" * 201, "depth"), ("[" * 100_000, "depth"), ('["\\d"]', "json"),
    ],
)  # fmt: skip
def test_text_that_is_no_json(text: str, reason: str) -> None:
    with pytest.raises(BadJson) as caught:
        decode_text(text)
    assert caught.value.reason == reason


@pytest.mark.requirement("T17")
@pytest.mark.parametrize(
    ("text", "value"), [(" 5 ", 5), ('"a"', "a"), ("[" * 200 + "]" * 200, None), ('{"a":[]}', {"a": []})]
)
def test_text_that_is_json(text: str, value: Any) -> None:
    found = decode_text(text)
    assert value is None or found == value


@pytest.mark.requirement("A16")
@pytest.mark.parametrize("text", ["{ }", "[ ]", "{\r}", "[\n\t]", '{"a" : [ ] , "b":{ } }', "[ [ ], { } ]"])
def test_an_empty_value_ends_however_it_is_cut(text: str) -> None:
    for size in range(1, len(text) + 1):
        assert walked(text, size) == (len(text), "end")
