"""Calls that are written as lines of text, found in a reply while it arrives.

What decides, where the documents are silent:
- A call begins on a line of its own. In a fence it is the first thing, for what is quoted in the middle of a program is
  part of that program; indented it is only as much as its fence is, and three spaces more.
- Outside a fence, text on the very next line makes a mention of a function call, and a doubt of YAML that more lines
  could go on.
- The first block decides: after a broken one nothing runs, since what follows may be its content. After a mention in
  prose the search goes on (T15).
- Thinking (X19) hides calls in any case; a call within it is stepped over, so that a tag in a string ends nothing.
  Thinking that ends without having begun takes back the calls before it.
"""

from __future__ import annotations

import re

from bridge.protocol import limits
from bridge.protocol.lineform import fences
from bridge.protocol.lineform.faults import Fault
from bridge.protocol.lineform.fences import Fence
from bridge.protocol.lineform.findings import Findings
from bridge.protocol.lineform.linefinder import LineFinder
from bridge.protocol.lineform.shapes import Block, Shape
from bridge.protocol.models import ParsedReply, StreamEvent
from bridge.protocol.outlet import Outlet
from bridge.protocol.tags import THINKING, TagSet, name_of
from tool_manager.models import ToolCall

_PROSE = TagSet((), opening=THINKING, closing=THINKING)
_WITHIN = {name: TagSet((), closing=(name,)) for name in THINKING}


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
        self._last = 0  # where the last line of the chunk begins
        self._heads = LineFinder(shape.head, shape.mark)
        self._fences = [LineFinder(pattern, mark) for mark, pattern in fences.LINES.items()]
        self._block: Block | None = None
        self._text: list[str] = []  # the block so far
        self._opened = 0
        self._findings = Findings()
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
            text = "".join(self._parts)
            is_thought = self._thinking is not None or not text[self._border :].strip()
            self._reply = self._findings.reply(text, self._shape, is_thought=is_thought)
        return self._reply

    def _read(self, data: str, base: int) -> None:
        self._base, self._carry, self._tag, self._tagless, at = base, "", None, 0, 0
        self._last = data.rfind("\n") + 1
        while at < len(data):
            at = self._state(data, at)

    # States: each reads from `at` and says where the next one goes on; what it cannot decide yet it leaves in `_carry`.

    def _line_start(self, data: str, at: int) -> int:
        if self._is_over:
            self._state = self._mid_line
            return at
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
        tag, line = self._next_tag(data, at), self._next_line(data, at)
        if tag is not None and (not line or tag.start() < line):
            self._out.show(data[at : tag.end()])
            self._thinking_tag(tag)
            self._state = self._line_start
            return tag.end()
        unfinished = "" if self._ended else self._tags().unfinished(data, at)
        end = len(data) - len(unfinished)
        if line and line <= end:
            self._out.show(data[at:line])
            self._state = self._line_start
            return line
        self._out.show(data[at:end])
        self._carry = unfinished
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
        if self._fence is not None and not self._fence.clean:
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

    def _next_line(self, data: str, at: int) -> int:
        """Where the next line begins that may change anything, at the latest the last one; 0 if `at` is in that."""
        if at >= self._last or self._is_over:
            return 0 if at >= self._last else self._last
        if self._fence is not None and self._fence.clean:
            return fences.idle_lines(data, data.find("\n", at) + 1)
        line = self._last if self._fence else min(self._last, self._heads.find(data, at))
        for finder in self._fences:
            line = min(line, finder.find(data, at))
        return line

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
        if tag[0][1] == "/" and not was_thinking and self._findings.take_back():
            self._is_over = self._is_broken

    def _finish(self, end: int) -> bool:
        """The block ends at the offset `end` of the reply. Whether it ends with its line."""
        assert self._block is not None
        text = "".join(self._text)
        is_moot = self._thinking is not None and self._findings.is_full
        verdict = None if is_moot else self._block.verdict(text, ended=self._ended and end == self._length)
        self._block = None
        if self._thinking:
            if isinstance(verdict, ToolCall):
                self._findings.thought(self._opened)
        elif isinstance(verdict, ToolCall):
            self._findings.call(verdict, self._opened, end)
            self._out.close_calls([verdict])
            self._is_over = not self._multi
        else:
            self._pass_block(verdict, text)
        return text.endswith("\n")

    def _pass_block(self, fault: Fault | None, text: str) -> None:
        if fault is not None:
            self._findings.remark("malformed_call", fault.reason, str(fault), self._opened + fault.offset)
            if fault.damage:
                self._findings.remark("rendering_damage", *fault.damage, self._opened + fault.offset)
            self._is_over = self._is_broken = True
        elif self._fence is not None:
            self._fence.pass_line(text)
        self._out.show(text)

    def _take(self, text: str) -> None:
        self._text.append(text)
        if self._thinking:
            self._out.show(text)
