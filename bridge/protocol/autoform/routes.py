"""Where a reply in an unknown dialect begins a block, and which dialect that is (design, section 4; X21)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from bridge.protocol import limits

TAGS: Final = {"<TOOL_CALL>": "tool_call", "<execute>": "cogency", "<tool>": "forge"}
"""Opening tags that JSON must follow."""

XML_HEADS: Final = ("<tool ", "<tool\n", "<tool\t", "<tool\r")
"""How a tag with attributes begins; `name` must be one of them."""

_FENCE_HEAD = (
    rf"[ \t]{{0,{limits.MAX_LINE_INDENT}}}(?:`{{3,64}}|~{{3,64}})[ \t]{{0,8}}(?:json\w{{0,8}}|tool_calls?|)[ \t]{{0,8}}"
    r"\r?\n[ \t\r\n]{0,64}"
)
_HALF_FENCE = (
    rf"[ \t]{{0,{limits.MAX_LINE_INDENT}}}(?:`{{1,2}}|~{{1,2}}|(?:`{{3,64}}|~{{3,64}})[ \t]{{0,8}}\w{{0,16}}"
    r"[ \t]{0,8}\r?(?:\n[ \t\r\n]{0,64})?)?"
)
_FENCE = re.compile(rf"\n{_FENCE_HEAD}(?=[{{\[])")
_FIRST_FENCE = re.compile(rf"{_FENCE_HEAD}(?=[{{\[])")
_HALF, _FIRST_HALF = re.compile(rf"\n{_HALF_FENCE}"), re.compile(_HALF_FENCE)
_LONGEST: Final = 256

AFTER_VALUE: Final = re.compile(r"[ \t\r]*\n[ \t]*(?:`{3,64}|~{3,64})[ \t\r]*(?:\n|\Z)")
"""The rest of a fence after its only value."""
HALF_AFTER: Final = re.compile(r"[ \t\r]*(?:\n[ \t]*(?:`{0,64}|~{0,64})[ \t\r]*)?")

_XML_TAG = re.compile(rf"[^<>]{{0,{limits.MAX_HEAD}}}>")
_HALF_XML_TAG = re.compile(rf"[^<>]{{0,{limits.MAX_HEAD}}}")
_XML_NAME = re.compile(r"(?:^|\s)name\s*=")
_XML_NEXT: Final = {
    "<arguments": "autobyteus_xml",
    "</tool>": "autobyteus_xml",
    "<arg ": "xml_style",
    "<arg\n": "xml_style",
}
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


def next_fence() -> Ahead:
    """The next fence that holds JSON from its beginning on, with the line break before it."""
    return Ahead(_FENCE.search)


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
    """The dialect of the XML block whose first tag ended before `at`: empty for none, None if more text must tell."""
    for head, name in _XML_NEXT.items():
        if data.startswith(head, at):
            return name
    is_half = any(head.startswith(data[at : at + len(head)]) for head in _XML_NEXT)
    return None if is_half and not ended else ""


def looks_like_call(json_text: str) -> bool:
    """Whether broken JSON was meant as a call, so that nothing after it may run."""
    return _LOOKS_LIKE_CALL.search(json_text) is not None
