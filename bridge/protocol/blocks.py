"""Calls written as `<TAG>` JSON object `</TAG>`, found in a reply while it arrives.

One pass, forward only, constant state beside the text itself: the answer cannot depend on how the reply was cut into
chunks, and no input costs more than linear time (T16).

What decides, where the documents leave a choice:
- An opening tag that is not followed by a JSON value is a mention in prose, and the search goes on (T15).
- The first block that is followed by one decides. If it is cut or broken, no later block of the reply runs: what looks
  like a later block may be the content of the broken one (a file that quotes this protocol), and to run that is worse
  than to ask again. The document's own expression reads it so too: it takes the first match or none.
- A block inside thinking is stepped over as JSON, so that a closing tag in one of its strings ends nothing (X19).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from bridge.protocol import limits, lint
from bridge.protocol.jsontext import BadJson, JsonScanner, decode
from bridge.protocol.models import Code, Diagnostic, ParsedReply, StreamEvent
from bridge.protocol.outlet import Outlet
from bridge.protocol.remarks import Remark, diagnostic
from bridge.protocol.tags import SPACE, THINKING, TagSet
from tool_manager.models import JsonValue, ToolCall

_SPACES = re.compile(f"{SPACE}*")

ReadCalls = Callable[[JsonValue], "Sequence[ToolCall] | str"]
"""Makes the calls of a decoded block, or says in half a sentence why it holds none."""


@dataclass(frozen=True, slots=True)
class Manners:
    """What differs between the dialects that write calls so."""

    error: Callable[[Diagnostic], str] | None = None
    """Makes of the first malformed block what goes back; the reply is an `error` then, not a `text` (X3)."""
    moves_thinking: bool = False
    """Whether thinking is moved out of `text` into `thinking` (design, section 4)."""
    trims: bool = False
    """Whether `text` and `rest` lose their outer white space when a call is found (F12)."""


class BlockStream:
    """The parser of one reply, fed in chunks. See `bridge.protocol.dialect.StreamParser` for the contract."""

    def __init__(self, tag: str, read: ReadCalls, *, multi: bool = False, manners: Manners = Manners()) -> None:
        self._manners = manners
        self._open, self._close, self._read, self._multi = f"<{tag}>", f"</{tag}>", read, multi
        self._in_prose = TagSet((self._open, self._close), THINKING)
        self._in_thinking = {tag: TagSet((self._open,), (tag,)) for tag in map(_closing, THINKING)}
        self._parts: list[str] = []
        self._length = 0
        self._base = 0  # offset in the reply of the first character of the chunk at hand
        self._carry = ""  # end of the last chunk, where it may be the beginning of a tag
        self._state = self._seek
        self._thinking: str | None = None  # the tag that ends it
        self._thought = 0  # where the last thinking began or ended
        self._mention: int | None = None  # an opening tag that was no block, unless its closing tag follows
        self._opened = self._json_at = 0
        self._json = JsonScanner()
        self._block: Sequence[ToolCall] = ()
        self._blocks: list[tuple[Sequence[ToolCall], int, int]] = []
        self._remarks: list[Remark] = []
        self._out = Outlet()
        self._reply: ParsedReply | None = None

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
        return self._out.events()

    def close(self) -> ParsedReply:
        if self._reply is None:
            self._reply = self._conclude("".join(self._parts))
        return self._reply

    # States: each reads from `at` and says where the next one goes on; what it cannot decide yet it leaves in `_carry`.

    def _seek(self, data: str, at: int) -> int:
        tags = self._in_thinking[self._thinking] if self._thinking else self._in_prose
        found = tags.search(data, at)
        if found is None:
            self._carry = tags.unfinished(data, at)
            self._out.show(data[at : len(data) - len(self._carry)])
            return len(data)
        self._out.show(data[at : found.start()])
        tag = found[0]
        if tag == self._open:
            self._opened, self._state = self._base + found.start(), self._opened_block
            self._take(tag)
        elif tag == self._close:
            self._closing_tag_in_prose()
            self._out.show(tag)
        else:
            self._thinking = None if self._thinking else _closing(tag)
            self._thought = self._base + found.end()
            self._out.show(tag)
        return found.end()

    def _opened_block(self, data: str, at: int) -> int:
        spaces = _SPACES.match(data, at)
        assert spaces is not None
        self._take(spaces[0])
        at = spaces.end()
        if at == len(data):
            return at
        if data[at] in "{[":
            self._begin_json(self._base + at)
        elif not self._thinking and (data[at] in "“”„«｛［" or (data[at] in "`~" and self._on_own_line())):
            self._fail("shape", "no JSON object follows the opening tag", self._base + at)
        else:
            self._mention_in_prose(data[at])
        return at

    def _in_json(self, data: str, at: int) -> int:
        end, state = self._json.scan(data, at)
        self._take(data[at:end])
        if state == "more":
            return end
        if self._thinking:
            self._state = self._seek
        elif state == "broken":
            self._fail_unended("json", "the JSON breaks off", quoted=True)
        else:
            self._decode()
        return end

    def _after_json(self, data: str, at: int) -> int:
        spaces = _SPACES.match(data, at)
        assert spaces is not None
        self._take(spaces[0])
        at = spaces.end()
        head = data[at : at + len(self._close)]
        if head == self._close:
            self._take(head)
            self._finish(self._base + at + len(head))
        elif self._close.startswith(head):
            self._carry = head
        else:
            self._fail("closing_tag", f"{self._close} must follow the JSON directly", self._base + at, quoted=True)
            return at
        return at + len(head)

    def _ignore(self, data: str, at: int) -> int:
        self._out.show(data[at:])
        return len(data)

    # Steps of the states.

    def _on_own_line(self) -> bool:
        return "\n" in self._out.held or "\r" in self._out.held

    def _mention_in_prose(self, char: str) -> None:
        # `<TOOL_CALL>read_file` is a try, `<TOOL_CALL> and` is prose: only the former's closing tag makes it malformed
        tried = (char.isalnum() or char == "-") and (self._on_own_line() or self._out.held == self._open)
        self._mention = self._opened if tried and not self._thinking else None
        self._out.release()
        self._state = self._seek

    def _closing_tag_in_prose(self) -> None:
        if self._mention is not None:
            self._remark("malformed_call", "shape", "no JSON object stands between the tags", self._mention)
            self._state = self._ignore
        self._mention = None

    def _begin_json(self, offset: int) -> None:
        self._json_at, self._json, self._mention = offset, JsonScanner(eager=not self._thinking), None
        self._state = self._in_json
        if self._thinking:
            self._remark("call_in_thinking", "", "a call inside thinking never runs", self._opened)

    def _json_text(self) -> str:
        return self._out.held[self._json_at - self._opened :]

    def _decode(self) -> None:
        if self._json.deepest > limits.MAX_DEPTH:
            self._fail_json(self._json_text(), _TOO_DEEP)
            return
        try:
            value = decode(self._json_text()) if self._json.value is None else self._json.value
        except BadJson as error:
            self._fail_json(self._json_text(), error)
            return
        calls = self._read(value)
        if isinstance(calls, str):
            self._fail("shape", calls, self._json_at)
        else:
            self._block, self._state = calls, self._after_json

    def _finish(self, end: int) -> None:
        self._blocks.append((self._block, self._opened, end))
        self._out.close_calls(self._block)
        self._state = self._seek if self._multi else self._ignore

    def _fail_json(self, text: str, error: BadJson) -> None:
        quoted = error.reason == "json"
        place = f" at character {error.offset + 1}" if quoted else ""
        self._fail(error.reason, f"the JSON is not valid: {error}{place}", self._json_at + error.offset, quoted=quoted)
        if damage := lint.damage(text, error.offset, str(error)):
            self._remark("rendering_damage", *damage, self._json_at + error.offset)

    def _fail(self, reason: str, message: str, offset: int, *, quoted: bool = False) -> None:
        self._remark("malformed_call", reason, message, offset, quoted=quoted)
        self._out.release()
        self._state = self._ignore

    def _remark(self, code: Code, reason: str, message: str, offset: int, *, quoted: bool = False) -> None:
        if len(self._remarks) < limits.MAX_DIAGNOSTICS:
            self._remarks.append(Remark(code, reason, message, offset, quoted))

    def _take(self, text: str) -> None:
        if self._thinking:
            self._out.show(text)
        else:
            self._out.hold(text)

    # The end.

    def _end_of_reply(self, text: str) -> None:
        if self._thinking or (self._remarks and not text[self._thought :].strip()):
            self._end_of_thinking()
            return
        if self._state == self._opened_block:
            self._fail("cut", f"the reply ends after {self._open}", self._opened)
        elif self._state == self._in_json:
            self._fail_unended("cut", "the reply was cut off inside the JSON")
        elif self._state == self._after_json:
            self._fail("closing_tag", f"the reply ends without {self._close}", self._length)

    def _fail_unended(self, reason: str, message: str, *, quoted: bool = False) -> None:
        text = self._json_text()
        error = _first_error(text) if self._json.deepest <= limits.MAX_DEPTH else _TOO_DEEP
        if error.reason == "cut":
            told = f"{message} after {len(text)} characters of it"
            self._fail(reason, told, self._json_at + len(text), quoted=quoted)
        else:
            self._fail_json(text, error)

    def _end_of_thinking(self) -> None:
        """A call in thinking that an answer follows was a thought; with nothing after it, it was meant."""
        if self._remarks and not self._blocks:
            message = "the reply holds its call inside thinking, where no call runs"
            self._remarks.insert(0, Remark("malformed_call", "thinking", message, self._remarks[0].offset))

    def _conclude(self, text: str) -> ParsedReply:
        self._end_of_reply(text)
        starts, ends = [start for _, start, _ in self._blocks], [end for _, _, end in self._blocks]
        outside = list(zip([0, *ends], [*starts, len(text)], strict=True))
        remarks = islice(chain(self._remarks, lint.outside_calls(text, outside, self._open)), limits.MAX_DIAGNOSTICS)
        return ParsedReply(
            kind="tool_calls" if self._blocks else "text",
            calls=tuple(call for calls, _, _ in self._blocks for call in calls),
            text=text[: outside[0][1]],
            rest="".join(text[start:end] for start, end in outside[1:]),
            diagnostics=tuple(diagnostic(text, remark) for remark in remarks),
        )


_TOO_DEEP = BadJson("depth", f"it is nested more than {limits.MAX_DEPTH} levels deep", 0)


def _first_error(text: str) -> BadJson:
    """What is wrong with `text`, whose last bracket is missing."""
    error = BadJson("cut", "it does not end", len(text))
    try:
        decode(text)
    except BadJson as found:
        error = found
    return error


def _closing(tag: str) -> str:
    return f"</{tag[1:].lower()}"
