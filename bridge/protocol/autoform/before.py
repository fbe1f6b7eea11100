"""What stands before a fence of JSON, and may make it a part of something else."""

from __future__ import annotations

import re

from bridge.protocol.lineform.fences import Fence, opened_by

_TAG = "(?:tool|invoke|execute|TOOL_CALL)"
_MARKS = re.compile(
    r"\n( {0,3}(?:```|~~~)[^\n]*)|(<!--)|(-->)"
    rf"|\n[ \t]*(<{_TAG}\b[^<>\n]*>?[ \t\r]*(?=\n)|TOOL:[ \t]*\S|[\w.]{{1,128}}\([^)\n]*(?=\n))|(</{_TAG}>)"
)
"""Lines of fences, ends of comments, lines that begin a call of some dialect, and tags that end one."""


class Before:
    """The text before, in order. `is_unfinished` says that a call of some dialect has begun in it and not ended."""

    def __init__(self) -> None:
        self.is_unfinished = False
        self._unread = ["\n"]
        self._fence: Fence | None = None
        self._in_comment = False

    def take(self, text: str) -> None:
        self._unread.append(text)

    def is_content(self) -> bool:
        """Whether the line that begins now stands in another fence or in a comment (CommonMark)."""
        for found in _MARKS.finditer("".join(self._unread)):
            self._mark(*found.groups())
        self._unread = ["\n"]
        return self._fence is not None or self._in_comment

    def _mark(
        self, line: str | None, opens: str | None, closes: str | None, head: str | None, tail: str | None
    ) -> None:
        if self._fence is not None:
            self._fence = None if line and self._fence.is_closed_by(line) else self._fence
        elif self._in_comment:
            self._in_comment = closes is None
        elif line:
            self._fence = opened_by(f"{line}\n")
        else:
            self._in_comment = opens is not None
            self.is_unfinished = head is not None or (self.is_unfinished and tail is None)
