"""Which paths the arguments of a custom tool name: all that is known of what it touches (X5)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Final

from tool_manager.models import JsonObject, JsonValue

_NAMES: Final = frozenset(
    {"path", "file", "filename", "filepath", "source", "destination", "directory", "dir", "folder", "target"}
)
_FORMATS: Final = frozenset({"path", "uri"})


def named(args: JsonObject, schema: JsonObject, root: str) -> tuple[str, ...]:
    """The resources that `args` name, each once: values of arguments that are called like a path, in any spelling, or
    whose schema has the format of one. Two spellings of a path beneath `root` are one resource."""
    properties = schema.get("properties", {})
    found = (path for name, value in args.items() if _is_path(name, properties.get(name)) for path in _texts(value))
    return tuple(dict.fromkeys(f"tree:{_normal(path, root)}" for path in found))


def _is_path(name: str, schema: JsonValue) -> bool:
    bare = name.lower().replace("_", "").replace("-", "")
    is_format = isinstance(schema, dict) and schema.get("format") in _FORMATS
    return is_format or bool({bare, bare.removesuffix("s")} & _NAMES)


def _texts(value: JsonValue) -> Iterator[str]:
    yield from (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str) and each)


def _normal(path: str, root: str) -> str:
    """`path` as seen from `root`, by its text alone: links and files that do not exist yet make no difference."""
    return posixpath.relpath(posixpath.join(root, path.replace("\\", "/")), root)
