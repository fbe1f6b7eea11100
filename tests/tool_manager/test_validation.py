from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.tool_manager.attacks import call
from tool_manager import ToolDefinition
from tool_manager.registry import Registry
from tool_manager.validation import handler_args, validate


async def nothing(**_args: Any) -> None: ...


def definition(**extra: Any) -> ToolDefinition:
    properties = {
        "path": {"type": "string"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "on": {"type": "boolean"},
        "items": {"type": "array", "items": {"type": "string"}},
        "options": {"type": "object", "properties": {"limit": {"type": "integer"}}},
        "mode": {"enum": ["fast", "slow"]},
        "maybe": {"type": ["integer", "null"]},
    }
    schema = {"type": "object", "properties": properties, "required": ["path", "mode"], **extra}
    return ToolDefinition("probe", "", schema, nothing)


def error(**args: Any) -> str | None:
    registry = Registry()
    registry.add(definition())
    invalid = validate(registry, call("probe", **args))
    return invalid.error if invalid else None


@pytest.mark.requirement("T19")
@pytest.mark.parametrize("name", ["prob", "__class__", "PROBE", "", "add"])
def test_unknown_tool(name: str) -> None:
    registry = Registry()
    registry.add(definition())
    invalid = validate(registry, call(name))
    assert invalid and invalid.error == f"Unknown tool: {name}"
    assert (invalid.hint == "Did you mean probe?") == (name == "prob")


@pytest.mark.requirement("T20", "T21")
def test_missing_parameters_come_in_order_and_before_types() -> None:
    assert error() == "Missing required parameter: path"
    assert error(mode="fast", count="x") == "Missing required parameter: path"
    assert error(path=1) == "Missing required parameter: mode"


@pytest.mark.requirement("T20")
def test_null_counts_as_present() -> None:
    assert error(path=None, mode="fast") == 'Expected type string, got null for parameter "path"'


@pytest.mark.requirement("T22", "T24")
@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("count", True, "integer, got boolean"),
        ("count", "1", "integer, got string"),
        ("count", 2.5, "integer, got number"),
        ("ratio", False, "number, got boolean"),
        ("on", 1, "boolean, got integer"),
        ("items", {}, "array, got object"),
        ("options", [], "object, got array"),
        ("maybe", "x", "integer or null, got string"),
    ],
)
def test_types(name: str, value: object, expected: str) -> None:
    assert error(path="p", mode="fast", **{name: value}) == f'Expected type {expected} for parameter "{name}"'


@pytest.mark.requirement("T22")
@pytest.mark.parametrize(("name", "value"), [("count", 2.0), ("ratio", 1), ("items", ["a"]), ("maybe", None)])
def test_good_types(name: str, value: object) -> None:
    assert error(path="p", mode="fast", **{name: value}) is None


@pytest.mark.requirement("T24")
def test_enum_and_nested() -> None:
    assert error(path="p", mode="warp") == 'Value must be one of: fast, slow for parameter "mode"'
    nested = error(path="p", mode="fast", options={"limit": "1"})
    assert nested == 'Expected type integer, got string for parameter "options.limit"'


@pytest.mark.requirement("T24")
def test_extra_parameters_follow_the_schema() -> None:
    assert error(path="p", mode="fast", extra=1) is None
    assert handler_args(definition(), {"path": "p", "extra": 1}) == {"path": "p"}
    welcome = definition(additionalProperties=True)
    assert handler_args(welcome, {"path": "p", "extra": 1}) == {"path": "p", "extra": 1}
    registry = Registry()
    registry.add(definition(additionalProperties=False))
    invalid = validate(registry, call("probe", path="p", mode="fast", paht=1))
    assert invalid and (invalid.error, invalid.hint) == ("Unknown parameter: paht", "Did you mean path?")


def test_a_misspelt_parameter_is_hinted() -> None:
    registry = Registry()
    registry.add(definition())
    invalid = validate(registry, call("probe", paths="p", mode="fast"))
    assert invalid and invalid.hint == "You wrote paths; the parameter is named path."


@pytest.mark.requirement("T21")
def test_arguments_are_never_changed() -> None:
    args = {"path": "p", "mode": "fast", "count": 2.0, "extra": [1]}
    before = copy.deepcopy(args)
    assert error(**args) is None
    assert handler_args(definition(), args)["count"] == 2 and type(handler_args(definition(), args)["count"]) is int
    assert args == before


def test_a_reference_in_a_schema_is_never_fetched() -> None:
    registry = Registry()
    schema = {"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1:9/schema"}}, "required": []}
    registry.add(ToolDefinition("remote", "", schema, nothing))
    with pytest.raises(Exception, match="Unresolvable"):
        validate(registry, call("remote", x=1))
