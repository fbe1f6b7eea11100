"""`search_code`: ripgrep finds, we believe nothing (design, decision 5).

ripgrep opens files by name and can be led outside by a directory that is swapped while it runs. Therefore every hit
is read again by descriptor, and only what is read that way is returned; a hit that does not match is dropped.
"""

from __future__ import annotations

import os
import re
from functools import partial
from typing import Final

from tool_manager.disk import Stop
from tool_manager.errors import OutsideError, PathError, ToolError, shown
from tool_manager.globs import Glob, compile_glob
from tool_manager.ignore import IgnoreRules
from tool_manager.limits import SEARCH_CONTEXT, SEARCH_LINE_CHARS, SEARCH_MATCHES, SEARCH_MATCHES_MAX, SNIFF_BYTES
from tool_manager.models import JsonObject
from tool_manager.plan import Plan
from tool_manager.policy import is_secret
from tool_manager.registry import ToolDefinition
from tool_manager.ripgrep import Hit, Hits, Query, fingerprint, search
from tool_manager.room import Room
from tool_manager.text import sniff
from tool_manager.workspace import Workspace

_CONTEXT_BYTES: Final = 4 * SEARCH_LINE_CHARS * SEARCH_CONTEXT


async def _plan(room: Room, args: JsonObject) -> Plan:
    options = args.get("options") or {}
    text = args["query"]
    if "\n" in text or "\0" in text or not _encodable(text):
        raise ToolError("The query must be one line of valid text; search for one of its lines.")
    glob = compile_glob(options["glob"]) if options.get("glob") is not None else None
    with await room.disk.run(room.workspace.locate, options.get("directory", ".")) as place:
        if place.kind == "missing":
            raise PathError(f"Directory not found: {shown(place.given)}")
        directory = place.path
    if directory.startswith("/"):
        raise OutsideError(directory)  # ripgrep runs at the workspace's own root
    is_file = place.kind == "file"
    run = partial(_search, room, args, directory, is_file, glob)
    return Plan(run, place.names if is_file else (), (), (f"tree:{directory}",))


def _encodable(text: str) -> bool:
    return text.encode("utf-8", "replace").decode("utf-8") == text


async def _search(room: Room, args: JsonObject, directory: str, is_file: bool, glob: Glob | None) -> JsonObject:
    options = args.get("options") or {}
    regex = bool(options.get("regex", False))
    case = bool(options.get("case", _has_capitals(args["query"], regex)))
    query = Query(args["query"], directory, is_file, regex, case, glob.text if glob else None)
    found = await search(room.workspace, query)
    return await room.disk.watch(_page, room.workspace, found, directory, glob, args)


def _has_capitals(query: str, regex: bool) -> bool:
    """As ripgrep's smart case: somebody who writes no capital does not mean that there is none."""
    return any(char.isupper() for char in (re.sub(r"\\.", "", query) if regex else query))


def _page(
    stop: Stop, workspace: Workspace, found: Hits, directory: str, glob: Glob | None, args: JsonObject
) -> JsonObject:
    options = args.get("options") or {}
    offset, limit = int(options.get("offset", 0)), int(options.get("limit", SEARCH_MATCHES))
    prefix = "" if directory == "." else directory + "/"
    rules = IgnoreRules(workspace, directory)
    matches: list[JsonObject] = []
    at = offset
    with _Reader(workspace, int(options.get("context", 0))) as reader:
        while at < len(found.hits) and len(matches) < limit and not stop.over():
            hit = found.hits[at]
            at += 1
            if glob is not None and not glob.matches(hit.path.removeprefix(prefix)):
                continue
            if not rules.ignored(hit.path) and (match := reader.confirm(hit)) is not None:
                matches.append(match)
    data: JsonObject = {"matches": matches, "count": len(matches)}
    if at < len(found.hits):
        data["next"] = {"tool": "search_code", "args": {**args, "options": {**options, "offset": at}}}
    if not found.complete:
        data["incomplete"] = "The search was cut short; use a narrower query, directory or glob."
    if rules.notes:
        data["notes"] = rules.notes
    if found.skipped:
        data["skipped"] = f"{found.skipped} matching lines are too long to return."
    return data


class _Reader:
    """Reads hits again by descriptor; keeps the last file open, because hits come sorted by file."""

    def __init__(self, workspace: Workspace, context: int) -> None:
        self._workspace, self._context = workspace, context
        self._path, self._fd = "", -1

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def confirm(self, hit: Hit) -> JsonObject | None:
        """The match as it stands in the workspace, None when what ripgrep saw is not there."""
        fd = self._open(hit.path)
        raw = os.pread(fd, hit.length, hit.offset) if fd >= 0 else b""
        if fd < 0 or len(raw) != hit.length or fingerprint(raw) != hit.fingerprint:
            return None
        if hit.offset and os.pread(fd, 1, hit.offset - 1) != b"\n":
            return None
        column = len(raw[: hit.start].decode("utf-8", "replace"))
        match: JsonObject = {"file": hit.path, "line": hit.line, "column": column + 1, "text": _window(raw, column)}
        if self._context:
            match |= {"before": self._before(fd, hit.offset), "after": self._after(fd, hit.offset + hit.length)}
        return match

    def _open(self, path: str) -> int:
        if path != self._path:
            self.__exit__()
            self._path = path
            try:
                fd, place = self._workspace.open_file(path)
            except ToolError:
                return -1
            # What read_file would call binary is not shown here either.
            if place.path != path or any(map(is_secret, place.names)) or sniff(os.pread(fd, SNIFF_BYTES, 0)) is None:
                os.close(fd)
                return -1
            self._fd = fd
        return self._fd

    def _before(self, fd: int, end: int) -> list[str]:
        start = max(0, end - _CONTEXT_BYTES)
        lines = os.pread(fd, end - start, start).split(b"\n")[:-1]
        return [_window(line, 0) for line in lines[-self._context :]]

    def _after(self, fd: int, start: int) -> list[str]:
        data = os.pread(fd, _CONTEXT_BYTES, start)
        return [_window(line, 0) for line in data.removesuffix(b"\n").split(b"\n")[: self._context]] if data else []


def _window(raw: bytes, column: int) -> str:
    """At most `SEARCH_LINE_CHARS` of a line, with the match in sight."""
    text = raw.decode("utf-8", "replace").rstrip("\r\n")
    start = max(0, column - SEARCH_LINE_CHARS // 4) if len(text) > SEARCH_LINE_CHARS else 0
    end = start + SEARCH_LINE_CHARS
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")


SEARCH_CODE: Final = ToolDefinition(
    name="search_code",
    description=(
        "Search the files of the workspace for a text, line by line. options: regex (ripgrep's syntax; default: the "
        "text itself), case (true minds capitals, false ignores them; default: they count if the query has any), glob "
        "(without a slash it matches names at any depth), context (lines around each match). Files that .gitignore "
        'names, binary files and secret files are left out. When there are more matches, "next" is the exact next call.'
    ),
    parameters={
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 10_000},
            "options": {
                "type": "object",
                "properties": {
                    "regex": {"type": "boolean", "description": "query is a regular expression (default false)"},
                    "directory": {"type": "string", "description": "where to search (default: everywhere)"},
                    "glob": {"type": "string", "description": "only these files, like *.py or src/**/*.ts"},
                    "context": {"type": "integer", "minimum": 0, "maximum": SEARCH_CONTEXT},
                    "case": {"type": "boolean", "description": "default: true if the query has capitals"},
                    "limit": {"type": "integer", "minimum": 1, "maximum": SEARCH_MATCHES_MAX},
                    "offset": {"type": "integer", "minimum": 0},
                },
            },
        },
        "required": ["query"],
    },
    planner=_plan,
)
