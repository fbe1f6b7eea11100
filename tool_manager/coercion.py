"""Arguments whose leaves were written as text, given the types that the tool's schema wants (A38, X22).

Nothing is guessed: what has no plain reading in the wanted type stays a string, and validation says what is wrong.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from json import dumps, loads
from typing import Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry as References
from referencing.exceptions import Unresolvable

from tool_manager.models import JsonObject, JsonValue, ToolCall, Written

_TRUE, _FALSE = frozenset({"true", "1", "yes"}), frozenset({"false", "0", "no"})
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_PATH_NAME = re.compile(r"(?:\w*_)?(?:path|file|filename|directory|dir|folder|cwd)", re.IGNORECASE)
_PATH_FORMATS: Final = frozenset({"path", "file-path", "directory-path"})
_MAX_REFERENCES: Final = 20
"""References followed from one schema: they may go in a circle."""

_Path = tuple[str | int, ...]


def coerced(call: ToolCall, schema: JsonObject) -> ToolCall:
    """`call` with arguments that fit `schema` where they can; a call with types of its own is returned as it is."""
    if call.written is None or not isinstance(call.args, dict):
        return call
    try:
        args = coerce(schema, call.args, call.written)
    except RecursionError:  # validation says so
        args = call.args
    return replace(call, args=args, written=None)


def coerce(schema: JsonObject, args: JsonObject, written: Written) -> JsonObject:
    """`args` as new containers, each leaf as `schema` wants it.

    Text becomes a number, a boolean (`true`, `1`, `yes`, `false`, `0`, `no`, in any case of letters) or null where that
    is wanted, without the white space around it; empty text an empty array or object. A string stays one where one is
    wanted, and what `written` says takes the place of a value that had become something else. Of several types the one
    that the value has is kept, else the first that it can have is taken. One of a list of values loses the white space
    around it, and so does a path, where `written` has it without.
    """
    fitted: JsonObject = _Coercion(schema, written).value(schema, args, ())
    return fitted


class _Coercion:
    def __init__(self, root: JsonObject, written: Written) -> None:
        self._root, self._written, self._text = root, written, ""

    def value(self, schema: JsonValue, value: JsonValue, at: _Path) -> JsonValue:
        schema = self._resolved(schema)
        for part in schema.get("allOf", ()):
            value = self.value(part, value, at)
        for key in ("anyOf", "oneOf"):
            if key in schema:
                value = self._first_fit(schema[key], value, at)
        if isinstance(value, dict):
            return self._members(schema, value, at)
        if isinstance(value, list):
            return self._items(schema, value, at)
        return self._leaf(schema, value, at)

    def _resolved(self, schema: JsonValue) -> JsonObject:
        for _ in range(_MAX_REFERENCES):
            if not isinstance(schema, dict):
                return {}
            pointer = schema.get("$ref")
            if not isinstance(pointer, str) or not pointer.startswith("#"):
                return schema
            schema = _at(self._root, pointer)
        return {}

    def _first_fit(self, choices: list[JsonValue], value: JsonValue, at: _Path) -> JsonValue:
        if any(self._fits(choice, value) for choice in choices):
            return value
        fitted = (self.value(choice, value, at) for choice in choices)
        return next((each for choice, each in zip(choices, fitted, strict=True) if self._fits(choice, each)), value)

    def _fits(self, schema: JsonValue, value: JsonValue) -> bool:
        self._text = self._text or dumps(self._root)
        try:
            return bool(_validator(self._text).evolve(schema=schema).is_valid(value))
        except (Unresolvable, ValidationError, RecursionError):
            return False

    def _members(self, schema: JsonObject, value: JsonObject, at: _Path) -> JsonObject:
        properties, extra = schema.get("properties", {}), schema.get("additionalProperties")
        members = {key: self.value(properties.get(key, extra), each, (*at, key)) for key, each in value.items()}
        for key, each in members.items():
            if isinstance(each, str) and _is_path(key, self._resolved(properties.get(key))):
                members[key] = self._written.get((*at, key), each)
        return members

    def _items(self, schema: JsonObject, value: list[JsonValue], at: _Path) -> list[JsonValue]:
        first, rest = schema.get("prefixItems", []), schema.get("items")
        return [
            self.value(first[index] if index < len(first) else rest, each, (*at, index))
            for index, each in enumerate(value)
        ]

    def _leaf(self, schema: JsonObject, value: JsonValue, at: _Path) -> JsonValue:
        kinds = schema.get("type", ())
        kinds = [kinds] if isinstance(kinds, str) else list(kinds)
        if any(_is(value, kind) for kind in kinds) or not (kinds or "enum" in schema or "const" in schema):
            return _listed(schema, value)
        text = value if isinstance(value, str) else self._written.get(at)
        if text is None:
            return value
        if "string" in kinds:
            return _listed(schema, text)
        found = (_READ[kind](text) for kind in kinds if kind in _READ)
        return next((each[0] for each in found if each), _listed(schema, value))


def _at(root: JsonObject, pointer: str) -> JsonValue:
    found: JsonValue = root
    for part in pointer.removeprefix("#").split("/")[1:]:
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found


@lru_cache(maxsize=64)
def _validator(schema: str) -> Draft202012Validator:
    # An explicit empty registry: a "$ref" in a schema must never fetch anything.
    return Draft202012Validator(loads(schema), registry=References())


def _is(value: JsonValue, kind: JsonValue) -> bool:
    types: Mapping[JsonValue, type | tuple[type, ...]] = {
        "string": str, "boolean": bool, "null": type(None), "integer": int, "number": (int, float),
    }  # fmt: skip
    return isinstance(value, types.get(kind, ())) and (kind == "boolean" or not isinstance(value, bool))


def _listed(schema: JsonObject, value: JsonValue) -> JsonValue:
    """The value of the schema's `enum` or `const` that `value` says, if there is such a list."""
    listed = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if not isinstance(value, str) or value in listed:
        return value
    text = value.strip()
    return next((each for each in listed if (each if isinstance(each, str) else dumps(each)) == text), value)


def _is_path(name: str, schema: JsonObject) -> bool:
    return schema.get("format") in _PATH_FORMATS or bool(_PATH_NAME.fullmatch(name))


def _number(text: str) -> tuple[JsonValue, ...]:
    text = text.strip()
    try:
        if _INTEGER.fullmatch(text):
            return (int(text),)
        number = float(text) if _NUMBER.fullmatch(text) else math.inf
    except ValueError:  # more digits than CPython reads
        return ()
    return (number,) if math.isfinite(number) else ()


def _integer(text: str) -> tuple[JsonValue, ...]:
    found = _number(text)
    return tuple(int(each) for each in found if each == int(each))


def _boolean(text: str) -> tuple[JsonValue, ...]:
    word = text.strip().lower()
    return (word in _TRUE,) if word in _TRUE | _FALSE else ()


def _null(text: str) -> tuple[JsonValue, ...]:
    return (None,) if text.strip().lower() in ("", "null") else ()


# Each gives one value, or none where the text does not say one.
_READ: Final[Mapping[JsonValue, Callable[[str], tuple[JsonValue, ...]]]] = {
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "null": _null,
    "array": lambda text: () if text.strip() else ([],),
    "object": lambda text: () if text.strip() else ({},),
}
