"""What the engines have in common that find calls in tags: chunks, thinking, remarks."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable

from bridge.protocol import limits
from bridge.protocol.models import Code, ParsedReply, StreamEvent
from bridge.protocol.otherform import other_form
from bridge.protocol.outlet import Outlet
from bridge.protocol.remarks import IN_THINKING, Remark, only_thought
from bridge.protocol.thoughts import Thoughts

_LEAD = limits.MAX_LINE_INDENT + 1
_LINE = re.compile(rf"(?:\A|[\r\n])[ \t]{{0,{limits.MAX_LINE_INDENT}}}\Z")


class TagStream(ABC):
    """The parser of one reply, fed in chunks. See `bridge.protocol.dialect.StreamParser` for the contract.

    A state reads the data from an index and says where the next one goes on; what it cannot decide yet it leaves in
    `_carry`, which is the beginning of the next data.
    """

    def __init__(self, tools: Container[str] | None = None) -> None:
        self._tools = tools
        self._parts: list[str] = []
        self._length = 0
        self._base = 0  # offset in the reply of the first character of the data at hand
        self._carry = ""
        self._lead = ""  # what stands directly before the data
        self._state: Callable[[str, int], int] = self._seek
        self._thoughts = Thoughts()
        self._remarks: list[Remark] = []
        self._out = Outlet()
        self._reply: ParsedReply | None = None
        self._has_taken_back = False

    def feed(self, chunk: str) -> list[StreamEvent]:
        if self._reply is not None:
            raise ValueError("this stream is closed: make a new one for each reply")
        data = self._carry + chunk
        self._base = self._length - len(self._carry)
        self._parts.append(chunk)
        self._length += len(chunk)
        self._carry, at = "", 0
        while at < len(data):
            at = self._state(data, at)
        known = len(data) - len(self._carry)
        self._lead = (self._lead + data[max(0, known - _LEAD) : known])[-_LEAD:]
        return self._out.events()

    def close(self) -> ParsedReply:
        if self._reply is None:
            self._reply = self._conclude("".join(self._parts))
        return self._reply

    @abstractmethod
    def _seek(self, data: str, at: int) -> int:
        """The first state."""

    @abstractmethod
    def _conclude(self, text: str) -> ParsedReply:
        """The reply is over: what `text`, all of it, means."""

    def _remark(self, code: Code, reason: str, message: str, offset: int, *, quoted: bool = False) -> None:
        if len(self._remarks) < limits.MAX_DIAGNOSTICS:
            self._remarks.append(Remark(code, reason, message, offset, quoted))

    def _in_thinking(self, offset: int) -> None:
        self._remark("call_in_thinking", "", IN_THINKING, offset)

    def _take_back(self, starts: Iterable[int]) -> None:
        """Thinking has ended that began before the reply: no call before here, at `starts`, was meant."""
        for start in starts:
            self._in_thinking(start)
            self._has_taken_back = True

    def _begins_line(self, data: str, at: int) -> bool:
        """Whether nothing but spaces stands on the line before `data[at]`."""
        before = data[max(0, at - _LEAD) : at]
        return _LINE.search(self._lead + before if at < _LEAD else before) is not None

    def _ends_in_thinking(self, text: str, *, has_calls: bool) -> bool:
        """Whether `text`, the reply, ends with thinking. A call there was meant, if there is no other; one that an
        answer follows was a thought."""
        thought = next((each for each in self._remarks if each.code == "call_in_thinking"), None)
        if not self._thoughts.name and (thought is None or text[self._thoughts.border :].strip()):
            return False
        if thought is not None and not has_calls:
            self._remarks.insert(0, only_thought(thought.offset))
        return True

    def _tell_missed(self, text: str) -> None:
        """`text`, the reply, has no call: say so, if one was meant and no remark tells it yet."""
        if any(each.code == "malformed_call" for each in self._remarks):
            return
        if self._has_taken_back:
            offset = next(each.offset for each in self._remarks if each.code == "call_in_thinking")
            self._remarks.insert(0, only_thought(offset))
        elif self._tools and (found := other_form(text, self._tools)):
            self._remarks.insert(0, found)
