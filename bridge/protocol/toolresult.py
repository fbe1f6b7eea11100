"""`TOOL_RESULT: {…}`: what is typed back in the dialects of document 003."""

from __future__ import annotations

from bridge.protocol import wire
from tool_manager.models import ToolResult


def tool_result(result: ToolResult) -> str:
    """All three keys on one line (T25, T26): data with success, one sentence with failure."""
    if result.success:
        body = {"success": True, "data": result.data, "error": None}
    else:
        body = {"success": False, "data": None, "error": result.error or "The tool failed without saying why."}
    return f"TOOL_RESULT: {wire.one_line(body)}"
