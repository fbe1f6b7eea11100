"""Example arguments made from a schema."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from bridge.protocol import limits
from bridge.protocol.examples import example_args, has_optional
from tool_manager import ToolSpec, builtin_specs


def spec(properties: dict[str, Any], required: list[str] | None = None, defs: Any = None) -> ToolSpec:
    names = list(properties) if required is None else required
    return ToolSpec("t", "d", {"type": "object", "properties": properties, "required": names, "$defs": defs})


@pytest.mark.requirement("A13")
@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "default": "x", "description": "e.g., 'y'"}, "x"),
        ({"type": "string", "default": None}, "A valid string for 'n'"),
        ({"type": "string", "description": "A path, e.g., 'src/a.py', inside."}, "src/a.py"),
        ({"type": "string", "description": 'e.g. "b"'}, "b"),
        ({"type": "string"}, "A valid string for 'n'"),
        ({"type": ["null", "string"]}, "A valid string for 'n'"),
        ({"type": ["null"]}, None),
        ({"type": "integer"}, 123),
        ({"type": "integer", "maximum": 9}, 9),
        ({"type": "number", "minimum": 200}, 200),
        ({"type": "number"}, 123.45),
        ({"type": "boolean"}, True),
        ({"type": "null"}, None),
        ({"enum": ["u", "v"]}, "u"),
        ({"const": 5}, 5),
        ({"type": "array", "items": {"type": "integer"}}, [123, 123]),
        ({"items": {"type": "string"}}, ["A valid string for 'n[0]'", "A valid string for 'n[1]'"]),
        ({"type": "array", "maxItems": 1, "items": {"type": "boolean"}}, [True]),
        ({"type": "array"}, ["A valid string for 'n[0]'", "A valid string for 'n[1]'"]),
        ({"properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]}, {"a": 123}),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, 123),
        ({"oneOf": [{"anyOf": [{"type": "null"}]}]}, None),
        ({"allOf": [{"type": "integer"}, {"$ref": "#/$defs/small"}]}, 3),
        ({"$ref": "#/$defs/small"}, 3),
        ({"$ref": "#/$defs/not here/0"}, "A valid string for 'n'"),
        (True, "A valid string for 'n'"),
        ({"type": "strange"}, "A valid string for 'n'"),
    ],
)
def test_a_value_of_each_kind(schema: Any, value: Any) -> None:
    tool = spec({"n": schema}, defs={"small": {"type": "integer", "maximum": 3}})
    assert example_args(tool, optional=False) == {"n": value}


@pytest.mark.requirement("A10")
def test_optional_arguments_of_every_level_are_shown_only_where_asked() -> None:
    inner = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}}, "required": ["a"]}
    tool = spec({"o": inner, "p": {"type": "number"}}, ["o"])
    assert example_args(tool, optional=False) == {"o": {"a": 123}}
    assert example_args(tool, optional=True) == {"o": {"a": 123, "b": True}, "p": 123.45}


@pytest.mark.requirement("A10")
@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        (ToolSpec("t", "d"), False),
        (ToolSpec("t", "d", {}), False),
        (spec({"a": {"type": "string"}}), False),
        (spec({"a": {"type": "string"}}, []), True),
        (spec({"l": {"items": {"properties": {"x": {}}}}}), True),
        (spec({"l": {"items": {"properties": {"x": {}}, "required": ["x"]}}}), False),
        (spec({"u": {"anyOf": [{"type": "null"}, {"properties": {"x": {}}}]}}), True),
        (spec({"r": {"$ref": "#/$defs/N"}}, defs={"N": {"properties": {"x": {}}}}), True),
    ],
)
def test_optional_at_any_depth(tool: ToolSpec, expected: bool) -> None:
    assert has_optional(tool) is expected


@pytest.mark.requirement("A13")
def test_schemas_that_refer_to_themselves_have_short_examples() -> None:
    node = {"type": "object", "properties": {}, "required": []}
    node["properties"] = {f"p{number}": {"$ref": "#/$defs/N"} for number in range(9)}
    tool = spec({"n": {"$ref": "#/$defs/N"}}, defs={"N": node, "loop": {"$ref": "#/$defs/loop"}})
    assert has_optional(tool)
    assert len(str(example_args(tool, optional=True))) < limits.MAX_EXAMPLE_VALUES * 500
    assert example_args(spec({"x": {"$ref": "#/$defs/loop"}}, defs={"loop": {"$ref": "#/$defs/loop"}}), optional=True)
    endless: dict[str, Any] = {"type": "array"}
    endless["items"] = endless
    assert str(example_args(spec({"x": endless}), optional=False)).count("[") < 200
    choice: dict[str, Any] = {}
    choice["anyOf"] = [choice]
    assert example_args(spec({"x": choice}), optional=False) == {"x": "A valid string for 'x'"}


@pytest.mark.parametrize(
    "parameters", [{"properties": []}, {"required": "a"}, {"properties": {"a": 5}, "required": ["a"]}]
)
def test_a_schema_that_makes_no_sense(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must be a JSON object|is not a list"):
        example_args(ToolSpec("t", "d", parameters), optional=True)


@pytest.mark.requirement("A13")
def test_the_examples_of_our_own_tools_fit_their_schemas() -> None:
    assert len(builtin_specs()) > 4
    for tool in builtin_specs():
        for optional in (False, True):
            Draft202012Validator(tool.parameters).validate(example_args(tool, optional=optional))
