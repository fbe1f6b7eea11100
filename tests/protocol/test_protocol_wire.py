from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import pathlib
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.protocol import ResponseParser, ToolCall, ToolResult, dialects
from bridge.protocol.wire import one_line

TOOL_CALL = dialects.get("tool_call")
CALL = ToolCall("1", "read_file", {})


@dataclasses.dataclass
class Point:
    x: int
    y: Any


class Colour(enum.Enum):
    RED = "red"


class Rude:
    def __repr__(self) -> NoReturn:
        raise RuntimeError("no")


def reject(text: str) -> NoReturn:
    raise AssertionError(f"{text} is not JSON")


def read(message: str) -> Any:
    head, space, body = message.partition(" ")
    assert (head, space) == ("TOOL_RESULT:", " ")
    return json.loads(body, parse_constant=reject)


def cycle() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(5000):
        value = [value]
    return value


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.dates()
    | st.complex_numbers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers() | st.none(), inner) | st.tuples(inner),
    max_leaves=10,
)


@pytest.mark.requirement("T25")
@pytest.mark.requirement("T26")
def test_all_three_keys_always() -> None:
    ok = TOOL_CALL.result_message(CALL, ToolResult.ok({"content": "x", "lines": 1}))
    assert ok == 'TOOL_RESULT: {"success": true, "data": {"content": "x", "lines": 1}, "error": null}'
    failed = TOOL_CALL.result_message(CALL, ToolResult.fail("File not found: x"))
    assert failed == 'TOOL_RESULT: {"success": false, "data": null, "error": "File not found: x"}'
    assert read(TOOL_CALL.result_message(CALL, ToolResult(False, "half", None)))["error"]


@pytest.mark.requirement("T8")
def test_several_results_are_a_line_each_in_the_order_of_their_calls() -> None:
    message = TOOL_CALL.results_message([(CALL, ToolResult.ok("a\nb")), (CALL, ToolResult.fail("no"))])
    first, second = map(read, message.split("\n"))
    assert (first["data"], second["error"]) == ("a\nb", "no")


@pytest.mark.requirement("T27")
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("inf"), "Infinity"),
        (float("nan"), "NaN"),
        (b"text", "text"),
        (b"\xff", {"base64": "/w=="}),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC), "2026-01-02T00:00:00+00:00"),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        ({3, 1, 2}, [1, 2, 3]),
        ((1, 2), [1, 2]),
        (Point(1, {2: b"z"}), {"x": 1, "y": {"2": "z"}}),
        (Colour.RED, "red"),
        ({None: 1, True: 2, 1.5: 3, (1,): 4}, {"null": 1, "true": 2, "1.5": 3, "[1]": 4}),
        (ValueError("bad"), "bad"),
        (cycle(), ["(cycle)"]),
        (Rude(), "(Rude)"),
        ("\ud800", "\ud800"),
        ("a\nb\x00\u2028\x7f<TOOL_CALL>```", "a\nb\x00\u2028\x7f<TOOL_CALL>```"),
    ],
)
def test_anything_becomes_json(value: object, expected: object) -> None:
    assert read(TOOL_CALL.result_message(CALL, ToolResult.ok(value)))["data"] == expected


@pytest.mark.requirement("T27")
def test_an_integer_too_long_to_print() -> None:
    assert one_line(-(10**5000)) == f'"{hex(-(10**5000))}"'


@pytest.mark.requirement("T27")
def test_depth_is_bounded() -> None:
    assert "(too deep)" in one_line(deep())


@pytest.mark.requirement("T27")
@given(anything)
def test_a_result_is_one_line_of_printable_ascii_that_holds_no_call(value: Any) -> None:
    message = TOOL_CALL.result_message(CALL, ToolResult.ok(value))
    assert set(read(message)) == {"success", "data", "error"}
    assert message.isascii() and message.isprintable()
    assert "<" not in message and "`" not in message
    assert ResponseParser().parse(message).kind == "text"


@pytest.mark.requirement("T27")
@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_text_comes_back_as_it_was(text: str) -> None:
    assert read(TOOL_CALL.result_message(CALL, ToolResult.ok(text)))["data"] == text
