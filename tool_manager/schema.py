"""JSON Schema of a function's parameters, from its type hints (T33)."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from tool_manager.errors import RegistrationError
from tool_manager.models import JsonObject

_SIMPLE: Final[dict[object, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
    type(None): "null",
}


def parameters_of(function: Callable[..., Any]) -> JsonObject:
    """An object schema: parameters without a default are required, `**kwargs` allows further ones.

    Raises `RegistrationError` naming the parameter whose hint is missing or has no JSON form.
    """
    name = getattr(function, "__name__", "handler")
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        raise RegistrationError(
            f"{name}: a type hint cannot be resolved ({error}); import it or pass parameters=."
        ) from error
    properties: JsonObject = {}
    required: list[str] = []
    extra = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            extra = True
            continue
        properties[parameter.name] = _property(parameter, hints, name)
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    schema: JsonObject = {"type": "object", "properties": properties, "required": required}
    return {**schema, "additionalProperties": True} if extra else schema


def schema_of(handler: Callable[..., Any]) -> JsonObject:
    """As `parameters_of`; for a handler without any type hint all values are welcome, and where it has but one
    parameter, that is the whole object."""
    parameters = inspect.signature(handler).parameters.values()
    if any(parameter.annotation is not parameter.empty for parameter in parameters):
        return parameters_of(handler)
    if sole(parameters):
        return {**completed({}), "additionalProperties": True}
    named = [each for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    schema = completed({"properties": {each.name: {} for each in named}})
    schema["required"] = [each.name for each in named if each.default is each.empty]
    is_open = any(each.kind is each.VAR_KEYWORD for each in parameters)
    return {**schema, "additionalProperties": True} if is_open else schema


def completed(schema: Any) -> Any:
    """A schema that says nothing, or only names properties, as one of an object (T37); any other as it is."""
    if isinstance(schema, dict) and "type" not in schema and (not schema or "properties" in schema):
        return {"type": "object", "properties": {}, **schema}
    return schema


def sole(parameters: Iterable[inspect.Parameter]) -> inspect.Parameter | None:
    """The one parameter of a function that takes the whole object of arguments, if it is such a function."""
    first, *others = [*parameters, None]
    if first is None or others != [None] or first.default is not first.empty:
        return None
    return first if first.kind in (first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD) else None


def _property(parameter: inspect.Parameter, hints: dict[str, Any], owner: str) -> JsonObject:
    if parameter.kind in {parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL}:
        raise RegistrationError(f"{owner}: parameter {parameter.name} must be passable by name; remove / or *.")
    if parameter.name not in hints:
        raise RegistrationError(f"{owner}: parameter {parameter.name} needs a type hint, or pass parameters=.")
    schema = _schema(hints[parameter.name], f"{owner}: parameter {parameter.name}")
    default = parameter.default
    if default is not parameter.empty and default is not None and isinstance(default, (str, int, float, bool)):
        schema["default"] = default
    return schema


def _schema(hint: Any, where: str) -> JsonObject:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any or hint is object:
        return {}
    if origin is Annotated:
        notes = [note for note in args[1:] if isinstance(note, str)]
        return {**_schema(args[0], where), **({"description": notes[0]} if notes else {})}
    if origin is Literal:
        return {"enum": list(args)}
    if origin in {Union, types.UnionType}:
        return _union([_schema(arg, where) for arg in args])
    if origin in {list, Sequence}:
        return {"type": "array", "items": _schema(args[0], where)}
    if origin in {dict, Mapping}:
        values = _schema(args[1], where)
        return {"type": "object", **({"additionalProperties": values} if values else {})}
    if hint in _SIMPLE:
        return {"type": _SIMPLE[hint]}
    raise RegistrationError(f"{where}: {hint!r} has no JSON form; use str, int, float, bool, list, dict or Literal.")


def _union(options: list[JsonObject]) -> JsonObject:
    """`{"type": [a, b]}` when the options are plain types, else `anyOf`."""
    if all(set(option) == {"type"} for option in options):
        return {"type": [option["type"] for option in options]}
    enums = [option for option in options if set(option) == {"enum"}]
    if len(enums) == 1 and len(options) == 2 and {"type": "null"} in options:
        return {"enum": [*enums[0]["enum"], None]}
    return {"anyOf": options}
