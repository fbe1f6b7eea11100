"""Calls written as `<tool name="…">` blocks, found in a reply while it arrives (A24–A33, T57).

One pass, forward only: the answer cannot depend on how the reply was cut into chunks, and no input costs more than
linear time.

What decides, where the documents leave a choice:
- A tag without a name, a self-closing one, one that is not well-formed and one that only prose follows open no block;
  the search goes on (A24). So it does where another `<tool …>` comes before the first `<arg>`: no value is open that
  could hold it.
- Any other broken block ends the search: what looks like a later block may be the content of the broken one.
- A `</arg>`, `</arguments>` or `</tool>` that closes nothing, after a call, takes that call back: a value that quotes
  these tags unescaped ends where it first holds them all, and half an argument must never run. Therefore a closed
  block is not final.
- A block that a code fence opens directly before runs only if that fence is closed, and so do those that follow in it.
- A block inside thinking is stepped over, so that `</think>` in one of its values ends nothing (X19).
"""

from __future__ import annotations

from collections.abc import Container
from functools import cache
from itertools import chain, islice
from typing import Final

from bridge.protocol import limits
from bridge.protocol.models import ParsedReply
from bridge.protocol.remarks import diagnostic
from bridge.protocol.tags import THINKING, TagSet, name_of
from bridge.protocol.tagstream import TagStream
from bridge.protocol.xmlform import xmlfences, xmllint
from bridge.protocol.xmlform.xmltags import HEADS, Tag, TagScanner, whole_tag
from bridge.protocol.xmlform.xmltree import BadBlock, Tree
from tool_manager.models import ToolCall

_SECTIONS: Final = {"<!--": "-->", "<![CDATA[": "]]>"}
_PROSE: Final = ("<tool", "</tool", "</arg")


class XmlStream(TagStream):
    """The parser of one reply, fed in chunks. See `bridge.protocol.dialect.StreamParser` for the contract.

    `several` takes every block, otherwise the first. `decode=False` leaves entities as they are (X12).
    """

    def __init__(self, *, several: bool, decode: bool = True, tools: Container[str] | None = None) -> None:
        super().__init__(tools)
        self._several, self._decode = several, decode
        self._has_failed = False
        self._tag, self._tag_at = TagScanner("<"), 0
        self._section = ""
        self._tree: Tree | None = None
        self._opened = 0
        self._blocks: list[tuple[ToolCall, int, int]] = []

    # States.

    def _seek(self, data: str, at: int) -> int:
        """Outside any block, and between the tags of one."""
        tags = _tag_set(self._thoughts.name, self._tree is not None, self._has_failed)
        found = tags.search(data, at)
        if found is None:
            self._carry = tags.unfinished(data, at)
            self._text(data[at : len(data) - len(self._carry)])
            return len(data)
        was_in_block = self._tree is not None
        self._text(data[at : found.start()])
        if was_in_block and self._tree is None:
            return found.start()  # that text said so: look again, as outside
        self._tag_at = self._base + found.start()
        if found[0] in _SECTIONS:
            self._begin_section(found[0])
        elif found[0] in HEADS:
            if tag := whole_tag(data, found.start()):
                return self._whole_tag(tag, data, found.start())
            self._tag, self._state = TagScanner(found[0]), self._in_tag
        else:
            self._thinking_tag(found[0])
        return found.end()

    def _in_tag(self, data: str, at: int) -> int:
        end, verdict = self._tag.scan(data, at)
        if verdict == "more":
            return end
        self._state = self._seek
        tag = self._tag.tag() if verdict == "tag" else None
        if tag is None:
            self._text(self._tag.source)
        else:
            self._read(tag)
        return end

    def _in_section(self, data: str, at: int) -> int:
        end = data.find(self._section, at)
        if end < 0:
            self._carry = next((self._section[:n] for n in (2, 1) if data.endswith(self._section[:n], at)), "")
            self._section_text(data[at : len(data) - len(self._carry)])
            return len(data)
        self._section_text(data[at:end])
        self._take(self._section)
        if self._tree and self._section == "-->":
            self._tree.comment(self._section)
        self._state = self._seek
        return end + len(self._section)

    def _ignore(self, data: str, at: int) -> int:
        self._out.show(data[at:])
        return len(data)

    # Steps of the states.

    def _begin_section(self, head: str) -> None:
        assert self._tree is not None
        if self._tree.is_opaque:
            self._text(head)
            return
        self._take(head)
        self._section, self._state = _SECTIONS[head], self._in_section
        if head == "<!--":
            self._tree.comment(head)

    def _section_text(self, text: str) -> None:
        assert self._tree is not None
        self._take(text)
        if self._section == "-->":
            self._tree.comment(text)
        else:
            self._tree.text(text, literal=True)

    def _text(self, text: str) -> None:
        if self._tree is None or not text:
            self._out.show(text)
            return
        self._take(text)
        self._tree.text(text)
        if self._tree.is_mention and self._tree.name is None:
            self._abandon()

    def _read(self, tag: Tag) -> None:
        if self._tree is None:
            self._tag_in_prose(tag)
        else:
            self._tag_in_block(self._tree, tag)

    def _whole_tag(self, tag: Tag, data: str, start: int) -> int:
        size = len(tag.source)
        last = start
        if self._tree is None and tag.opens:
            # as `_read` does of a tag that opens, and opens again: replies of nothing but tags exist
            while data.startswith(tag.source, last + size):
                last += size
            self._out.show(data[start:last])
            self._tag_at = self._base + last
        self._read(tag)
        return last + size

    def _tag_in_prose(self, tag: Tag) -> None:
        if tag.closing:
            self._out.show(tag.source)
            self._stray_closer(tag.name)
        elif tag.empty:
            self._out.show(tag.source)
            if tag.attributes.get("name", "").strip() and not self._thoughts.name:
                self._malformed("shape", "a <tool …/> that closes itself is no call", self._tag_at)
        else:
            self._tree, self._opened = Tree(tag, decode=self._decode), self._tag_at
            self._take(tag.source)

    def _tag_in_block(self, tree: Tree, tag: Tag) -> None:
        if tag.name == "tool" and tag.opens and not tree.in_value:
            if tree.has_args:
                self._fail(BadBlock("closing_tag", "another <tool> stands before </tool>"), self._tag_at)
                self._out.show(tag.source)
                return
            self._abandon()
            self._tag_in_prose(tag)
            return
        self._take(tag.source)
        had_args = tree.has_args
        try:
            call = tree.take(tag, self._tag_at)
        except BadBlock as bad:
            self._fail(bad, self._tag_at, tag.name)
            return
        if self._thoughts.name and (call or tree.has_args) and not had_args:
            self._in_thinking(self._opened)
        if call is not None:
            self._finish(call, self._tag_at + len(tag.source))

    def _thinking_tag(self, source: str) -> None:
        """Thinking opens or ends, unless `source` stands in a value. A block around it is none, or it is broken."""
        start, end = self._tag_at, self._tag_at + len(source)
        if self._tree is not None and self._tree.in_value:
            self._text(source)
            return
        if self._tree is not None and self._tree.has_args and not self._thoughts.name:
            self._fail(BadBlock("shape", "thinking stands inside the call"), start)
        elif self._tree is not None:
            self._abandon()
        self._out.show(source)
        if self._thoughts.name:
            self._thoughts.leave(start, end)
        elif source[1] == "/":
            self._thoughts.border = end
            self._take_back(start for _, start, _ in self._blocks)
            self._blocks = []
        else:
            self._thoughts.enter(name_of(source), start, end)

    def _stray_closer(self, tag: str) -> None:
        if self._blocks and not self._thoughts.name and not self._has_failed:
            _, start, _ = self._blocks.pop()
            message = f"</{tag}> stands after the call: a value with such a tag in it may have been cut there"
            self._malformed("closing_tag", f"{message}; write &lt; for < in values", start)
            self._has_failed = True

    def _finish(self, call: ToolCall, end: int) -> None:
        self._tree = None
        if self._thoughts.name:
            return
        if self._blocks and not self._several:
            self._remark("extra_call", "", "a further call in the same reply was not run", self._opened)
            self._out.release()
            return
        self._blocks.append((call, self._opened, end))
        self._out.close_calls([call])

    def _abandon(self) -> None:
        """The block at hand is none."""
        self._out.release()
        self._tree = None

    def _fail(self, bad: BadBlock, offset: int, tag: str = "") -> None:
        self._abandon()
        if self._thoughts.name:
            return
        if bad.is_stray and self._blocks:
            self._stray_closer(tag)
        elif not self._blocks or self._several:
            self._malformed(bad.reason, str(bad), offset)
        self._has_failed = self._has_failed or not bad.goes_on
        if self._has_failed and not self._blocks:
            self._state = self._ignore

    def _malformed(self, reason: str, message: str, offset: int) -> None:
        self._remark("malformed_call", reason, message, offset)

    def _take(self, text: str) -> None:
        if self._thoughts.name:
            self._out.show(text)
        else:
            self._out.hold(text, 0, len(text))

    # The end.

    def _end_of_reply(self, text: str) -> None:
        if self._has_failed or (self._blocks and not self._several):
            return
        if self._ends_in_thinking(text, has_calls=bool(self._blocks)):
            return
        if self._tree is not None:
            self._end_in_block(self._tree)
        elif self._state == self._in_tag and self._tag.is_cut_tag:
            self._malformed("cut", "the reply was cut off inside the <tool> tag", self._tag_at)

    def _end_in_block(self, tree: Tree) -> None:
        if tree.is_mention or (tree.name is None and not tree.has_args):
            return
        if tree.closer is not None:
            what = "an <item> is not closed before this tag; write it as &lt;item>, if it is text"
            told = what if tree.opens_item else "an <arg> is not closed before this tag"
            self._malformed("closing_tag", told, tree.closer)
        else:
            length = self._length - self._opened
            message = f"the reply was cut off inside the call, after {length} characters of it"
            self._malformed("cut", message, self._length)

    def _conclude(self, text: str) -> ParsedReply:
        self._end_of_reply(text)
        self._refuse_unclosed_fence(text)
        if not self._blocks:
            self._tell_missed(text)
        before, *after = self._spans(text)
        remarks = islice(chain(self._remarks, xmllint.outside_calls(text, [before, *after])), limits.MAX_DIAGNOSTICS)
        return ParsedReply(
            kind="tool_calls" if self._blocks else "text",
            calls=tuple(call for call, _, _ in self._blocks),
            text=text[slice(*before)],
            diagnostics=tuple(diagnostic(text, remark) for remark in remarks),
            rest="".join([text[slice(*span)] for span in after]),
        )

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """What stands outside the calls of `text`, the reply."""
        starts, ends = [start for _, start, _ in self._blocks], [end for _, _, end in self._blocks]
        return list(zip([0, *ends], [*starts, len(text)], strict=True))

    def _refuse_unclosed_fence(self, text: str) -> None:
        first = xmlfences.unclosed(text, self._spans(text)) if self._blocks else None
        if first is not None:
            del self._blocks[first:]
            self._malformed("cut", "the reply ends before the code fence around the call does", len(text))


@cache
def _tag_set(thinking: str | None, in_block: bool, is_over: bool) -> TagSet:
    """What to look for: in thinking what ends it, in a block all its tags, after a broken one only thinking."""
    exact = HEADS if in_block else () if is_over else _PROSE
    return TagSet(exact, closing=(thinking,)) if thinking else TagSet(exact, opening=THINKING, closing=THINKING)
