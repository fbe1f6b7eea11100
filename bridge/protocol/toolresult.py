"""`TOOL_RESULT: {…}`: what is typed back in the dialects of document 003."""

from __future__ import annotations

from bridge.protocol import wire
from bridge.protocol.dialect import Dialect
from tool_manager.models import ToolCall, ToolResult


def tool_result(dialect: Dialect, call: ToolCall, result: ToolResult) -> str:
    """All three keys on one line (T25, T26): data with success, one sentence with failure. A call that could not run
    is answered by an error message instead (T23)."""
    error = dialect.worded(call, result).error or "The tool failed without saying why."
    if result.code is not None:
        return dialect.error_message(error)
    if result.success:
        body = {"success": True, "data": result.data, "error": None}
    else:
        body = {"success": False, "data": None, "error": error}
    return f"TOOL_RESULT: {wire.one_line(body)}"
