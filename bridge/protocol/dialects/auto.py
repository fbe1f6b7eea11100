"""Whatever dialect a reply is in, among those that cannot be mistaken for prose (design, section 4).

`tool_call`, `cogency`, `forge`, `autobyteus_xml`, `xml_style`, then JSON in the shapes of OpenAI, Gemini and the
default that is the whole of a fence or of the message. The block that begins first decides, and the reply
says which dialect it is in: a request of `assistant_api` is a call that nothing here may run. What we teach, and answer
in, is `tool_call`.
"""

from __future__ import annotations

from collections.abc import Sequence

from bridge.protocol import dialects
from bridge.protocol.autoform.autostream import AutoStream
from bridge.protocol.dialect import Dialect, StreamParser, Tools
from tool_manager.models import ToolCall, ToolResult


class AutoDialect(Dialect):
    name = "auto"
    several = True

    def stream(self, *, multi: bool = False, tools: Tools | None = None) -> StreamParser:
        return AutoStream(dialects.get, multi=multi, tools=tools)

    def format_call(self, call: ToolCall) -> str:
        return _taught().format_call(call)

    def format_calls(self, calls: Sequence[ToolCall]) -> str:
        """One call as we teach it; a batch as `cogency` writes one, for a block of ours holds one call."""
        return self.format_call(calls[0]) if len(calls) == 1 else dialects.get("cogency").format_calls(calls)

    def result_message(self, call: ToolCall, result: ToolResult) -> str:
        return _taught().result_message(call, result)

    def results_message(self, outcomes: Sequence[tuple[ToolCall, ToolResult]]) -> str:
        return _taught().results_message(outcomes)

    def instructions(self, names: Sequence[str]) -> str:
        return _taught().instructions(names)


def _taught() -> Dialect:
    return dialects.get("tool_call")


DIALECT = AutoDialect()
