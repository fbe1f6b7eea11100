"""Tools as the prompt lists them: `- name(param: type, opt?: type): description` (T31)."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tool_manager.models import JsonValue, ToolSpec


def tool_line(tool: ToolSpec) -> str:
    """One line for `tool`. Raises `ValueError` where its name or schema makes no sense."""
    if not isinstance(tool.name, str) or not tool.name.strip():
        raise ValueError("its name is empty")
    schema = _object(tool.parameters, "its parameters")
    params = _params(schema, deep=True)
    return f"- {tool.name}({params}): {' '.join(tool.description.split())}"


def _params(schema: Mapping[str, JsonValue], *, deep: bool) -> str:
    properties = _object(schema.get("properties", {}), "its properties")
    required = schema.get("required", [])
    if not isinstance(required, list | tuple):
        raise ValueError("`required` is not a list")
    marks = {name: "" if name in required else "?" for name in properties}
    return ", ".join(f"{name}{marks[name]}: {_type(each, deep=deep)}" for name, each in properties.items())


def _type(schema: JsonValue, *, deep: bool) -> str:
    if schema is True:
        return "any"
    schema = _object(schema, "the schema of a parameter")
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return "|".join(dict.fromkeys(_type(each, deep=deep) for each in schema[key]))
    if "enum" in schema:
        return "|".join(json.dumps(value) for value in schema["enum"])
    kinds = schema.get("type", "any")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return "|".join(_kind(kind, schema, deep=deep) for kind in kinds)


def _kind(kind: JsonValue, schema: Mapping[str, JsonValue], *, deep: bool) -> str:
    if not isinstance(kind, str):
        raise ValueError("a `type` is not a name")
    if kind == "array" and "items" in schema:
        items = _type(schema["items"], deep=deep)
        return f"({items})[]" if "|" in items else f"{items}[]"
    if kind == "object" and deep and schema.get("properties"):
        return f"object{{{_params(schema, deep=False)}}}"
    return kind


def _object(value: JsonValue, what: str) -> Mapping[str, JsonValue]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{what} must be a JSON object")
    return value
