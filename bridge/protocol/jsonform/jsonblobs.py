"""Calls written as bare JSON, inline or in a fence, found in a reply while it arrives (A16, A17).

One pass, forward only, like `blocks.BlockStream`. What decides, where the documents leave a choice:

- A value is found by its bracket, wherever it stands: a fence labelled `json` or nothing is only text around it. Fences
  of any other label yield nothing until they close, nor do backticks in a JSON string open or close one.
- Text that stops being JSON is no value, and the search goes on where it stopped: what was read until there is the
  beginning of a JSON value, and what stands inside one is its content, never a call.
- If it looked like a call until there, no later value of the reply runs: that may be the content of the broken one.
  If it was an object with a key, in any quotes or none, it is stepped over up to the bracket that balances it, for
  the same reason.
- JSON that is no call is text (A17). In thinking no call runs (X19); fences mean nothing there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final, NamedTuple

from bridge.protocol import limits
from bridge.protocol.jsonform import jsonlint
from bridge.protocol.jsonform.ahead import Ahead
from bridge.protocol.jsonform.jsonfences import Fences
from bridge.protocol.jsonform.jsonwalk import SPACES, TOO_DEEP, JsonWalk, decode_value
from bridge.protocol.jsonform.oddkey import OddKey
from bridge.protocol.jsonform.reading import Read, Reading
from bridge.protocol.jsontext import BadJson, decode_prefix
from bridge.protocol.models import Code, ParsedReply, StreamEvent
from bridge.protocol.outlet import Outlet
from bridge.protocol.remarks import IN_THINKING, Remark, diagnostic, only_thought
from bridge.protocol.tags import THINKING, TagSet, name_of
from tool_manager.models import JsonValue, ToolCall

MISUNDERSTOOD: Final = "The model's response contained a malformed tool call that could not be understood."
"""What goes back where one bad call voids the whole reply (A20, A36)."""

_PROSE = TagSet((), opening=THINKING, closing=THINKING)
_BRACE = re.compile(r"[{}]")
_KEY = re.compile(rf'"[{SPACES}]*+:')
_IN_THINKING = {name: TagSet((), closing=(name,)) for name in THINKING}


# What shows at its first string or word that it is no value; to know that beforehand costs a tenth of trying.
_TEXT = rf'"[^"]{{0,{limits.MAX_TRY}}}+"[{SPACES}]*+'
_PLAUSIBLE = re.compile(
    rf"\{{[{SPACES}]*+(?:\}}|{_TEXT}:)|\[[{SPACES}]*+(?:[\[\]{{]|{_TEXT}[,\]]|[\w.+-]++[{SPACES}]*+[,\]])", re.ASCII
)


class _Blob(NamedTuple):
    calls: Sequence[ToolCall]
    start: int
    end: int


class BlobStream:
    """The parser of one reply, fed in chunks. See `bridge.protocol.dialect.StreamParser` for the contract.

    `sign` matches the beginning of a value that is meant as a call. With `announces` a call is told when its value
    closes; without, never before the reply is over, for a later value can still void it.
    """

    def __init__(self, read: Read, sign: re.Pattern[str], *, announces: bool = True) -> None:
        self._read, self._sign, self._announces = read, sign, announces
        self._parts: list[str] = []
        self._length = 0
        self._kept, self._at = "", 0  # end of the last chunk, and how far it has been read
        self._base = 0  # offset in the reply of the first character of the data at hand
        self._shown = 0  # offset up to which text has been let out or held
        self._state = self._seek
        self._waits = False
        self._tags, self._ahead = _PROSE, Ahead()
        self._thinking = False
        self._thought = 0  # where the last thinking began or ended
        self._took_back = False
        self._fences = Fences()
        self._walk = JsonWalk()
        self._odd_key = OddKey()
        self._held: list[tuple[str, int, int]] = []  # data and the part of it, cut only for what is no call
        self._opened = 0
        self._depth = 0  # of a broken object that is stepped over
        self._broken: BadJson | None = None
        self._is_broken = self._is_void = False
        self._blobs: list[_Blob] = []
        self._remarks: list[Remark] = []
        self._out = Outlet()
        self._reply: ParsedReply | None = None

    def feed(self, chunk: str) -> list[StreamEvent]:
        if self._reply is not None:
            raise ValueError("this stream is closed: make a new one for each reply")
        data, at = self._kept + chunk, self._at
        self._base = self._length - len(self._kept)
        self._parts.append(chunk)
        self._length += len(chunk)
        self._waits = False
        while at < len(data) and not self._waits:
            at = self._state(data, at)
        if self._state != self._in_json or self._thinking:
            self._show(data, len(data))
        start = max(0, at - limits.MAX_FENCE_LINE)
        self._kept, self._at = data[start:], at - start
        return self._out.events()

    def close(self) -> ParsedReply:
        if self._reply is None:
            self._reply = self._conclude("".join(self._parts))
        return self._reply

    # States: each reads from `at` and says where the next one goes on; one that needs more text sets `_waits`.

    def _seek(self, data: str, at: int) -> int:
        marks = () if self._is_broken else self._fences.marks(self._thinking)
        found = self._ahead.nearest((self._tags, *marks), data, at)
        end = found.start() if found else self._wait(data, at)
        self._fences.pass_text(data, at, end)
        if found is None:
            return end
        if found[0] in "{[":
            return self._begin(data, end)
        if found[0].startswith("<"):
            return self._think(found)
        if self._fences.pass_run(data, found, self._base == 0):
            return found.end()
        self._waits = True
        return end

    def _in_json(self, data: str, at: int) -> int:
        end, state = self._walk.walk(data, at)
        self._held.append((data, at, end))
        if state == "end":
            self._ended(self._base + end)
        elif state == "broken" or (state == "deep" and self._looks_like_a_call()):
            self._stopped(None, self._base + end)
        return end

    def _in_key(self, data: str, at: int) -> int:
        end, is_key = self._odd_key.read(data, at)
        if is_key is not None:
            self._state = self._step_over if is_key else self._seek
        return end

    def _step_over(self, data: str, at: int) -> int:
        tag = self._ahead.nearest((self._tags,), data, at)
        end = tag.start() if tag else self._wait(data, at)
        for brace in _BRACE.finditer(data, at, end):
            self._depth += 1 if brace[0] == "{" else -1
            if not self._depth:
                self._state, self._waits = self._seek, False
                return brace.end()
        if tag and tag[0].startswith("</"):
            self._take_back(tag)
        return tag.end() if tag else end

    def _ignore(self, data: str, at: int) -> int:
        return len(data)

    # Steps of the states.

    def _think(self, tag: re.Match[str]) -> int:
        if not self._thinking and tag[0].startswith("</"):
            return self._take_back(tag)
        self._tags = _PROSE if self._thinking else _IN_THINKING[name_of(tag[0])]
        self._thinking = not self._thinking
        self._thought = self._base + tag.end()
        return tag.end()

    def _take_back(self, tag: re.Match[str]) -> int:
        """Thinking has ended that began before the reply: no call before here was meant."""
        self._took_back = self._took_back or bool(self._blobs)
        for blob in self._blobs:
            self._remark("call_in_thinking", "", IN_THINKING, blob.start)
        self._blobs, self._thought = [], self._base + tag.end()
        return tag.end()

    def _wait(self, data: str, at: int) -> int:
        self._waits = True
        unread = max(len(self._tags.unfinished(data, at)), self._fences.unfinished(data, at))
        return len(data) - unread

    def _begin(self, data: str, at: int) -> int:
        self._show(data, at)
        self._opened, self._held = self._base + at, []
        # a failed try costs time linear in all that it was shown: only one at what looks like a call can be long
        is_short = self._thinking or not self._sign.match(data, at)
        value, end = self._try_short(data, at) if is_short else decode_prefix(data, at)
        if not end:
            self._state, self._walk = self._in_json, JsonWalk()
            return at
        self._held.append((data, at, end))
        self._took(value, self._base + end)
        return end

    def _try_short(self, data: str, at: int) -> tuple[JsonValue, int]:
        if not _PLAUSIBLE.match(data, at):
            return None, 0
        value, end = decode_prefix(data[at : at + limits.MAX_TRY], 0)
        return value, at + end if end else 0

    def _ended(self, end: int) -> None:
        try:
            value = decode_value(self._held_text(), self._walk.deepest)
        except BadJson as error:
            self._stopped(error, end)
        else:
            self._took(value, end)

    def _took(self, value: JsonValue, end: int) -> None:
        self._state, reading = self._seek, self._read(value)
        if self._thinking:
            if reading.calls:
                self._remark("call_in_thinking", "", IN_THINKING, self._opened)
        elif reading.is_fatal:
            self._is_void, self._state = True, self._ignore
            self._remarks.insert(0, Remark("malformed_call", "json", reading.problem, self._opened))
        else:
            self._use(reading, end)
        self._release(end)

    def _use(self, reading: Reading, end: int) -> None:
        if reading.problem:
            self._remark("malformed_call", "shape", reading.problem, self._opened)
        if reading.calls:
            self._blobs.append(_Blob(reading.calls, self._opened, end))
            self._shown = end
            self._out.close_calls(reading.calls if self._announces else ())

    def _looks_like_a_call(self) -> bool:
        return not self._thinking and bool(self._sign.match(self._held_text()))

    def _stopped(self, error: BadJson | None, end: int) -> None:
        """What was held is no JSON: either up to its end, by `error`, or it stops being so at `end`."""
        self._state = self._seek
        if self._looks_like_a_call():
            self._is_broken = True
            self._broken = TOO_DEEP if self._walk.deepest > limits.MAX_DEPTH else error
        elif error is None and not self._thinking and self._walk.objects:
            self._depth, self._odd_key = self._walk.objects, OddKey()
            self._state = self._step_over if _KEY.search(self._held_text()) else self._in_key
        self._release(end)

    def _release(self, end: int) -> None:
        if self._shown < end:
            self._out.show(self._held_text()[self._shown - self._opened :])
        self._shown, self._held = end, []

    def _held_text(self) -> str:
        return "".join([data[start:end] for data, start, end in self._held])

    def _remark(self, code: Code, reason: str, message: str, offset: int) -> None:
        if len(self._remarks) < limits.MAX_DIAGNOSTICS:
            self._remarks.append(Remark(code, reason, message, offset))

    def _show(self, data: str, end: int) -> None:
        self._out.show(data[self._shown - self._base : end])
        self._shown = max(self._shown, self._base + end)

    # The end.

    def _end_of_reply(self, text: str) -> None:
        if self._state == self._in_json:
            self._stopped(None, self._length)
        thoughts = [remark for remark in self._remarks if remark.code == "call_in_thinking"]
        if self._is_broken:
            self._remarks = [
                *self._remarks[: limits.MAX_DIAGNOSTICS - 2],
                *jsonlint.broken_call(text, self._opened, self._broken),
            ]
        elif thoughts and not self._blobs and self._was_meant(text):
            self._remarks.insert(0, only_thought(thoughts[0].offset))
        elif not self._blobs and not self._remarks:
            self._remarks += jsonlint.damaged_call(text)

    def _was_meant(self, text: str) -> bool:
        """Whether a call in thinking was more than a thought: nothing follows it, or the thinking had no beginning."""
        return self._thinking or self._took_back or not text[self._thought :].strip()

    def _conclude(self, text: str) -> ParsedReply:
        self._end_of_reply(text)
        found = tuple(diagnostic(text, remark) for remark in islice(self._remarks, limits.MAX_DIAGNOSTICS))
        if self._is_void:
            why = found[0]
            error = f"{MISUNDERSTOOD} It stands at line {why.line}, column {why.column}: {why.message}."
            return ParsedReply("error", text=text, error=error, diagnostics=found)
        starts, ends = [blob.start for blob in self._blobs], [blob.end for blob in self._blobs]
        before, *after = zip([0, *ends], [*starts, len(text)], strict=True)
        return ParsedReply(
            kind="tool_calls" if self._blobs else "text",
            calls=tuple(call for blob in self._blobs for call in blob.calls),
            text=text[: before[1]],
            rest="".join(text[start:end] for start, end in after),
            diagnostics=found,
        )
