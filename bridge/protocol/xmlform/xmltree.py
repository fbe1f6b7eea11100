"""What stands inside one `<tool …>` block: its arguments, built tag by tag (A25–A30).

Only `arguments`, `arg`, `item` and `tool` are structure; all else is text, kept as it was written. A value that is not
escaped may hold such tags too. What is then certain is taken as data: `</tool>` and `</arguments>` while an `<arg>` is
open, and whole `<tool …>…</tool>` blocks, comments and CDATA sections. What is doubtful breaks the block: a closing tag
that closes nothing may be the end of a value that was taken for ended, and half an argument must never run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

from bridge.protocol import limits
from bridge.protocol.tags import SPACE
from bridge.protocol.xmlform.xmltags import Tag
from bridge.protocol.xmlform.xmltext import unescape
from tool_manager.models import JsonValue, ToolCall

_BLANK = re.compile(f"{SPACE}*")
_ID = re.compile(r"[\w.:-]{1,64}", re.ASCII)
_OF_A_DEFINITION = frozenset({"type", "required"})
_OF_A_TOOL = frozenset({"name", "id", "description"})
_OF_AN_ARG = frozenset({"name", "description", "default", "enum_values"}) | _OF_A_DEFINITION
_MARKUP = re.compile(r"</?[^\W\d]")


class BadBlock(Exception):
    """Why a block is no call. `is_stray`: by a tag that closes nothing; `goes_on`: what follows is no part of it."""

    def __init__(self, reason: str, message: str, *, is_stray: bool = False, goes_on: bool = False) -> None:
        super().__init__(message)
        self.reason, self.is_stray, self.goes_on = reason, is_stray, goes_on


@dataclass(slots=True)
class _Value:
    """An `<arg>` or `<item>` that is open. `closer` is the offset of the first closing tag taken as its text."""

    kind: str
    key: str | None
    runs: list[tuple[bool, list[str]]] = field(default_factory=list)
    inside: JsonValue = None
    plain: list[str] = field(default_factory=list)
    closer: int | None = None

    def add(self, text: str, literal: bool) -> None:
        self.plain.append(text)
        self.comment(text, literal)

    def comment(self, text: str, literal: bool = False) -> None:
        if self.inside is not None:
            return
        if not self.runs or self.runs[-1][0] != literal:
            self.runs.append((literal, []))
        self.runs[-1][1].append(text)

    def hold(self, kind: str) -> None:
        """Make it a container for `kind`."""
        wanted: type[JsonValue] = list if kind == "item" else dict
        if self.closer is not None:
            raise _stray("a closing tag stands beside the tags inside a value")
        if self.inside is None:
            self.inside, self.runs = wanted(), []
        elif not isinstance(self.inside, wanted):
            raise BadBlock("shape", "a value holds both <arg> and <item>")

    def refuse_markup(self) -> None:
        """Text beside structure is dropped (A29), but a tag that is none of ours was meant to be something."""
        found = None if self.inside is None else _MARKUP.search("".join(self.plain))
        if found:
            raise BadBlock("shape", f"{found[0]!r} stands beside the tags of the call; write &lt; for < in values")

    def place(self, child: _Value, decode: bool) -> None:
        if isinstance(self.inside, list):
            self.inside.append(child.value(decode))
        elif child.key is not None:
            self.inside[child.key] = child.value(decode)

    def value(self, decode: bool) -> JsonValue:
        if self.inside is not None:
            return self.inside
        runs = [(literal, "".join(parts)) for literal, parts in self.runs]
        if not any(text if literal else text.strip() for literal, text in runs):
            return ""
        return "".join(text if literal or not decode else unescape(text) for literal, text in runs)

    def trimmed(self, decode: bool) -> str | None:
        """Its text without the white space that was written around it, if there was any."""
        if self.inside is not None or len(self.runs) != 1 or self.runs[0][0]:
            return None
        raw = "".join(self.runs[0][1])
        text = raw.strip()
        if text == raw or not text:
            return None
        return unescape(text) if decode else text


class Tree:
    """One block, opened by `tag`. `name` is None where the tag names no tool."""

    def __init__(self, tag: Tag, *, decode: bool = True) -> None:
        name = tag.attributes.get("name", "")
        self.name = name if name.strip() else None
        self._id, self._decode, self._is_weak = tag.attributes.get("id", ""), decode, tag.single
        self._root = _Value("tool", None, inside={})
        self._has_strange = not tag.attributes.keys() <= _OF_A_TOOL
        self._open: list[_Value] = []
        self._trimmed: dict[tuple[str | int, ...], str] = {}
        self._wrapper = "none"
        self._tools_inside = 0  # blocks that are data of the value at hand
        self.has_args = self.has_text = False

    @property
    def in_value(self) -> bool:
        return bool(self._open)

    @property
    def is_mention(self) -> bool:
        """Whether what came so far may as well be prose that names the tag."""
        return self.has_text and not self.has_args and self._wrapper == "none"

    @property
    def closer(self) -> int | None:
        """Where a closing tag stands that was taken as the text of a value which is open."""
        return next((each.closer for each in self._open if each.closer is not None), None)

    @property
    def opens_item(self) -> bool:
        """Whether an `<item>` is open."""
        return bool(self._open) and self._open[-1].kind == "item"

    @property
    def is_opaque(self) -> bool:
        """Whether nothing but `<tool>` and `</tool>` is read now."""
        return self._tools_inside > 0

    def text(self, text: str, *, literal: bool = False) -> None:
        if self._open:
            self._open[-1].add(text, literal)
        elif not _BLANK.fullmatch(text):
            self._root.add(text, literal)
            self.has_text = True

    def comment(self, text: str) -> None:
        if self._open:
            self._open[-1].comment(text)

    def take(self, tag: Tag, offset: int) -> ToolCall | None:
        """Read `tag`, which stands at `offset`; the call, if the block is over and has one. Raises `BadBlock`."""
        if self._tools_inside or (tag.name == "tool" and not tag.closing):
            self._tools_inside += 0 if tag.name != "tool" or tag.empty else -1 if tag.closing else 1
            self.text(tag.source)
        elif tag.name in ("arg", "item"):
            self._close(tag) if tag.closing else self._begin(tag)
        elif self._open:
            self._text_tag(tag, offset)
        elif tag.name == "tool":
            return self._call()
        else:
            self._wrap(tag)
        return None

    def _begin(self, tag: Tag) -> None:
        if tag.name == "item" and not self._open:
            raise BadBlock("shape", "an <item> stands outside any <arg>")
        if tag.empty and _OF_A_DEFINITION & tag.attributes.keys():
            raise BadBlock("shape", "this is the definition of a tool, without values")
        if not tag.attributes.keys() <= _OF_AN_ARG:
            raise BadBlock("shape", f"a value must stand between <{tag.name}> and </{tag.name}>, not in an attribute")
        if len(self._open) >= limits.MAX_DEPTH:
            raise BadBlock("depth", f"it is nested more than {limits.MAX_DEPTH} levels deep")
        self.has_args = True
        self._innermost.hold(tag.name)
        value = _Value(tag.name, tag.attributes.get("name"))
        if tag.empty:
            self._innermost.place(value, self._decode)
        else:
            self._open.append(value)

    def _close(self, tag: Tag) -> None:
        if not self._open or self._open[-1].kind != tag.name:
            unclosed = "; <item> is not closed, write &lt;item> if it is text" if self.opens_item else ""
            raise _stray(f"</{tag.name}> closes nothing{unclosed}")
        self._open[-1].refuse_markup()
        self._note_white_space(self._open[-1])
        value = self._open.pop()
        self._innermost.place(value, self._decode)

    def _note_white_space(self, value: _Value) -> None:
        """Remember `value` trimmed: for a path the white space means nothing (X22)."""
        text = value.trimmed(self._decode)
        if text is None and not self._trimmed:
            return
        above = [self._root, *self._open]
        steps = [each.key if each.kind == "arg" else len(over.inside) for over, each in pairwise(above)]
        path = tuple("" if step is None else step for step in steps)
        if text is None:
            self._trimmed.pop(path, None)  # of an argument that was written before, and counts no more
        elif None not in steps:
            self._trimmed[path] = text

    @property
    def _innermost(self) -> _Value:
        return self._open[-1] if self._open else self._root

    def _text_tag(self, tag: Tag, offset: int) -> None:
        """`tag` is `arguments` or `</tool>` inside a value: its text, if the value ends well."""
        value = self._open[-1]
        if tag.closing and value.inside is not None:
            raise _stray(f"</{tag.name}> stands where a value is open")
        if tag.name == "tool" and self._is_weak:
            # Single quotes are outside the format (A24), so `<tool name='` opens no block for sure.
            raise BadBlock("closing_tag", "a value is open at </tool>", goes_on=True)
        if tag.closing and value.closer is None:
            value.closer = offset
        value.add(tag.source, False)

    def _wrap(self, tag: Tag) -> None:
        if tag.closing and self._wrapper != "open":
            raise _stray(f"</{tag.name}> closes nothing")
        if not tag.closing and self._wrapper != "none":
            raise BadBlock("shape", "<arguments> stands there twice")
        self._wrapper = "open" if tag.opens else "closed"

    def _call(self) -> ToolCall | None:
        if self._wrapper == "open":
            raise BadBlock("closing_tag", "<arguments> is not closed")
        if self.has_text and not self.has_args:
            raise BadBlock("shape", "text but no <arg> stands in the block")
        if self.name is None:
            raise BadBlock("shape", "the <tool> tag has no name", goes_on=True)
        if self._has_strange:
            raise BadBlock("shape", "the arguments must stand in <arg> tags, not in attributes of <tool>")
        self._root.refuse_markup()
        if _ID.fullmatch(self._id):
            return ToolCall(self._id, self.name, self._root.inside, written=self._trimmed)
        return ToolCall.of(self.name, self._root.inside, written=self._trimmed)


def _stray(message: str) -> BadBlock:
    return BadBlock("closing_tag", message, is_stray=True)
