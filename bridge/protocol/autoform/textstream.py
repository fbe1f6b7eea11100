"""What every state of `auto` works with: the text as it comes and goes, and what is to be said of it."""

from __future__ import annotations

from abc import ABC, abstractmethod

from bridge.protocol import limits
from bridge.protocol.autoform.before import Before
from bridge.protocol.models import Code, ParsedReply, StreamEvent, TextDelta
from bridge.protocol.remarks import Remark


class TextStream(ABC):
    """The parser of one reply, fed in chunks, but for its states. See `bridge.protocol.dialect.StreamParser` for the
    contract."""

    def __init__(self) -> None:
        self._state = self._start
        self._parts: list[str] = []
        self._length = self._base = 0
        self._carry = ""
        self._ended = False
        self._thinking: str | None = None
        self._opened = 0  # where the block or value begins that is held
        self._held: list[str] = []
        self._before = Before()
        self._is_silent = False  # whether the text of the reply is over
        self._remarks: list[Remark] = []
        self._events: list[StreamEvent] = []
        self._reply: ParsedReply | None = None

    def feed(self, chunk: str) -> list[StreamEvent]:
        if self._reply is not None:
            raise ValueError("this stream is closed: make a new one for each reply")
        self._parts.append(chunk)
        self._read(self._carry + chunk, self._length - len(self._carry))
        self._length += len(chunk)
        events, self._events = self._events, []
        return events

    def close(self) -> ParsedReply:
        if self._reply is None:
            self._ended = True
            self._read(self._carry, self._length - len(self._carry))
            self._reply = self._conclude("".join(self._parts))
        return self._reply

    def _read(self, data: str, base: int) -> None:
        self._base, self._carry, at = base, "", 0
        while at < len(data):
            at = self._state(data, at)

    def _remark(self, code: Code, reason: str, message: str, offset: int) -> None:
        if len(self._remarks) < limits.MAX_DIAGNOSTICS:
            self._remarks.append(Remark(code, reason, message, offset))

    def _show(self, text: str) -> None:
        self._before.take(text)
        if text and not self._is_silent:
            self._events.append(TextDelta(text))

    def _take(self, text: str) -> None:
        if self._thinking:
            self._show(text)
        else:
            self._held.append(text)

    def _release(self) -> None:
        """What was held is text after all, and the search goes on."""
        self._show("".join(self._held))
        self._held, self._state = [], self._seek

    def _give_up(self, message: str) -> None:
        """A call was meant, and nothing after it runs."""
        self._remark("malformed_call", "shape", message, self._opened)
        self._state = self._ignore

    def _ignore(self, data: str, at: int) -> int:
        self._show(data[at:])
        return len(data)

    @abstractmethod
    def _start(self, data: str, at: int) -> int:
        """The first state. A state reads from `at` and says where the next one goes on; what it cannot decide yet it
        leaves in `_carry`."""

    @abstractmethod
    def _seek(self, data: str, at: int) -> int:
        """The state between blocks."""

    @abstractmethod
    def _conclude(self, text: str) -> ParsedReply:
        """What the whole reply means."""
