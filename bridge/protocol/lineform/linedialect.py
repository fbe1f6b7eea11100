"""What the dialects of lines write in the same way."""

from __future__ import annotations

from bridge.protocol.dialect import Dialect
from bridge.protocol.toolresult import tool_result
from tool_manager.models import ToolCall, ToolResult


class LineDialect(Dialect):
    """A dialect whose calls begin on a line of their own, as does whatever we type."""

    def result_message(self, call: ToolCall, result: ToolResult) -> str:
        return tool_result(self, call, result)

    def error_message(self, error: str, hint: str | None = None) -> str:
        """As elsewhere; a hint that would be a call on its line does not begin that line."""
        message = super().error_message(error, hint)
        return super().error_message(error, f"Hint: {hint}") if hint and self._is_read(message) else message

    def _is_read(self, message: str) -> bool:
        """Whether a reader of calls finds anything in `message`."""
        stream = self.stream()
        stream.feed(message)
        reply = stream.close()
        return bool(reply.calls or reply.problem)
