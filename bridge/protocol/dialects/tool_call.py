"""`<TOOL_CALL>` JSON `</TOOL_CALL>`, the primary dialect (T1–T31): one call a reply, several with `multi`."""

from __future__ import annotations

import json

from bridge.protocol.dialect import Dialect, StreamParser, Tools
from bridge.protocol.tagged.blocks import BlockStream, Manners
from bridge.protocol.toolresult import tool_result
from tool_manager.models import JsonValue, ToolCall, ToolResult

_MANNERS = Manners(frames=("TOOL_RESULT:", "TOOL_ERROR:"), edges=True)


class ToolCallDialect(Dialect):
    name = "tool_call"
    closed_block_is_final = True

    def stream(self, *, multi: bool = False, tools: Tools | None = None) -> StreamParser:
        # an unknown name is for the ToolManager to refuse (X2)
        return BlockStream("TOOL_CALL", read_call, multi=multi, manners=_MANNERS, tools=tools)

    def format_call(self, call: ToolCall) -> str:
        """The call in a fence of four backticks with the tags inside and the JSON on one line: what came through every
        chat page that was measured."""
        value: dict[str, JsonValue] = {"tool": call.name, "args": call.args}
        if call.reasoning is not None:
            value["reasoning"] = call.reasoning
        body = json.dumps(value, allow_nan=False).replace("\x7f", "\\u007f")
        return f"````json\n<TOOL_CALL>\n{body}\n</TOOL_CALL>\n````"

    def result_message(self, call: ToolCall, result: ToolResult) -> str:
        return tool_result(self, call, result)


def read_call(value: JsonValue) -> list[ToolCall] | str:
    """The call that a decoded block holds, or why it holds none (T10–T13). Keys beyond the three are ignored."""
    if not isinstance(value, dict):
        return "the block must hold a JSON object"
    name, args, reasoning = value.get("tool"), value.get("args"), value.get("reasoning")
    if not isinstance(name, str) or not name:
        return '"tool" must be a string that names a tool'
    if not isinstance(args, dict):
        return '"args" must be a JSON object'
    return [ToolCall.of(name, args, reasoning if isinstance(reasoning, str) else None)]


DIALECT = ToolCallDialect()
