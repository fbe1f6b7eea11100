"""Whether the fence around calls has come to its end: one that has not says that the reply was cut off."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bridge.protocol import limits

_FENCE = re.compile(rf"^[ \t]{{0,{limits.MAX_LINE_INDENT}}}(`{{3,}}|~{{3,}})([^\n`]*)$", re.MULTILINE)


def unclosed(text: str, spans: Sequence[tuple[int, int]]) -> int | None:
    """The index of the call that a fence opens directly before, if that fence never ends; None if there is none.

    `spans` are the parts of `text` before the first call and after each. Fences nest as in CommonMark, but around a
    call any closing fence of the same character will do. Linear in their length.
    """
    fence, first = "", None
    for index, (start, end) in enumerate(spans):
        part = text[start:end]
        if "```" not in part and "~~~" not in part:
            continue
        last = len(part.rstrip()) if index < len(spans) - 1 else len(part) + 1
        for found in _FENCE.finditer(part):
            if not fence:
                fence, first = found[1], index if found.end() >= last else None
            elif _closes(found, fence if first is None else fence[:3]):
                fence = ""
    return first if fence else None


def _closes(found: re.Match[str], fence: str) -> bool:
    return found[1].startswith(fence) and not found[2].strip()
