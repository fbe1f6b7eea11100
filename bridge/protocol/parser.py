"""Text of a reply in, what it means out."""

from __future__ import annotations

from collections.abc import Iterable

from bridge.protocol import dialects
from bridge.protocol.dialect import Dialect, StreamParser, Tools
from bridge.protocol.models import ParsedReply
from tool_manager.models import ToolSpec


class ResponseParser:
    """Reads replies written in one dialect; keeps nothing between them, so one parser serves any number (T54).

    `dialect` is one, or a name from `dialects.names()`; `multi` takes every call of a reply instead of the first (T8);
    `tools` are those that the session offers, where they are known. Raises `UnknownDialect`.
    """

    def __init__(
        self, dialect: str | Dialect = "tool_call", *, multi: bool = False, tools: Iterable[ToolSpec] | None = None
    ) -> None:
        self.dialect = dialect if isinstance(dialect, Dialect) else dialects.get(dialect)
        self.multi = multi
        self.tools: Tools | None = None if tools is None else {tool.name: tool for tool in tools}

    def parse(self, text: str) -> ParsedReply:
        """What the whole reply `text` means. Never raises, in time linear in `text` (T16)."""
        stream = self.stream()
        stream.feed(text)
        return stream.close()

    def stream(self) -> StreamParser:
        """A parser for one reply that is still arriving; `close()` gives what `parse` of the whole gives."""
        return self.dialect.stream(multi=self.multi, tools=self.tools)
