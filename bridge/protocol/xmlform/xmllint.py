"""What else a reader should know of a reply in an XML dialect. Nothing here can make or unmake a call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bridge.protocol import lint
from bridge.protocol.remarks import Remark

_NAME = r"[ \t\r\n]{1,20}name[ \t]{0,5}=[ \t]{0,5}"
_LOOK_ALIKE = re.compile(
    rf"(?P<quotes><tool{_NAME}[“”„‟«»‘’＂])"
    rf"|(?P<entities>&lt;tool{_NAME})"
    rf"|(?:[＜‹〈❮]|\\<|<[ \t]{{1,3}})tool{_NAME}|<(?!tool)(?i:tool){_NAME}|<tool_(?:call|use){_NAME}"
)
_DAMAGE = {
    "quotes": ("smart_quotes", "quotes of the tag have become typographic ones, as pages do outside a code fence"),
    "entities": ("entities", "the tags have become HTML entities"),
}
_NAMED = re.compile(r"name[ \t]{0,5}=")
_FRAMES = ("TOOL_RESULT:", "TOOL_ERROR:", "The following tool executions have completed.")


def outside_calls(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[Remark]:
    """Remarks on `spans`, the parts of `text` before the first call and after each. Linear in their length."""
    if len(spans) == 1 and _NAMED.search(text):
        yield from _look_alikes(text)
    for span in spans:
        yield from lint.written_results(text, span, _FRAMES)


def _look_alikes(text: str) -> Iterator[Remark]:
    for found in _LOOK_ALIKE.finditer(text):
        shown = ascii(found[0]).replace("<", "\\x3c")
        message = f"{shown} opens no call: the tool tag must be lower-case and plain, with straight double quotes"
        yield Remark("look_alike_tag", "", message, found.start())
        if found.lastgroup:
            yield Remark("rendering_damage", *_DAMAGE[found.lastgroup], found.start())
