from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.protocol import jsontext
from bridge.protocol.jsontext import BadJson, JsonScanner, decode, fault

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.requirement("T9")
@given(st.dictionaries(st.text(), values), st.booleans(), st.integers(1, 9))
def test_the_scanner_ends_where_the_value_ends(value: dict[str, Any], is_ascii: bool, size: int) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii)
    data, scanner, at = text + "}tail", JsonScanner(), 0
    for start in range(0, len(data), size):
        end, state = scanner.scan(data[start : start + size], 0)
        at = start + end
        if state == "end":
            break
    assert data[:at] == text
    assert decode(text) == value


@pytest.mark.requirement("T9")
@given(st.dictionaries(st.text(), values), st.sampled_from(["", "}", " x", "<"]))
def test_an_eager_scanner_finds_the_same_end(value: dict[str, Any], tail: str) -> None:
    text = json.dumps(value)
    scanner = JsonScanner(eager=True)
    assert scanner.scan(f"<x>{text}{tail}", 3) == (3 + len(text), "end")
    assert scanner.value == value


@pytest.mark.requirement("T13")
@pytest.mark.requirement("T17")
@pytest.mark.parametrize("text", ['{"a":' + "[" * 250 + "]" * 250 + ',"a":1}', "[" * 250 + "]" * 250])
def test_an_eager_scanner_is_not_deceived_about_depth(text: str) -> None:
    scanner = JsonScanner(eager=True)
    assert scanner.scan(text, 0) == (len(text), "end")
    assert scanner.value is None
    assert scanner.deepest >= 250


@given(st.text())
def test_decode_raises_bad_json_and_nothing_else(text: str) -> None:
    try:
        value = decode(text)
    except BadJson as error:
        assert 0 <= error.offset <= len(text)
    else:
        assert json.loads(text) == value


@pytest.mark.requirement("T17")
@pytest.mark.parametrize(
    ("text", "reason"),
    [("[" * 100_000, "depth"), ("9" * 5000, "number"), ("-1e400", "number"), ('"ab', "cut"), ("{} {}", "json")],
)
def test_what_the_standard_decoder_takes_or_chokes_on(text: str, reason: str) -> None:
    with pytest.raises(BadJson) as caught:
        decode(text)
    assert caught.value.reason == reason


def test_the_longest_integer_can_be_printed_again() -> None:
    assert str(decode("9" * 4300)) == "9" * 4300


@pytest.mark.requirement("T17")
def test_where_the_interpreters_own_limit_was_raised_ours_holds() -> None:
    assert jsontext.integers(4300) is jsontext.integers(640) is int
    for raised in (0, 10_000):
        read = jsontext.integers(raised)
        assert read("-12") == -12
        with pytest.raises(ValueError, match="4300"):
            read("9" * 4301)


@pytest.mark.requirement("T9")
@pytest.mark.parametrize(("text", "reason"), [("[1]", None), ("[1", "cut"), ("[x]", "json"), ("[NaN]", "number")])
def test_the_fault_of_a_text(text: str, reason: str | None) -> None:
    found = fault(text)
    assert (found.reason if found else None) == reason
