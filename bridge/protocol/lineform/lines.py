"""Calls that are written as lines of text, found in a reply while it arrives.

What decides, where the documents are silent:
- A call begins on a line of its own. In a fence it is the first thing, for what is quoted in the middle of a program is
  part of that program; indented it is only as much as its fence is, and three spaces more.
- The first block decides: after a broken one nothing runs, since what follows may be its content. After a mention in
  prose the search goes on (T15).
- Thinking (X19) hides calls in any case; a call within it is stepped over, so that a tag in a string ends nothing.
  Thinking that ends without having begun takes back the calls before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol, TypeAlias

from bridge.protocol import limits, lint
from bridge.protocol.lineform import fences
from bridge.protocol.lineform.faults import Fault
from bridge.protocol.lineform.fences import Fence
from bridge.protocol.models import Code, ParsedReply, StreamEvent
from bridge.protocol.outlet import Outlet
from bridge.protocol.remarks import Remark, diagnostic
from bridge.protocol.tags import THINKING, TagSet, name_of
from tool_manager.models import ToolCall

LEAD = rf"[\ufeff\u200b\u2060]{{0,4}}( {{0,{limits.MAX_LINE_INDENT}}})"
"""What may stand on a line before a call: marks that pages leave, and the indentation."""

_EMPTY_LINES = re.compile(r"\n+")
_PROSE = TagSet((), opening=THINKING, closing=THINKING)
_WITHIN = {name: TagSet((), closing=(name,)) for name in THINKING}

Verdict: TypeAlias = "ToolCall | Fault | None"
"""What a block came to; None is text after all."""


class Block(Protocol):
    """One block that has begun."""

    def feed(self, data: str, at: int, *, ended: bool) -> tuple[int, bool]:
        """Read on from `at`: where it stopped, and whether the block is over. If it is not, the rest of `data` must
        come again with more text; it is of bounded length, and empty if the reply has `ended`."""

    def verdict(self, text: str, *, ended: bool) -> Verdict:
        """What the block `text` is; `ended` says that the reply ended before the block did."""


class Shape(Protocol):
    """How a dialect of lines writes its calls."""

    again: re.Pattern[str]
    """Finds the beginnings of further calls."""

    def may_begin(self, line: str) -> bool:
        """Whether more text may make of `line`, which has not ended, the beginning of a call."""

    def begin(self, line: str, fence: Fence | None, *, thinking: bool) -> tuple[Block, int] | None:
        """The block that `line` begins, and how many characters of it are its head."""

    def remarks(self, text: str) -> Sequence[Remark]:
        """What looks like a call in `text`, where there is none."""


class LineStream:
    """The parser of one reply, fed in chunks. See `bridge.protocol.dialect.StreamParser` for the contract."""

    def __init__(self, shape: Shape, *, multi: bool = False) -> None:
        self._shape, self._multi = shape, multi
        self._parts: list[str] = []
        self._length = self._base = 0
        self._carry = ""
        self._state = self._line_start
        self._ended = self._is_over = self._is_broken = False
        self._thinking: str | None = None
        self._border = 0  # where the last thinking began or ended
        self._fence: Fence | None = None
        self._tag: re.Match[str] | None = None  # the next tag in the chunk at hand
        self._tagless = 0  # up to where there is none
        self._block: Block | None = None
        self._text: list[str] = []  # the block so far
        self._opened = 0
        self._calls: list[tuple[ToolCall, int, int]] = []
        self._remarks: list[Remark] = []
        self._out = Outlet()
        self._reply: ParsedReply | None = None

    def feed(self, chunk: str) -> list[StreamEvent]:
        if self._reply is not None:
            raise ValueError("this stream is closed: make a new one for each reply")
        self._parts.append(chunk)
        self._read(self._carry + chunk, self._length - len(self._carry))
        self._length += len(chunk)
        return self._out.events()

    def close(self) -> ParsedReply:
        if self._reply is None:
            self._ended = True
            self._read(self._carry, self._length - len(self._carry))
            if self._block is not None:
                self._finish(self._length)
            self._reply = self._conclude("".join(self._parts))
        return self._reply

    def _read(self, data: str, base: int) -> None:
        self._base, self._carry, self._tag, self._tagless, at = base, "", None, 0, 0
        while at < len(data):
            at = self._state(data, at)

    # States: each reads from `at` and says where the next one goes on; what it cannot decide yet it leaves in `_carry`.

    def _line_start(self, data: str, at: int) -> int:
        if self._is_broken:
            self._state = self._mid_line
            return at
        if empty := _EMPTY_LINES.match(data, at):
            self._out.show(empty[0])
            return empty.end()
        end = data.find("\n", at, at + limits.MAX_HEAD) + 1
        line = data[at : end or at + limits.MAX_HEAD]
        is_last = self._ended and not end and len(line) < limits.MAX_HEAD
        begun = self._begin(f"{line}\n" if is_last else line)
        if begun is not None:
            self._block, self._opened, self._state, self._text = begun[0], self._base + at, self._in_block, []
            head_end = min(at + begun[1], at + len(line))
            self._take(data[at:head_end])
            return head_end
        unsure = not end and len(line) < limits.MAX_HEAD and not self._ended
        if unsure and (not line.strip() or fences.may_open(line) or self._shape.may_begin(line)):
            self._carry = line
            return len(data)
        self._pass_line(line)
        self._state = self._mid_line
        return at

    def _mid_line(self, data: str, at: int) -> int:
        tag = self._next_tag(data, at)
        line_end = data.find("\n", at) + 1
        if tag is not None and (not line_end or tag.start() < line_end):
            self._out.show(data[at : tag.end()])
            self._thinking_tag(tag)
            self._state = self._line_start
            return tag.end()
        if line_end:
            self._out.show(data[at:line_end])
            self._state = self._line_start
            return line_end
        self._carry = "" if self._ended else self._tags().unfinished(data, at)
        self._out.show(data[at : len(data) - len(self._carry)])
        return len(data)

    def _in_block(self, data: str, at: int) -> int:
        assert self._block is not None
        end, done = self._block.feed(data, at, ended=self._ended)
        end = len(data) if self._ended and not done else end
        self._take(data[at:end])
        if not done:
            self._carry = data[end:]
            return len(data)
        ends_line = self._finish(self._base + end)
        self._state = self._line_start if ends_line else self._mid_line
        return end

    # Steps of the states.

    def _begin(self, line: str) -> tuple[Block, int] | None:
        if self._is_over or (self._fence is not None and not self._fence.clean):
            return None
        return self._shape.begin(line, self._fence, thinking=self._thinking is not None)

    def _pass_line(self, line: str) -> None:
        if self._thinking:
            return
        if self._fence is None:
            self._fence = fences.opened_by(line)
        elif self._fence.is_closed_by(line):
            self._fence = None
        else:
            self._fence.pass_line(line)

    def _tags(self) -> TagSet:
        return _WITHIN[self._thinking] if self._thinking else _PROSE

    def _next_tag(self, data: str, at: int) -> re.Match[str] | None:
        if at >= self._tagless and (self._tag is None or self._tag.start() < at):
            self._tag = self._tags().search(data, at)
            self._tagless = len(data) if self._tag is None else 0
        return self._tag

    def _thinking_tag(self, tag: re.Match[str]) -> None:
        was_thinking, self._border = self._thinking is not None, self._base + tag.end()
        self._tag, self._tagless, self._fence = None, 0, None
        self._thinking = None if was_thinking or tag[0][1] == "/" else name_of(tag[0])
        if tag[0][1] == "/" and not was_thinking and self._calls:
            for _, start, _ in self._calls:
                self._remark("call_in_thinking", "", "a call inside thinking never runs", start)
            self._calls, self._is_over = [], self._is_broken

    def _finish(self, end: int) -> bool:
        """The block ends at the offset `end` of the reply. Whether it ends with its line."""
        assert self._block is not None
        text = "".join(self._text)
        is_moot = self._thinking is not None and len(self._remarks) >= limits.MAX_DIAGNOSTICS
        verdict = None if is_moot else self._block.verdict(text, ended=self._ended and end == self._length)
        self._block = None
        if self._thinking:
            if isinstance(verdict, ToolCall):
                self._remark("call_in_thinking", "", "a call inside thinking never runs", self._opened)
        elif isinstance(verdict, ToolCall):
            self._calls.append((verdict, self._opened, end))
            self._out.close_calls([verdict])
            self._is_over = not self._multi
        else:
            self._pass_block(verdict, text)
        return text.endswith("\n")

    def _pass_block(self, fault: Fault | None, text: str) -> None:
        if fault is not None:
            self._remark("malformed_call", fault.reason, str(fault), self._opened + fault.offset)
            if fault.damage:
                self._remark("rendering_damage", *fault.damage, self._opened + fault.offset)
            self._is_over = self._is_broken = True
        elif self._fence is not None:
            self._fence.pass_line(text)
        self._out.show(text)

    def _remark(self, code: Code, reason: str, message: str, offset: int) -> None:
        if len(self._remarks) < limits.MAX_DIAGNOSTICS:
            self._remarks.append(Remark(code, reason, message, offset))

    def _take(self, text: str) -> None:
        self._text.append(text)
        if self._thinking:
            self._out.show(text)

    # The end.

    def _conclude(self, text: str) -> ParsedReply:
        self._end_of_thinking(text)
        starts, ends = [start for _, start, _ in self._calls], [end for _, _, end in self._calls]
        outside = list(zip([0, *ends], [*starts, len(text)], strict=True))
        remarks = [*self._remarks, *self._further(text, outside)][: limits.MAX_DIAGNOSTICS]
        return ParsedReply(
            kind="tool_calls" if self._calls else "text",
            calls=tuple(call for call, _, _ in self._calls),
            text=text[: outside[0][1]],
            rest="".join(text[start:end] for start, end in outside[1:]),
            diagnostics=tuple(diagnostic(text, remark) for remark in remarks),
        )

    def _end_of_thinking(self, text: str) -> None:
        """A call in thinking that an answer follows was a thought; with nothing after it, it was meant."""
        thoughts = [remark for remark in self._remarks if remark.code == "call_in_thinking"]
        if thoughts and not self._calls and (self._thinking or not text[self._border :].strip()):
            message = "the reply holds its call inside thinking, where no call runs"
            self._remarks.insert(0, Remark("malformed_call", "thinking", message, thoughts[0].offset))

    def _further(self, text: str, outside: list[tuple[int, int]]) -> list[Remark]:
        remarks = list(lint.written_results(text, outside[0]))
        if not self._calls and not self._remarks:
            remarks += self._shape.remarks(text)
        for start, end in outside[1:]:
            message = "a further call in the same reply was not run"
            found = self._shape.again.finditer(text, start, end)
            remarks += [Remark("extra_call", "", message, each.start()) for each in found]
            remarks += lint.written_results(text, (start, end))
        return remarks
