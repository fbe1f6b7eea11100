"""Calls written as `<TAG>` JSON `</TAG>`, found in a reply while it arrives.

One pass, forward only, constant state beside the text itself: the answer cannot depend on how the reply was cut into
chunks, and no input costs more than linear time (T16).

What decides, where the documents leave a choice:
- An opening tag that is not followed by a JSON value is a mention in prose, and the search goes on (T15).
- The first block that is followed by one decides. If it is cut or broken, no later block of the reply runs: what looks
  like a later block may be the content of the broken one (a file that quotes this protocol), and to run that is worse
  than to ask again. The document's own expression reads it so too: it takes the first match or none.
- A block inside thinking is stepped over as JSON, so that a closing tag in one of its strings ends nothing (X19).
- Thinking that ends without having begun began before the reply was caught (models whose template opens it, pages that
  swallow the tag): the calls before that end were thoughts. They are taken back, and the search begins anew. Thinking
  inside thinking ends at the first closing tag; the second one then takes back what stood between.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from bridge.protocol import limits, lint
from bridge.protocol.jsontext import BadJson, JsonScanner, decode
from bridge.protocol.models import Code, ParsedReply, StreamEvent
from bridge.protocol.outlet import Outlet
from bridge.protocol.remarks import Remark
from bridge.protocol.tagged.conclusion import Block, conclude
from bridge.protocol.tagged.edges import skip
from bridge.protocol.tagged.manners import PLAIN, Manners, ReadCalls
from bridge.protocol.tags import THINKING, TagSet, name_of
from bridge.protocol.thoughts import Thoughts
from tool_manager.models import ToolCall

__all__ = ["BlockStream", "Manners", "ReadCalls"]


class BlockStream:
    """The parser of one reply, fed in chunks. See `bridge.protocol.dialect.StreamParser` for the contract."""

    _reads_elements = False  # whether a block may begin with another tag

    def __init__(self, tag: str, read: ReadCalls, *, multi: bool = False, manners: Manners = PLAIN) -> None:
        self._manners = manners
        self._open, self._close, self._read, self._multi = f"<{tag}>", f"</{tag}>", read, multi
        self._prose, self._over, self._within = _tag_sets(tag)
        self._parts: list[str] = []
        self._length = 0
        self._base = 0  # offset in the reply of the first character of the chunk at hand
        self._carry = ""  # end of the last chunk, where it may be the beginning of something
        self._state = self._seek
        self._is_over = False  # no further block can run
        self._has_failed = False
        self._thoughts = Thoughts()
        self._mention: int | None = None  # an opening tag that was no block, unless its closing tag follows
        self._opened = self._json_at = 0
        self._json = JsonScanner()
        self._block: Sequence[ToolCall] = ()
        self._blocks: list[Block] = []
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
        name = self._thoughts.name
        tags = self._within[name] if name else self._over if self._is_over else self._prose
        found = tags.search(data, at)
        if found is None:
            self._carry = tags.unfinished(data, at)
            self._show(data[at : len(data) - len(self._carry)])
            return len(data)
        self._show(data[at : found.start()])
        tag = found[0]
        if tag == self._open:
            self._opening_tag(data, found.start(), found.end())
        elif tag == self._close:
            self._closing_tag_in_prose(self._base + found.start())
            self._show(tag)
        else:
            self._thinking_tag(tag, self._base + found.start())
        return found.end()

    def _opened_block(self, data: str, at: int) -> int:
        at = self._skip_edge(data, at)
        if at == len(data):
            return at
        if data[at] in "{[":
            self._begin_json(self._base + at)
        elif self._thoughts.name:
            self._state = self._seek
        else:
            self._no_json(data, at)
        return at

    def _in_json(self, data: str, at: int) -> int:
        end, state = self._json.scan(data, at)
        self._take(data, at, end)
        if state == "more":
            return end
        if self._thoughts.name:
            self._state = self._seek
        elif state == "broken":
            self._fail_unended("json", "the JSON breaks off", quoted=True)
        else:
            self._decode()
        return end

    def _after_json(self, data: str, at: int) -> int:
        at = self._skip_edge(data, at)
        head = data[at : at + len(self._close)]
        if head == self._close:
            self._take(data, at, at + len(head))
            self._finish(self._base + at + len(head))
        elif self._close.startswith(head):
            self._carry = head or self._carry
        else:
            self._fail("closing_tag", f"{self._close} must follow the JSON directly", self._base + at, quoted=True)
            return at
        return at + len(head)

    def _further_block(self, data: str, at: int) -> int:
        """After the last block that can run: only say so."""
        at = self._skip_edge(data, at)
        if at < len(data):
            if data[at] in "{[" and not self._has_failed:
                self._remark("extra_call", "", "a further call in the same reply was not run", self._opened)
            self._state = self._seek
        return at

    def _ignore(self, data: str, at: int) -> int:
        self._show(data[at:])
        return len(data)

    # Steps of the states.

    def _opening_tag(self, data: str, start: int, end: int) -> None:
        self._opened = self._base + start
        is_prose = not self._thoughts.name and not self._is_over
        # As `_opened_block` does, at a fraction of the cost: replies of nothing but tags exist.
        if data.startswith("<", end) and not self._reads_elements:
            if is_prose:
                self._mention = self._opened if self._manners.strict else None
            self._show(self._open)
            return
        self._state = self._opened_block if is_prose or self._thoughts.name else self._further_block
        self._take(data, start, end)

    def _skip_edge(self, data: str, at: int) -> int:
        end, waits = skip(data, at, marks=self._manners.edges)
        self._take(data, at, end)
        if waits:
            self._carry = data[end:]
        return len(data) if waits else end

    def _thinking_tag(self, tag: str, start: int) -> None:
        end = start + len(tag)
        if self._thoughts.name:
            self._show(tag)
            self._thoughts.leave(start, end)
        elif tag[1] == "/":
            self._out.show(tag)
            self._thoughts.border = end
            self._take_back()
        else:
            self._thoughts.enter(name_of(tag), start, end)
            self._show(tag)

    def _take_back(self) -> None:
        """Thinking has ended that began before the reply: no call before here was meant."""
        for block in self._blocks:
            self._remark("call_in_thinking", "", "a call inside thinking never runs", block.start)
        self._blocks, self._is_over = [], self._has_failed

    def _no_json(self, data: str, at: int) -> None:
        held = self._out.held[len(self._open) :]
        inner = held.lstrip()
        first, own_line = inner[:1] or data[at], "\n" in held or "\r" in held
        if data[at] in "“”„«｛［" or (first in "`~" and own_line):
            self._fail("shape", "no JSON object follows the opening tag", self._base + at)
            return
        # `<TOOL_CALL>read_file` is a try, `<TOOL_CALL> and` is prose: only the former's closing tag makes it malformed
        tried = (first.isalnum() or first == "-") and (own_line or len(inner) == len(held))
        self._mention = self._opened if tried or self._manners.strict else None
        self._out.release()
        self._state = self._seek

    def _closing_tag_in_prose(self, offset: int) -> None:
        if self._mention is None:
            return
        if self._manners.strict:
            self._strict_block(self._mention + len(self._open), offset)
        else:
            self._fail("shape", _NO_JSON, self._mention)
        self._mention = None

    def _strict_block(self, start: int, end: int) -> None:
        """Fail at whatever stands between the tags that is no object or array, for the reason that fits it best."""
        inner = "".join(self._parts)[start:end]
        text = inner.strip()
        if not text:
            self._fail("shape", "nothing stands between the tags", start)
            return
        self._json_at = start + len(inner) - len(inner.lstrip())
        try:
            refused = self._read(decode(text))
        except BadJson as error:
            self._fail_json(text, error)
        else:
            why = refused if isinstance(refused, str) else _NO_JSON
            self._fail("shape", why, self._json_at)

    def _begin_json(self, offset: int) -> None:
        self._json_at, self._json, self._mention = offset, JsonScanner(eager=not self._thoughts.name), None
        self._state = self._in_json
        if self._thoughts.name:
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
        self._blocks.append(Block(self._block, self._opened, end))
        self._out.close_calls(self._block)
        self._state, self._is_over = self._seek, not self._multi

    def _fail_json(self, text: str, error: BadJson) -> None:
        quoted = error.reason == "json"
        place = f" at character {error.offset + 1}" if quoted else ""
        self._fail(error.reason, f"the JSON is not valid: {error}{place}", self._json_at + error.offset, quoted=quoted)
        if damage := lint.damage(text, error.offset, str(error)):
            self._remark("rendering_damage", *damage, self._json_at + error.offset)

    def _fail(self, reason: str, message: str, offset: int, *, quoted: bool = False) -> None:
        self._remark("malformed_call", reason, message, offset, quoted=quoted)
        self._out.release()
        self._has_failed = self._is_over = True
        self._state = self._seek if self._blocks or self._manners.moves_thinking else self._ignore

    def _remark(self, code: Code, reason: str, message: str, offset: int, *, quoted: bool = False) -> None:
        if len(self._remarks) < limits.MAX_DIAGNOSTICS:
            self._remarks.append(Remark(code, reason, message, offset, quoted))

    def _take(self, data: str, start: int, end: int) -> None:
        if self._thoughts.name or self._is_over:
            self._show(data[start:end])
        else:
            self._out.hold(data, start, end)

    def _show(self, text: str) -> None:
        if not (self._thoughts.name and self._manners.moves_thinking):
            self._out.show(text)

    # The end.

    def _end_of_reply(self, text: str) -> None:
        if self._has_failed:
            return
        if self._thoughts.name or (self._remarks and not text[self._thoughts.border :].strip()):
            self._end_of_thinking()
        elif self._state == self._opened_block:
            if not self._carry or self._carry.startswith(("```", "~~~")):
                self._fail("cut", f"the reply ends after {self._open}", self._opened)
        elif self._state == self._in_json:
            self._fail_unended("cut", "the reply was cut off inside the JSON")
        elif self._state == self._after_json:
            self._fail("closing_tag", f"the reply ends without {self._close}", self._length)
        elif self._manners.edges and not self._blocks:
            self._untagged(text + "\n")  # which ends what stands at its end

    def _untagged(self, text: str) -> None:
        """A reply that is nothing but what the tags should hold: a page has swallowed them, or the model forgot."""
        start, _ = skip(text, 0, marks=True)
        if not text.startswith("{", start):
            return
        json = JsonScanner(eager=True)
        end, _ = json.scan(text, start)
        if json.value is None or isinstance(self._read(json.value), str) or skip(text, end, marks=True)[0] < len(text):
            return
        self._remark("malformed_call", "tags", f"a call stands there without {self._open} and {self._close}", start)
        self._remark("rendering_damage", "tags", "tags outside a code fence may vanish", start)

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
        return conclude(text, self._blocks, self._remarks, self._thoughts, self._manners, self._open)


_NO_JSON = "no JSON object stands between the tags"
_TOO_DEEP = BadJson("depth", f"it is nested more than {limits.MAX_DEPTH} levels deep", 0)


@lru_cache
def _tag_sets(tag: str) -> tuple[TagSet, TagSet, dict[str, TagSet]]:
    """What to look for before a block, after the last, and in thinking by the name of its tag."""
    tags = (f"<{tag}>", f"</{tag}>")
    prose, over = (TagSet(exact, opening=THINKING, closing=THINKING) for exact in (tags, tags[:1]))
    return prose, over, {name: TagSet(tags[:1], closing=(name,)) for name in THINKING}


def _first_error(text: str) -> BadJson:
    """What is wrong with `text`, whose last bracket is missing."""
    error = BadJson("cut", "it does not end", len(text))
    try:
        decode(text)
    except BadJson as found:
        error = found
    return error
