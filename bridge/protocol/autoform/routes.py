"""Where a reply in an unknown dialect begins a block, and which dialect that is (design, section 4; X21)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from bridge.protocol import limits
from bridge.protocol.lineform.linefinder import LineFinder

TAGS: Final = {"<TOOL_CALL>": "tool_call", "<execute>": "cogency", "<tool>": "forge"}
"""Opening tags that JSON must follow."""

MENTIONS: Final = re.compile(r"(?:<TOOL_CALL>(?=<TOOL_CALL>))*+")
"""Matches such tags that another one follows at once: no block, and cheap to step over."""

XML_HEADS: Final = ("<tool ", "<tool\n", "<tool\t", "<tool\r")
"""How a tag with attributes begins; `name` must be one of them."""

ANOTHER: Final = "another"
"""Another block that begins where the arguments of an XML block should stand."""

# No `<` in the label: a tag there is a tag, and nothing says so before the line has ended.
_FENCE_HEAD = r" {0,3}(`{3,64}|~{3,64})[^`<\n]{0,64}\n[ \t\r\n]{0,64}"
_HALF_FENCE = r" {0,3}(?:`{1,2}|~{1,2}|(?:`{3,64}|~{3,64})[^`<\n]{0,64}(?:\n[ \t\r\n]{0,64})?)?"
_FENCE = re.compile(rf"\n{_FENCE_HEAD}(?=[{{\[])")
_FIRST_FENCE = re.compile(rf"{_FENCE_HEAD}(?=[{{\[])")
_HALF, _FIRST_HALF = re.compile(rf"\n{_HALF_FENCE}"), re.compile(_HALF_FENCE)
_LONGEST: Final = 256

AFTER_VALUE: Final = re.compile(r"[ \t\r]*\n {0,3}(`{3,64}|~{3,64})[ \t\r]*(?:\n|\Z)")
"""The rest of a fence after its only value."""
HALF_AFTER: Final = re.compile(r"[ \t\r]*(?:\n {0,3}(?:`{0,64}|~{0,64})[ \t\r]*)?")

_XML_TAG = re.compile(rf"[^<>]{{0,{limits.MAX_HEAD}}}>")
_HALF_XML_TAG = re.compile(rf"[^<>]{{0,{limits.MAX_HEAD}}}")
_XML_NAME = re.compile(r"(?:^|\s)name\s*=")
_XML_NEXT: Final = {
    "<arguments": "autobyteus_xml",
    "</tool>": "autobyteus_xml",
    "<arg ": "xml_style",
    "<arg\n": "xml_style",
    **dict.fromkeys((*TAGS, *XML_HEADS), ANOTHER),
}
_BEGINS_BLOCK: Final = "{[“”„«｛［"
_ELEMENTS: Final = {"<execute>": ("<execute>",), "<tool>": ("<tool>", "<tool_name>", "<server_name>")}
_LOOKS_LIKE_CALL = re.compile(r'"(?:tool_calls|tool_request|tool|function|arguments|args|parameters)"\s*+:')


class Ahead:
    """What `search` finds next in a chunk, looked for once in every stretch of it."""

    def __init__(self, search: Callable[[str, int], re.Match[str] | None]) -> None:
        self._search = search
        self._data = ""
        self._found: re.Match[str] | None = None

    def find(self, data: str, at: int) -> re.Match[str] | None:
        if self._data is not data or (self._found is not None and self._found.start() < at):
            self._data, self._found = data, self._search(data, at)
        return self._found


class Fences:
    """Finds the fences that hold JSON from their beginning on."""

    def __init__(self) -> None:
        self._finders = [LineFinder(_FENCE, mark) for mark in "`~"]

    def find(self, data: str, at: int) -> re.Match[str] | None:
        """The next one, with the line break before it."""
        line = min(finder.find(data, at) for finder in self._finders)
        return _FENCE.match(data, line - 1) if line <= len(data) else None


def first_fence(data: str, at: int) -> re.Match[str] | None:
    """Such a fence at `at`, where a reply begins."""
    return _FIRST_FENCE.match(data, at)


def may_be_first_fence(data: str, at: int) -> bool:
    return len(data) - at < _LONGEST and _FIRST_HALF.fullmatch(data, at) is not None


def half_fence(data: str, at: int) -> int:
    """How much of the end of `data[at:]` more text could make such a fence."""
    first = max(at, len(data) - _LONGEST)
    run = max(data.rfind("```", first), data.rfind("~~~", first))
    starts = [data.rfind("\n", first)]
    if run >= 0:
        starts.insert(0, data.rfind("\n", first, run))
    return next((len(data) - start for start in starts if start >= 0 and _HALF.fullmatch(data, start)), 0)


def xml_tag(data: str, at: int, *, ended: bool) -> int | None:
    """Where the tag with the head before `at` ends; `at` if it is none with a name, None if only more text can tell."""
    found = _XML_TAG.match(data, at)
    if found is not None:
        return found.end() if _XML_NAME.search(found[0]) else at
    is_half = not ended and len(data) - at < limits.MAX_HEAD and _HALF_XML_TAG.fullmatch(data, at)
    return None if is_half else at


def xml_dialect(data: str, at: int, *, ended: bool) -> str | None:
    """The dialect of the XML block whose first tag ended before `at`, or `ANOTHER`; empty for none, None if more text
    must tell."""
    for head, name in _XML_NEXT.items():
        if data.startswith(head, at):
            return name
    is_half = any(head.startswith(data[at : at + len(head)]) for head in _XML_NEXT)
    return None if is_half and not ended else ""


def after_tag(tag: str, data: str, at: int, *, ended: bool) -> bool | None:
    """Whether what stands at `at`, after the opening tag `tag` of a dialect, belongs to a block; None if only more text
    can tell. After two tags the dialect that takes only whole blocks says what is wrong."""
    if data[at] in _BEGINS_BLOCK:
        return True
    heads = _ELEMENTS.get(tag, ())
    if data.startswith(heads, at):
        return True
    is_half = not ended and any(head.startswith(data[at:]) for head in heads)
    return None if is_half else False


def looks_like_call(json_text: str) -> bool:
    """Whether broken JSON was meant as a call, so that nothing after it may run."""
    return _LOOKS_LIKE_CALL.search(json_text) is not None
