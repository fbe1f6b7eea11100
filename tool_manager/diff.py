"""A unified diff that a person can judge, bounded in time and length."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from tool_manager.errors import shown
from tool_manager.limits import DIFF_BYTES, DIFF_CHARS, DIFF_LINES


def unified(path: str, before: bytes | None, after: bytes | None) -> str:
    """`before` → `after` (None: no file) as a unified diff; binary content and huge changes are summarised."""
    name = shown(path, 500)
    head = (
        f"--- {'/dev/null' if before is None else 'a/' + name}\n+++ {'/dev/null' if after is None else 'b/' + name}\n"
    )
    if max(len(before or b""), len(after or b"")) > DIFF_BYTES:
        return head + f"Too long to compare: {len(before or b''):,} bytes become {len(after or b''):,} bytes.\n"
    try:
        old, new = (before or b"").decode("utf-8"), (after or b"").decode("utf-8")
    except UnicodeDecodeError:
        return head + f"Binary content: {len(before or b''):,} bytes become {len(after or b''):,} bytes.\n"
    return head + _cut(_hunks(_lines(old), _lines(new)))


def _lines(text: str) -> list[str]:
    """Split at \\n only: a carriage return that comes or goes must show as a change."""
    lines = text.split("\n")
    ends = [line + "\n" for line in lines[:-1]]
    return [*ends, lines[-1] + "\n\\ No newline at end of file\n"] if lines[-1] else ends


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    if max(len(old), len(new)) - start - end > DIFF_LINES:
        yield f"@@ lines {start + 1}-{len(old) - end} are replaced by {len(new) - start - end} lines @@\n"
        yield from (f"+{line}" for line in new[start : len(new) - end])
        return
    yield from list(_shift(old, new, start, end))


def _shift(old: list[str], new: list[str], start: int, end: int) -> Iterator[str]:
    """Compare only the part that differs, with three lines around it; blank lines stand for what precedes."""
    first = max(0, start - 3)
    tail = max(0, end - 3)
    diff = difflib.unified_diff(old[first : len(old) - tail], new[first : len(new) - tail], n=3)
    for number, line in enumerate(diff):
        if number < 2:
            continue
        yield _renumber(line, first) if line.startswith("@@") else line


def _renumber(header: str, by: int) -> str:
    def moved(part: str) -> str:
        at, comma, length = part[1:].partition(",")
        return f"{part[0]}{int(at) + by}{comma}{length}"

    _, old, new, _ = header.split(" ", 3)
    return f"@@ {moved(old)} {moved(new)} @@\n"


def _common(one: list[str], other: list[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _cut(lines: Iterator[str]) -> str:
    kept, size, left = [], 0, 0
    for line in lines:
        if left or size + len(line) > DIFF_CHARS:
            left += 1
            continue
        kept.append(line)
        size += len(line)
    return "".join(kept) + (f"… {left:,} more lines of this diff are not shown\n" if left else "")
