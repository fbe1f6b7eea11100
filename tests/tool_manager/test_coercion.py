"""Arguments written as text take the types of the schema (A38, X22)."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tool_manager import ToolManager, tool
from tool_manager.coercion import coerce, coerced
from tool_manager.models import ToolCall


def fitted(schema: Any, value: Any, written: str | None = None) -> Any:
    notes: dict[tuple[str | int, ...], str] = {} if written is None else {("x",): written}
    return coerce({"type": "object", "properties": {"x": schema}}, {"x": value}, notes)["x"]


def same(left: Any, right: Any) -> bool:
    return (left, type(left)) == (right, type(right))


@pytest.mark.requirement("A38")
@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("integer", " 42\n", 42), ("integer", "-7", -7), ("integer", "2.0", 2), ("integer", "2.5", "2.5"),
        ("integer", "1_000", "1_000"), ("integer", "٣", "٣"), ("integer", "", ""), ("integer", "9" * 5000, "9" * 5000),
        ("number", "3.5", 3.5), ("number", "2", 2), ("number", "1e3", 1000.0), ("number", ".5", 0.5),
        ("number", "1e999", "1e999"), ("number", "NaN", "NaN"), ("number", "inf", "inf"), ("number", "x", "x"),
        ("boolean", "TRUE", True), ("boolean", " yes ", True), ("boolean", "1", True), ("boolean", "No", False),
        ("boolean", "0", False), ("boolean", "false", False), ("boolean", "on", "on"), ("null", "null", None),
        ("null", "none", "none"), ("array", " ", []), ("array", "a", "a"), ("object", "", {}), ("object", "{}", "{}"),
        ("string", " 5 ", " 5 "), ("string", "true", "true"), ("string", "", ""),
    ],
)  # fmt: skip
def test_text_becomes_what_is_wanted_or_stays(kind: str, text: str, value: Any) -> None:
    assert same(fitted({"type": kind}, text), value)


@pytest.mark.requirement("A38")
@pytest.mark.parametrize(
    ("schema", "value", "result"),
    [
        ({"type": "array", "items": {"type": "integer"}}, ["1", "x", "3"], [1, "x", 3]),
        ({"type": "array", "items": {"properties": {"n": {"type": "integer"}}}}, [{"n": "1"}, "2"], [{"n": 1}, "2"]),
        ({"type": "array", "prefixItems": [{"type": "boolean"}], "items": {"type": "integer"}}, ["1", "1"], [True, 1]),
        ({"type": "array", "items": {"type": "array", "items": {"type": "number"}}}, [["1"], ""], [[1], []]),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"a": "1"}, {"a": 1}),
        ({"type": "object", "additionalProperties": False}, {"a": "1"}, {"a": "1"}),
        ({"type": "array"}, ["1"], ["1"]),
    ],
)
def test_all_the_way_down(schema: Any, value: Any, result: Any) -> None:
    assert fitted(schema, value) == result


@pytest.mark.requirement("A38")
@pytest.mark.parametrize(
    ("schema", "value", "result"),
    [
        ({"type": ["string", "integer"]}, "5", "5"),
        ({"type": ["integer", "string"]}, "5", "5"),
        ({"type": ["boolean", "integer"]}, "5", 5),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": ["integer", "null"]}, "x", "x"),
        ({"type": ["nonsense"]}, "x", "x"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "", None),
        ({"anyOf": [{"type": "string"}, {"type": "array"}]}, "", ""),
        ({"oneOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "integer"}]}, ["1"], [1]),
        ({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, "maybe", "maybe"),
        ({"anyOf": [{"$ref": "https://e.org/x"}, {"type": "integer"}]}, "1", 1),
        ({"allOf": [{"type": "integer"}, {"minimum": 3}]}, "5", 5),
        ({"enum": ["fast", 1, None]}, " fast ", "fast"),
        ({"enum": ["fast", 1, None]}, "1", 1),
        ({"enum": ["1", 1]}, "1", "1"),
        ({"enum": ["fast"]}, "slow", "slow"),
        ({"const": True}, "true", True),
        ({"type": "string", "enum": ["a b"]}, "\na b\n", "a b"),
        ({"type": "integer", "enum": [1, 2]}, "2", 2),
        ({}, "5", "5"),
        (True, "5", "5"),
    ],
)
def test_choices(schema: Any, value: Any, result: Any) -> None:
    assert same(fitted(schema, value), result)


@pytest.mark.requirement("X22")
def test_what_was_written_comes_back_where_text_is_wanted() -> None:
    assert same(fitted({"type": "string"}, 1.1, "1.10"), "1.10")
    assert same(fitted({"type": "string"}, True, "yes"), "yes")
    assert same(fitted({"type": "integer"}, True, "1"), 1)
    assert same(fitted({"type": "number"}, 1.1, "1.10"), 1.1)
    assert same(fitted({"type": ["string", "number"]}, 1.1, "1.10"), 1.1)
    assert same(fitted({"type": "string"}, 7), 7)


@pytest.mark.requirement("X22")
def test_a_path_loses_the_white_space_that_was_written_around_it() -> None:
    schema = {"properties": {"to_file": {"type": "string"}, "at": {"type": "string", "format": "path"}, "text": {}}}
    written: dict[tuple[str | int, ...], str] = {("to_file",): "a", ("at",): "b", ("text",): "c"}
    args = {"to_file": " a ", "at": " b", "text": " c"}
    assert coerce(schema, args, written) == {"to_file": "a", "at": "b", "text": " c"}
    assert coerce(schema, args, {}) == args


def test_references_inside_the_schema_are_followed() -> None:
    node = {"type": "object", "properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/a~1b"}}}
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/a~1b"}}, "$defs": {"a/b": node}}
    assert coerce(schema, {"x": {"n": "1", "next": {"n": "2"}}}, {}) == {"x": {"n": 1, "next": {"n": 2}}}
    circle = {"properties": {"x": {"$ref": "#/properties/x"}, "y": {"$ref": "#/no/where"}, "z": {"$ref": 7}}}
    assert coerce(circle, {"x": "1", "y": "2", "z": "3"}, {}) == {"x": "1", "y": "2", "z": "3"}


def test_the_arguments_that_were_given_stay_as_they_are() -> None:
    args = {"a": ["1"]}
    schema = {"properties": {"a": {"type": "array", "items": {"type": "integer"}}}}
    call = coerced(ToolCall.of("t", args, "why", written={}), schema)
    assert (call.args, args, call.written, call.reasoning) == ({"a": [1]}, {"a": ["1"]}, None, "why")
    json_call = ToolCall.of("t", args)
    assert coerced(json_call, schema) is json_call
    odd = ToolCall("i", "t", "no object", None, {})  # type: ignore[arg-type]
    assert coerced(odd, schema) is odd


def test_arguments_that_are_too_deep_are_left_to_validation() -> None:
    deep: Any = "1"
    for _ in range(sys.getrecursionlimit()):
        deep = [deep]
    call = coerced(ToolCall("i", "t", {"x": deep}, written={}), {})
    assert call.args["x"] is deep
    assert call.written is None


@pytest.mark.requirement("A38")
async def test_the_manager_types_what_was_written_as_text_and_nothing_else(manager: ToolManager) -> None:
    @tool("Adds")
    def add(a: float, b: int = 0) -> float:
        return a + b

    manager.register(add)
    text = ToolCall.of("add", {"a": "2", "b": " 3 "}, written={})
    assert manager.validate(text) is None
    prepared = await manager.prepare(text)
    assert (prepared.call.args, prepared.call.written, prepared.call.id) == ({"a": 2, "b": 3}, None, prepared.call.id)
    assert (await manager.execute(text)).data == 5
    assert (await manager.commit(prepared)).data == 5
    assert text.args == {"a": "2", "b": " 3 "}

    json_call = ToolCall.of("add", {"a": "2"})
    invalid = manager.validate(json_call)
    assert invalid is not None and invalid.error == 'Expected type number, got string for parameter "a"'
    assert (await manager.prepare(json_call)).decision == "invalid"

    wrong = await manager.execute(ToolCall.of("add", {"a": "two"}, written={}))
    assert wrong.error == 'Expected type number, got string for parameter "a"'
    unknown = manager.validate(ToolCall.of("ad", {"a": "2"}, written={}))
    assert unknown is not None and unknown.error == "Unknown tool: ad"
