"""`{"tool_request": {"name", "arguments"}}` as the whole message, strictly (S1–S6). It is passed on, never run here;
what may answer it is for `bridge.protocol.PendingConversation`."""

from __future__ import annotations

import json
from typing import ClassVar

from bridge.protocol import wire
from bridge.protocol.dialect import Dialect, StreamParser, Tools
from bridge.protocol.jsonform.wholejson import WholeStream
from tool_manager.models import ToolCall, ToolResult


class AssistantApiDialect(Dialect):
    name: ClassVar[str] = "assistant_api"
    executes: ClassVar[bool] = False

    def stream(self, *, multi: bool = False, tools: Tools | None = None) -> StreamParser:
        del multi, tools  # one request is the whole message, and no name is checked (S6)
        return WholeStream()

    def format_call(self, call: ToolCall) -> str:
        """The exact format, bare: a fence around it would make it text."""
        body = {"tool_request": {"name": call.name, "arguments": call.args}}
        return json.dumps(body, allow_nan=False).replace("\x7f", "\\u007f")

    def result_message(self, call: ToolCall, result: ToolResult) -> str:
        """A message of the role `tool_result` on one line (S11): text as a string, other data as JSON."""
        error = self.worded(call, result).error or "The tool failed without saying why."
        content = result.data if result.success else f"Error: {error}"
        return wire.one_line({"role": "tool_result", "name": call.name, "content": content})


DIALECT = AssistantApiDialect()
