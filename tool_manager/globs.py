"""One glob syntax for list_files and search_code: `*`, `?`, `[…]`, `{a,b}`, `**/`.

A glob without a slash matches the file name at any depth; one with a slash matches the path below the directory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tool_manager.errors import OutsideError, PathError, shown
from tool_manager.limits import GLOB_CHARS


@dataclass(frozen=True, slots=True)
class Glob:
    text: str
    pattern: re.Pattern[str]
    by_name: bool

    def matches(self, below: str) -> bool:
        """`below`: the path relative to the directory that is listed or searched."""
        return self.pattern.fullmatch(below.rpartition("/")[2] if self.by_name else below) is not None


def compile_glob(text: str) -> Glob:
    """Raises `OutsideError` for `..` or an absolute glob (a glob is a path too), `PathError` for a malformed one."""
    if "\0" in text or not text or len(text) > GLOB_CHARS:
        raise PathError(f"The glob must be 1 to {GLOB_CHARS} characters without NUL: {shown(text)}")
    bare = text.replace("\\", "")
    if bare.startswith(("/", "~")) or re.search(r"(?:^|[/{,])\.\.(?:$|[/},])", bare):
        raise OutsideError(text)
    body = text.removeprefix("./")
    return Glob(body, re.compile(_translate(body), re.DOTALL), "/" not in body)


def _translate(glob: str) -> str:
    out, at, depth = [], 0, 0
    while at < len(glob):
        if match := re.compile(r"(?:(?<=/)|^)\*\*(?:/(?:\*\*/)*|$)").match(glob, at):
            out.append("(?:[^/]+/)*" if match[0].endswith("/") else ".*")
            at = match.end()
        elif match := re.compile(r"\*+").match(glob, at):
            out.append("[^/]*")
            at = match.end()
        elif match := re.compile(r"\[([!^]?)(\]?[^\]/]*)\]").match(glob, at):
            out.append(_charset(match[1], match[2], glob))
            at = match.end()
        else:
            piece, depth = _plain(glob, at, depth)
            out.append(piece)
            at += 2 if glob[at] == "\\" else 1
    if depth:
        raise PathError(f"The glob has an unclosed {{: {shown(glob)}")
    return "".join(out)


def _plain(glob: str, at: int, depth: int) -> tuple[str, int]:
    char = glob[at]
    if char == "\\":
        return re.escape(glob[at + 1 : at + 2] or "\\"), depth
    if char == "{":
        return "(?:", depth + 1
    if char == "}" and depth:
        return ")", depth - 1
    if char == "," and depth:
        return "|", depth
    return "[^/]" if char == "?" else re.escape(char), depth


def _charset(negated: str, body: str, glob: str) -> str:
    safe = re.sub(r"[\\\[\]&~|^]", r"\\\g<0>", body)
    pattern = f"(?!/)[{'^' if negated else ''}{safe}]"
    try:
        re.compile(pattern)
    except re.error:
        raise PathError(f"The glob has a bad character set: {shown(glob)}") from None
    return pattern
