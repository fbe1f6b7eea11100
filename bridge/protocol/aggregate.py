"""What the AutoByteus dialects say back: one message for all calls of a reply (A37), why a call cannot run (X15)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bridge.protocol import wire
from bridge.protocol.harmless import harmless
from tool_manager.models import ToolCall, ToolResult

HEADER: Final = (
    "The following tool executions have completed. Please analyze their results and decide the next course of action."
)
_MISSING: Final = "Missing required parameter: "
_SEPARATOR: Final = "\n\n---\n\n"
_NO_JSON = {ord("{"): "\\u007b", ord("["): "\\u005b"}


def aggregated(outcomes: Sequence[tuple[ToolCall, ToolResult]]) -> str:
    """`outcomes` in their order, which is that of the calls. It parses as a call in none of these dialects.

    A result is one line of JSON: text is a string, in which no bracket begins a value, for its quotes are escaped. An
    object or a list stands under the key `result`: what a tool gives may have the very shape of a call, and these
    dialects find calls anywhere. An error is one line of text.
    """
    return f"{HEADER}\n\n" + _SEPARATOR.join(_part(call, result) for call, result in outcomes)


def invalid_text(call: ToolCall, code: str, error: str) -> str:
    """`error`, which says why `call` cannot run, in the words of document 001 (X15, A38); `code` as in `Dialect`."""
    if code == "unknown_tool":
        return f"No tool definition found for name '{call.name}'"
    if code == "missing":
        error = f"Required parameter '{error.removeprefix(_MISSING)}' is missing."
    return f"Invalid arguments for tool '{call.name}': {error}" if code in ("missing", "type") else error


def _part(call: ToolCall, result: ToolResult) -> str:
    head = f"Tool: {_text(call.name)} (ID: {_text(call.id)})"
    if not result.success:
        return f"{head}\nStatus: Error\nDetails: {_text(result.error or 'The tool failed without saying why.')}"
    data = wire.plain(result.data)
    shown = {"result": data} if isinstance(data, dict | list) else data
    return f"{head}\nStatus: Success\nResult:\n{wire.one_line(shown)}"


def _text(text: str) -> str:
    return harmless(text).translate(_NO_JSON)
