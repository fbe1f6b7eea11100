"""What the dialects that write calls as bare JSON have in common as writers (A9, A10, A14)."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Final

from bridge.protocol.aggregate import aggregated, invalid_text
from bridge.protocol.dialect import Dialect
from bridge.protocol.examples import example_args, has_optional
from bridge.protocol.models import ParsedReply
from tool_manager.models import JsonObject, ToolCall, ToolResult, ToolSpec

_NO_JSON: Final = {ord("{"): "\\u007b", ord("["): "\\u005b"}
_EXAMPLE: Final = "Example: To use this tool, you could provide the following JSON object as a tool call:"


class JsonDialect(Dialect):
    """A dialect whose call is one JSON object; `shape` says which."""

    several: ClassVar[bool] = True
    separator: ClassVar[str] = "\n\n---\n\n"
    schema_key: ClassVar[str]
    """Where the schema of the arguments stands in a tool's definition (A9)."""

    @abstractmethod
    def shape(self, call: ToolCall) -> JsonObject:
        """The JSON object that is `call`."""

    def schema(self, tool: ToolSpec) -> JsonObject:
        """The tool's definition (A9)."""
        parameters = tool.parameters or {"type": "object", "properties": {}, "required": []}
        return {"name": tool.name, "description": tool.description, self.schema_key: parameters}

    def format_call(self, call: ToolCall) -> str:
        """The call on one line in a fence of four backticks: what came through every chat page that was measured."""
        return f"````json\n{one_line_json(self.shape(call))}\n````"

    def result_message(self, call: ToolCall, result: ToolResult) -> str:
        return self.results_message([(call, result)])

    def results_message(self, outcomes: Sequence[tuple[ToolCall, ToolResult]]) -> str:
        """One message for all calls of a reply, in their order (A37)."""
        return aggregated([(call, self.worded(call, result)) for call, result in outcomes])

    def tool_text(self, tool: ToolSpec) -> str:
        """Definition and examples of one tool (A10, A14). Raises `ValueError` or `TypeError` for a bad schema."""
        if not isinstance(tool.name, str) or not tool.name.strip():
            raise ValueError("its name is empty")
        definition = json.dumps(self.schema(tool), indent=2, allow_nan=False)
        return f"## Tool Definition:\n{definition}\n\n{_EXAMPLE}\n\n{self._examples(tool)}"

    def invalid_text(self, call: ToolCall, code: str, error: str) -> str:
        return invalid_text(call, code, error)

    def error_message(self, error: str, hint: str | None = None) -> str:
        """As in every dialect (T23), and nothing that it quotes is a call."""
        return super().error_message(error.translate(_NO_JSON), hint.translate(_NO_JSON) if hint else None)

    def correction_message(self, reply: ParsedReply) -> str:
        """As in every dialect; the only call in it is the pattern to follow."""
        told = tuple(replace(found, message=found.message.translate(_NO_JSON)) for found in reply.diagnostics)
        return super().correction_message(replace(reply, diagnostics=told))

    def _examples(self, tool: ToolSpec) -> str:
        basic = self._call(tool.name, example_args(tool, optional=False))
        text = f"### Example 1: Basic Call (Required Arguments)\n{basic}"
        if not has_optional(tool):
            return text
        advanced = self._call(tool.name, example_args(tool, optional=True))
        return f"{text}\n\n### Example 2: Advanced Call (With Optional Arguments)\n{advanced}"


def one_line_json(value: JsonObject) -> str:
    """`value` as one line of ASCII JSON, with nothing invisible in it."""
    return json.dumps(value, allow_nan=False).replace("\x7f", "\\u007f")
