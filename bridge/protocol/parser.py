"""Text of a reply in, what it means out."""

from __future__ import annotations

from bridge.protocol import dialects
from bridge.protocol.dialect import StreamParser
from bridge.protocol.models import ParsedReply


class ResponseParser:
    """Reads replies written in one dialect; keeps nothing between them, so one parser serves any number (T54).

    `dialect` is a name from `dialects.names()`; `multi` takes every call of a reply instead of the first (T8). Raises
    `UnknownDialect`.
    """

    def __init__(self, dialect: str = "tool_call", *, multi: bool = False) -> None:
        self.dialect = dialects.get(dialect)
        self.multi = multi

    def parse(self, text: str) -> ParsedReply:
        """What the whole reply `text` means. Never raises, in time linear in `text` (T16)."""
        stream = self.stream()
        stream.feed(text)
        return stream.close()

    def stream(self) -> StreamParser:
        """A parser for one reply that is still arriving; `close()` gives what `parse` of the whole gives."""
        return self.dialect.stream(multi=self.multi)
