"""Is a call well-formed? Tool exists, then required parameters, then types (T19-T24); arguments stay as they are."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry as References

from tool_manager.errors import shown
from tool_manager.models import InvalidCode, JsonObject, JsonValue, ToolCall
from tool_manager.registry import Registry, ToolDefinition


@dataclass(frozen=True, slots=True)
class Invalid:
    """`error` is the exact sentence of the documents, `hint` a further one for the model; `code` says what kind."""

    error: str
    hint: str | None = None
    code: InvalidCode = "other"


def validate(registry: Registry, call: ToolCall) -> Invalid | None:
    """The first thing that is wrong with `call`, None when it may run."""
    definition = registry.get(call.name)
    if definition is None:
        return Invalid(f"Unknown tool: {call.name}", did_you_mean(call.name, registry.names()), "unknown_tool")
    given: object = call.args
    if not isinstance(given, dict):
        return Invalid(f"Expected type object, got {type_name(given)} for the arguments", code="type")
    for name in definition.parameters.get("required", []):
        if name not in call.args:
            return Invalid(f"Missing required parameter: {name}", _misspelt(name, call.args, definition), "missing")
    return _types(definition, call.args)


def did_you_mean(name: str, known: list[str]) -> str | None:
    close = difflib.get_close_matches(name[:100], known, n=1)
    return f"Did you mean {close[0]}?" if close else None


def type_name(value: JsonValue) -> str:
    """JSON's name of the type of `value` (T22: bool is no integer, a list no object)."""
    if value is None:
        return "null"
    names: Mapping[type, str] = {bool: "boolean", int: "integer", str: "string", list: "array", dict: "object"}
    return "number" if isinstance(value, float) else names.get(type(value), type(value).__name__)


def handler_args(definition: ToolDefinition, args: JsonObject) -> JsonObject:
    """What the handler is given, as a new dict: unknown parameters only if the schema welcomes them (T24).

    An integral float for an integer becomes an int (T22).
    """
    schema = definition.parameters
    properties = schema.get("properties", {})
    extra = schema.get("additionalProperties", False)
    welcome = extra is True or isinstance(extra, dict)
    kept = {key: value for key, value in args.items() if welcome or key in properties}
    for key, value in kept.items():
        wants = properties.get(key, {}).get("type") if isinstance(properties.get(key), dict) else None
        if isinstance(value, float) and wants in ("integer", ["integer", "null"]) and math.isfinite(value):
            kept[key] = int(value)
    return kept


def _misspelt(missing: str, args: JsonObject, definition: ToolDefinition) -> str | None:
    unknown = [key for key in args if key not in definition.parameters.get("properties", {})]
    close = difflib.get_close_matches(missing, unknown, n=1)
    return f"You wrote {shown(close[0])}; the parameter is named {missing}." if close else None


@lru_cache(maxsize=256)
def _validator(schema: str) -> Draft202012Validator:
    # An explicit empty registry: a "$ref" in a schema must never fetch anything.
    return Draft202012Validator(json.loads(schema), registry=References())


def _types(definition: ToolDefinition, args: JsonObject) -> Invalid | None:
    order = list(args)
    validator = _validator(json.dumps(definition.parameters))
    try:
        errors = sorted(validator.iter_errors(args), key=lambda error: _position(error, order))
    except RecursionError:
        return Invalid("The arguments are nested too deeply")
    if not errors:
        return None
    first = errors[0]
    properties = list(definition.parameters.get("properties", {}))
    if first.validator == "additionalProperties" and not first.path:
        name = next((key for key in args if key not in properties), "")
        return Invalid(f"Unknown parameter: {shown(name)}", did_you_mean(name, properties))
    return Invalid(_sentence(first), code="type")


def _position(error: ValidationError, order: list[str]) -> int:
    head = error.path[0] if error.path else None
    return order.index(head) if head in order else len(order)


def _sentence(error: ValidationError) -> str:
    where = _where(error)
    rule: str = str(error.validator)
    value: Any = error.validator_value
    instance: Any = error.instance
    if rule == "type":
        wanted = value if isinstance(value, str) else " or ".join(map(str, value))
        return f"Expected type {wanted}, got {type_name(instance)}{where}"
    if rule == "enum":
        return f"Value must be one of: {', '.join(str(item) for item in value)}{where}"
    if rule == "required":
        missing = next((name for name in value if name not in instance), "")
        return f"Missing required parameter: {'.'.join([*map(str, error.path), missing])}"
    if rule == "additionalProperties":
        return f"Unknown parameter{where}; known are {', '.join(_properties(error))}"
    return f"Value does not satisfy {rule} {shown(json.dumps(value))}{where}"


def _properties(error: ValidationError) -> list[str]:
    schema: Any = error.schema
    return list(schema.get("properties", {}))


def _where(error: ValidationError) -> str:
    path = ".".join(str(part) for part in error.path)
    return f' for parameter "{path}"' if path else ""
