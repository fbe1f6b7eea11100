"""Plain data that every room shares: a tool call, its result, and what a tool says of itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

JsonValue: TypeAlias = Any
"""Any value that JSON can hold. (A recursive alias buys little under mypy and costs a cast at every use.)"""

JsonObject: TypeAlias = dict[str, JsonValue]

Written: TypeAlias = Mapping[tuple[str | int, ...], str]
"""Leaves of arguments as the model wrote them, by their path in the arguments."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a model asked for.

    `id` is unique within a session; `args` is a JSON object; `reasoning` is the model's own remark (T1). `written` is
    None where the types of the arguments are the model's own (JSON); where every leaf was written as text (XML, YAML)
    it says how those were written that have become something else, and the tool's schema decides on types (A38).

    The id of a call made with `of` is computed when it is first read: for a call of megabytes it costs as much as
    parsing the call.
    """

    id: str
    name: str
    args: JsonObject
    reasoning: str | None = None
    written: Written | None = field(default=None, compare=False)

    @classmethod
    def of(
        cls, name: str, args: JsonObject, reasoning: str | None = None, *, written: Written | None = None
    ) -> ToolCall:
        """A call with the id that follows from its name and arguments (A34)."""
        call = object.__new__(cls)
        values = {"name": name, "args": args, "reasoning": reasoning, "written": written}
        for field_name, value in values.items():
            object.__setattr__(call, field_name, value)
        return call

    if not TYPE_CHECKING:  # a type checker would believe in every attribute

        def __getattr__(self, attribute: str) -> str:
            """Only asked for what is not set: the id, until it is read."""
            if attribute != "id":
                raise AttributeError(f"a ToolCall has no {attribute}", name=attribute, obj=self)
            object.__setattr__(self, "id", call_id(self.name, self.args))
            return self.id


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came of a call: `data` on success, else `error`, one clear sentence (T25).

    `code` is set where the call itself was wrong, so that nothing ran; each dialect has its own words for that (X15).
    """

    success: bool
    data: JsonValue = None
    error: str | None = None
    code: InvalidCode | None = field(default=None, compare=False)

    @classmethod
    def ok(cls, data: JsonValue) -> ToolResult:
        return cls(True, data, None)

    @classmethod
    def fail(cls, error: str, code: InvalidCode | None = None) -> ToolResult:
        return cls(False, None, error, code)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told of a tool: name, description, JSON Schema of its arguments (T33)."""

    name: str
    description: str
    parameters: JsonObject = field(default_factory=lambda: {"type": "object", "properties": {}, "required": []})


InvalidCode = Literal["unknown_tool", "missing", "type", "other"]
"""What kind of fault keeps a well-formed call from running."""


def canonical_json(value: JsonValue) -> str:
    """`value` as JSON with sorted keys and no spaces, so that equal arguments compare equal (T35, A34)."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def call_id(name: str, args: JsonObject) -> str:
    """The deterministic id of a call: `call_` + SHA-256 of name and canonical arguments, 64 hex digits (A34)."""
    text = f"{name}:{canonical_json(args)}"
    return "call_" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
