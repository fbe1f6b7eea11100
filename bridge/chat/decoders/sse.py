"""Server-sent events, incrementally, to the letter of the HTML standard (section 9.2.6)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ServerEvent:
    event: str
    data: str


_LINE_END = re.compile(r"\r\n|\n|\r(?!\Z)")  # a CR at the very end may be half of a CRLF


@dataclass(slots=True)
class EventStream:
    """`feed` text in any chunking, get whole events. Linear: a line that has not ended is kept in pieces."""

    _pieces: list[str] = field(default_factory=list)
    _event: str = ""
    _data: list[str] = field(default_factory=list)
    _started: bool = False

    def feed(self, chunk: str) -> list[ServerEvent]:
        if not self._started and chunk:
            chunk, self._started = chunk.removeprefix("\ufeff"), True
        if self._pieces and self._pieces[-1].endswith("\r"):
            chunk = self._pieces.pop() + chunk
        events = []
        start = 0
        for end in _LINE_END.finditer(chunk):
            line = "".join([*self._pieces, chunk[start : end.start()]])
            self._pieces.clear()
            start = end.end()
            event = self._line(line)
            if event is not None:
                events.append(event)
        if start < len(chunk):
            self._pieces.append(chunk[start:])
        return events

    def _line(self, line: str) -> ServerEvent | None:
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "data":
                self._data.append(value)
            elif name == "event":
                self._event = value
            return None
        event = ServerEvent(self._event or "message", "\n".join(self._data)) if self._data else None
        self._event = ""
        self._data.clear()
        return event
