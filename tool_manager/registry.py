"""Tool definitions and the registry: exact names, duplicates refused, built-ins never replaced (T33, T37, X10)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from tool_manager.errors import RegistrationError, shown
from tool_manager.models import JsonObject, ToolSpec
from tool_manager.plan import EffectKind, Plan
from tool_manager.room import Room
from tool_manager.schema import completed, parameters_of, schema_of

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_KEYS: Final = frozenset(
    {"name", "description", "parameters", "handler", "effect", "dangerous", "cacheable", "loop_breaking", "hidden"}
)

Handler = Callable[..., Any]
Planner = Callable[[Room, JsonObject], Awaitable[Plan]]


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """One tool. `handler` takes the arguments by name (or all as one dict, if it has one parameter), sync or async.

    `effect` says what policy must think of it; None, undeclared, is taken as "read", but in a batch calls that name
    the same path keep their order (X5). `dangerous` always asks (T43); `cacheable` results are reused until
    something is written (T45); nothing runs after a `loop_breaking` one. A `planner` (built-ins) replaces `handler`.
    A `hidden` one can be called, but only those dialects tell of it that cannot do without (F33).
    """

    name: str
    description: str
    parameters: JsonObject
    handler: Handler | None = None
    effect: EffectKind | None = None
    dangerous: bool = False
    cacheable: bool = False
    loop_breaking: bool = False
    planner: Planner | None = field(default=None, repr=False)
    hidden: bool = False

    @property
    def kind(self) -> EffectKind:
        """`effect`, also where it was not declared."""
        return self.effect or "read"

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, self.parameters)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The decorated function still works as one."""
        if self.handler is None:
            raise TypeError(f"{self.name} is a built-in tool; run it through a ToolManager.")
        return self.handler(*args, **kwargs)


class _Decorator(Protocol):
    def __call__(self, function: Handler, /) -> ToolDefinition: ...


def tool(
    description: str | None = None,
    *,
    name: str | None = None,
    parameters: JsonObject | None = None,
    effect: EffectKind | None = None,
    dangerous: bool = False,
    cacheable: bool = False,
    loop_breaking: bool = False,
) -> _Decorator:
    """Make a function a tool: its schema comes from the type hints, its description from here or the docstring."""

    def decorate(function: Handler) -> ToolDefinition:
        return ToolDefinition(
            name or function.__name__,
            description or (inspect.getdoc(function) or "").partition("\n\n")[0],
            parameters_of(function) if parameters is None else completed(parameters),
            function,
            effect,
            dangerous,
            cacheable,
            loop_breaking,
        )

    return decorate


def definition_from(entry: Mapping[str, Any]) -> ToolDefinition:
    """`{"name", "description", "parameters", "handler", …}` (T37) as a definition; unknown keys are an error."""
    unknown = sorted(set(entry) - _KEYS)
    if unknown:
        raise RegistrationError(
            f"Unknown key {unknown[0]!r} in a tool definition; known are {', '.join(sorted(_KEYS))}."
        )
    for key in ("name", "handler"):
        if key not in entry:
            raise RegistrationError(f"A tool definition needs the key {key!r}.")
    parameters, handler = entry.get("parameters"), entry["handler"]
    given = {key: entry[key] for key in _KEYS - {"parameters"} if key in entry}
    schema = schema_of(handler) if parameters is None and callable(handler) else completed(parameters)
    return ToolDefinition(**{"description": "", **given}, parameters=schema)


class Registry:
    """Definitions by exact name; `built_in` ones can be neither replaced nor removed."""

    def __init__(self, built_in: tuple[ToolDefinition, ...] = ()) -> None:
        self._tools: dict[str, ToolDefinition] = {}
        self._reserved: frozenset[str] = frozenset()
        for definition in built_in:
            self.add(definition)
        self._reserved = frozenset(self._tools)

    def add(self, definition: ToolDefinition, *, replace: bool = False) -> None:
        """Raises `RegistrationError` for a bad name, schema or handler, and for a name that is taken."""
        check(definition)
        if definition.name in self._reserved:
            raise RegistrationError(f"cannot override built-in tool: {definition.name}")
        if definition.name in self._tools and not replace:
            raise RegistrationError(f"A tool named {definition.name} exists already; pass replace=True to replace it.")
        self._tools[definition.name] = definition

    def remove(self, name: str) -> None:
        if name in self._reserved:
            raise RegistrationError(f"{name} is a built-in tool and cannot be removed.")
        if self._tools.pop(name, None) is None:
            raise RegistrationError(f"No tool is named {shown(name)}.")

    def get(self, name: str) -> ToolDefinition | None:
        return self._tools.get(name)

    def names(self) -> list[str]:
        return list(self._tools)

    def definitions(self) -> list[ToolDefinition]:
        """In the order of registration, which is the order of the prompt."""
        return list(self._tools.values())


def check(definition: ToolDefinition) -> None:
    """Raise `RegistrationError` with what to change, if the definition cannot work."""
    name, schema = definition.name, definition.parameters
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise RegistrationError(
            f"Tool name {shown(str(name))} must be letters, digits, _ - or ., at most 64, like read_file."
        )
    if definition.planner is None and not callable(definition.handler):
        raise RegistrationError(f"{name}: handler must be a function.")
    if not isinstance(definition.description, str):
        raise RegistrationError(f"{name}: description must be text.")
    if definition.kind not in {"read", "write", "command"}:
        raise RegistrationError(f'{name}: effect must be "read", "write" or "command".')
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise RegistrationError(f"{name}: parameters are no valid JSON Schema: {error.message}.") from error
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise RegistrationError(f'{name}: parameters must be a JSON Schema with "type": "object".')
    missing = [key for key in schema.get("required", []) if key not in schema.get("properties", {})]
    if missing:
        raise RegistrationError(f"{name}: required parameter {missing[0]!r} is not among the properties.")
