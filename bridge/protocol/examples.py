"""Arguments that show how a tool is called, made from its schema alone (A10, A13)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from bridge.protocol import limits
from tool_manager.models import JsonObject, JsonValue, ToolSpec

_IN_DESCRIPTION = re.compile(r"""e\.g\.[,:]?\s{0,3}(["'`])(.{1,200}?)\1""", re.IGNORECASE)
_SCALARS: Final[dict[str, JsonValue]] = {"integer": 123, "number": 123.45, "boolean": True, "null": None}
_BRANCHES: Final = ("anyOf", "oneOf")


def example_args(spec: ToolSpec, *, optional: bool) -> JsonObject:
    """Example arguments for `spec`: the required ones of every level, with `optional` all of them.

    A value is the default, the constant, the first of the enum, what the description gives after "e.g.", or a
    placeholder of its type; arrays show two items (A13). Raises `ValueError` where the schema makes no sense.
    """
    return _Examples(spec.parameters, optional).members(spec.parameters, 0)


def has_optional(spec: ToolSpec) -> bool:
    """Whether any parameter, at any depth, may be left out (A10). Raises `ValueError` as `example_args` does."""
    return any(set(_properties(each)) - _required(each) for each in _schemas(spec.parameters))


def _schemas(root: JsonObject) -> Iterator[JsonObject]:
    """`root` and every schema of a value beneath it, each once."""
    todo, seen = [root], {id(root)}
    while todo:
        schema = _resolved(todo.pop(), root)
        yield schema
        items = schema.get("items", ())
        below = [*_properties(schema).values(), items]
        below += [branch for key in _BRANCHES for branch in schema.get(key, ())]
        fresh = [each for each in below if isinstance(each, dict) and id(each) not in seen]
        seen.update(map(id, fresh))
        todo += fresh


class _Examples:
    """One example; `budget` bounds it where schemas refer to each other."""

    def __init__(self, root: JsonObject, optional: bool) -> None:
        self._root, self._optional = root, optional
        self._budget = limits.MAX_EXAMPLE_VALUES

    def members(self, schema: JsonObject, depth: int) -> JsonObject:
        schema = _resolved(schema, self._root)
        shown = _required(schema)
        if self._optional and depth < limits.MAX_EXAMPLE_DEPTH:
            shown = shown | set(_properties(schema))
        return {name: self._value(each, name, depth + 1) for name, each in _properties(schema).items() if name in shown}

    def _value(self, given: JsonValue, name: str, depth: int) -> JsonValue:
        self._budget -= 1
        schema = _branch(given, self._root)
        for key in ("const", "default"):
            if schema.get(key) is not None:
                return schema[key]
        if schema.get("enum"):
            return schema["enum"][0]
        kind = _kind(schema)
        if kind == "object":
            return {} if self._is_enough(depth) else self.members(schema, depth)
        if kind == "array":
            return [] if self._is_enough(depth) else self._items(schema, name, depth)
        return _bounded(_SCALARS[kind], schema) if kind in _SCALARS else _string(schema, name)

    def _items(self, schema: JsonObject, name: str, depth: int) -> list[JsonValue]:
        count = min(2, schema.get("maxItems", 2))
        items = schema.get("items", {})
        return [self._value(items, f"{name}[{index}]", depth + 1) for index in range(count)]

    def _is_enough(self, depth: int) -> bool:
        return depth > limits.MAX_EXAMPLE_DEPTH or self._budget <= 0


def _branch(given: JsonValue, root: JsonObject) -> JsonObject:
    """The schema to show where there is a choice: the first that is not null."""
    schema = _resolved(given, root)
    for _ in range(limits.MAX_EXAMPLE_DEPTH):
        choices = next((schema[key] for key in _BRANCHES if schema.get(key)), None)
        if choices is None:
            break
        outer = {key: value for key, value in schema.items() if key not in _BRANCHES}
        branches = [_resolved(each, root) for each in choices]
        schema = outer | next((each for each in branches if each.get("type") != "null"), branches[0])
    return schema


def _resolved(schema: JsonValue, root: JsonObject) -> JsonObject:
    """`schema` without a reference or an `allOf` at its top; what cannot be found says nothing."""
    schema = {} if schema is True else schema
    if not isinstance(schema, dict):
        raise ValueError("a schema must be a JSON object")
    for _ in range(limits.MAX_EXAMPLE_DEPTH):
        if not isinstance(schema.get("$ref"), str):
            break
        schema = {key: value for key, value in schema.items() if key != "$ref"} | _at(root, schema["$ref"])
    whole: JsonObject = dict(schema)
    for part in schema.get("allOf", ()):
        whole |= _at(root, part["$ref"]) if "$ref" in part else part
    return whole


def _at(root: JsonObject, pointer: str) -> JsonObject:
    found: JsonValue = root
    for part in pointer.removeprefix("#").split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        found = found.get(name, {}) if isinstance(found, Mapping) else {}
    return dict(found) if isinstance(found, Mapping) else {}


def _kind(schema: JsonObject) -> str:
    kinds = schema.get("type")
    if isinstance(kinds, list | tuple):
        kinds = next((kind for kind in kinds if kind != "null"), "null")
    if isinstance(kinds, str):
        return kinds
    return "object" if "properties" in schema else "array" if "items" in schema else "string"


def _properties(schema: JsonObject) -> Mapping[str, JsonValue]:
    found = schema.get("properties", {})
    if not isinstance(found, Mapping):
        raise ValueError("its properties must be a JSON object")
    return found


def _required(schema: JsonObject) -> set[str]:
    found = schema.get("required", [])
    if not isinstance(found, list | tuple):
        raise ValueError("`required` is not a list")
    return set(found)


def _bounded(value: JsonValue, schema: JsonObject) -> JsonValue:
    """`value` moved into the bounds that the schema sets, for a model may copy it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    value = max(value, schema.get("minimum", value))
    return min(value, schema.get("maximum", value))


def _string(schema: JsonObject, name: str) -> str:
    found = _IN_DESCRIPTION.search(str(schema.get("description", "")))
    return found[2] if found else f"A valid string for '{name}'"
