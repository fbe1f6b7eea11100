"""Calls written as `<TAG>` JSON `</TAG>`, found in a reply while it arrives.

One pass, forward only, constant state beside the text itself: the answer cannot depend on how the reply was cut into
chunks, and no input costs more than linear time (T16).

What decides, where the documents leave a choice:
- An opening tag that is not followed by a JSON value is a mention in prose, and the search goes on (T15). One that has
  a line for itself, and then something else than JSON, is none: a further opening tag may be part of what it holds.
- The first block that is followed by one decides. If it is cut or broken, no later block of the reply runs: what looks
  like a later block may be the content of the broken one (a file that quotes this protocol), and to run that is worse
  than to ask again. The document's own expression reads it so too: it takes the first match or none.
- A block inside thinking is stepped over as JSON, so that a closing tag in one of its strings ends nothing (X19).
- Thinking that ends without having begun began before the reply was caught (models whose template opens it, pages that
  swallow the tag): the calls before that end were thoughts. They are taken back, and the search begins anew. Thinking
  inside thinking ends at the first closing tag; the second one then takes back what stood between.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import lru_cache

from bridge.protocol import limits, lint
from bridge.protocol.jsontext import BadJson, JsonScanner, decode, fault
from bridge.protocol.models import ParsedReply
from bridge.protocol.tagged import edges
from bridge.protocol.tagged.conclusion import Block, conclude
from bridge.protocol.tagged.manners import PLAIN, Manners, ReadCalls
from bridge.protocol.tags import THINKING, TagSet, name_of
from bridge.protocol.tagstream import TagStream
from tool_manager.models import ToolCall

__all__ = ["BlockStream", "Manners", "ReadCalls"]


class BlockStream(TagStream):
    """The parser of one reply, fed in chunks. See `bridge.protocol.dialect.StreamParser` for the contract."""

    def __init__(
        self,
        tag: str,
        read: ReadCalls,
        *,
        multi: bool = False,
        manners: Manners = PLAIN,
        tools: Container[str] | None = None,
    ) -> None:
        super().__init__(tools)
        self._manners = manners
        self._open, self._close, self._read, self._multi = f"<{tag}>", f"</{tag}>", read, multi
        self._prose, self._over, self._within = _tag_sets(tag)
        self._is_over = False  # no further block can run
        self._has_failed = False
        self._mention: int | None = None  # an opening tag that was no block, unless its closing tag follows
        self._after_mention = -1  # where an opening tag would follow it directly
        self._is_own_line = False  # whether it has a line for itself
        self._opened = self._json_at = 0
        self._json = JsonScanner()
        self._block: Sequence[ToolCall] = ()
        self._blocks: list[Block] = []

    # States.

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
        if is_prose and self._was_meant():
            self._fail("shape", f"another {self._open} follows the opening tag without JSON between", self._opened)
            self._show(self._open)
        elif self._begins_nothing(data, end):
            # as `_opened_block` does, at a fraction of the cost: replies of nothing but tags exist
            if is_prose:
                self._pass_over(self._base + end)
            self._show(self._open)
        else:
            self._state = self._opened_block if is_prose or self._thoughts.name else self._further_block
            self._is_own_line = self._begins_line(data, start) if is_prose else self._is_own_line
            self._take(data, start, end)

    def _was_meant(self) -> bool:
        """Whether the mention before the opening tag at hand is none, so that this one may be what it holds."""
        return self._manners.strict if self._opened == self._after_mention else self._is_own_line

    def _pass_over(self, end: int, *, tried: bool = False, own_line: bool = False) -> None:
        """The opening tag was no block, as what stands at `end` shows."""
        self._mention = self._opened if tried or self._manners.strict else None
        self._after_mention, self._is_own_line = end, own_line

    def _begins_nothing(self, data: str, at: int) -> bool:
        """Whether it is certain that no block begins with what stands at `at`."""
        return data.startswith("<", at)

    def _skip_edge(self, data: str, at: int) -> int:
        end, waits = edges.skip(data, at, marks=self._manners.edges)
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
            self._take_back(block.start for block in self._blocks)
            self._blocks, self._is_over, self._is_own_line = [], self._has_failed, False
        else:
            self._thoughts.enter(name_of(tag), start, end)
            self._show(tag)

    def _no_json(self, data: str, at: int) -> None:
        held = self._out.held[len(self._open) :]
        inner = held.lstrip()
        first, own_line = inner[:1] or data[at], "\n" in held or "\r" in held
        if data[at] in "“”„«｛［" or (first in "`~" and own_line):
            self._fail("shape", "no JSON object follows the opening tag", self._base + at)
            return
        # `<TOOL_CALL>read_file` is a try, `<TOOL_CALL> and` is prose: only the former's closing tag makes it malformed
        tried = (first.isalnum() or first == "-") and (own_line or len(inner) == len(held))
        self._pass_over(self._base + at, tried=tried, own_line=own_line and self._is_own_line)
        self._out.release()
        self._state = self._seek

    def _closing_tag_in_prose(self, offset: int) -> None:
        self._is_own_line = False
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
            self._in_thinking(self._opened)

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
        self._state, self._is_over, self._is_own_line = self._seek, not self._multi, False

    def _fail_json(self, text: str, error: BadJson) -> None:
        broken, *damage = lint.bad_json(text, self._json_at, error)
        self._fail(broken.reason, broken.message, broken.offset, quoted=broken.quoted)
        self._remarks += damage

    def _fail(self, reason: str, message: str, offset: int, *, quoted: bool = False) -> None:
        self._remark("malformed_call", reason, message, offset, quoted=quoted)
        self._out.release()
        self._has_failed = self._is_over = True
        self._state = self._seek if self._blocks or self._manners.moves_thinking else self._ignore

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
        if self._ends_in_thinking(text, has_calls=bool(self._blocks)):
            return
        if self._state == self._opened_block:
            if not self._carry or self._carry.startswith(("```", "~~~")):
                self._fail("cut", f"the reply ends after {self._open}", self._opened)
        elif self._state == self._in_json:
            self._fail_unended("cut", "the reply was cut off inside the JSON")
        elif self._state == self._after_json:
            self._fail("closing_tag", f"the reply ends without {self._close}", self._length)
        elif self._manners.edges and not self._blocks:
            self._untagged(text)

    def _untagged(self, text: str) -> None:
        start, value = edges.only_json(text)
        if value is not None and not isinstance(self._read(value), str):
            self._remark("malformed_call", "tags", f"a call stands there without {self._open} and {self._close}", start)
            self._remark("rendering_damage", "tags", "tags outside a code fence may vanish", start)

    def _fail_unended(self, reason: str, message: str, *, quoted: bool = False) -> None:
        text = self._json_text()
        error = fault(text) if self._json.deepest <= limits.MAX_DEPTH else _TOO_DEEP
        if error is None or error.reason == "cut":
            told = f"{message} after {len(text)} characters of it"
            self._fail(reason, told, self._json_at + len(text), quoted=quoted)
        else:
            self._fail_json(text, error)

    def _conclude(self, text: str) -> ParsedReply:
        self._end_of_reply(text)
        if not self._blocks:
            self._tell_missed(text)
        return conclude(text, self._blocks, self._remarks, self._thoughts, self._manners, self._open)


_NO_JSON = "no JSON object stands between the tags"
_TOO_DEEP = BadJson("depth", f"it is nested more than {limits.MAX_DEPTH} levels deep", 0)


@lru_cache
def _tag_sets(tag: str) -> tuple[TagSet, TagSet, dict[str, TagSet]]:
    """What to look for before a block, after the last, and in thinking by the name of its tag."""
    tags = (f"<{tag}>", f"</{tag}>")
    prose, over = (TagSet(exact, opening=THINKING, closing=THINKING) for exact in (tags, tags[:1]))
    return prose, over, {name: TagSet(tags[:1], closing=(name,)) for name in THINKING}
