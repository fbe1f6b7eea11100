"""`read_file`: a whole file, or a range of lines streamed from a file of any size (T30, T32, T41, T47)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial

from tool_manager.disk import Stop
from tool_manager.errors import ToolError, shown
from tool_manager.limits import MAX_FILE_SIZE, READ_BYTES, READ_LINE_CHARS, READ_LINES, SNIFF_BYTES
from tool_manager.models import JsonObject
from tool_manager.plan import Plan
from tool_manager.registry import ToolDefinition
from tool_manager.room import Room
from tool_manager.text import chunks, decode, lines, sniff
from tool_manager.workspace import Workspace


@dataclass(frozen=True, slots=True)
class _Range:
    start: int
    end: int | None
    whole: bool


async def _plan(room: Room, args: JsonObject) -> Plan:
    path, span = args["path"], _range(args)
    if not path:
        raise ToolError('Parameter "path" is required')
    with await room.disk.run(room.workspace.locate, path) as place:
        names, canonical = place.names, place.path
    run = partial(room.disk.watch, _read, room.workspace, path, canonical, span)
    return Plan(run, names, (), (f"file:{canonical}",))


def _range(args: JsonObject) -> _Range:
    start, end = args.get("start_line"), args.get("end_line")
    first, last = int(start or 1), None if end is None else int(end)
    if last is not None and last < first:
        raise ToolError(f"end_line {last} comes before start_line {first}.")
    return _Range(first, last, start is None and end is None)


def _read(stop: Stop, workspace: Workspace, path: str, canonical: str, span: _Range) -> JsonObject:
    fd, place = workspace.open_file(path)
    try:
        if place.path != canonical:  # a link was turned elsewhere after policy had judged where it led
            raise ToolError(f"{shown(path)} now leads to another file than when it was checked; call again.")
        size = os.fstat(fd).st_size
        if span.whole and size > MAX_FILE_SIZE:
            raise ToolError(
                f"File too large: {shown(path)} has {size:,} bytes, the limit is {MAX_FILE_SIZE:,}; "
                f'read a range: {{"path": "{shown(path)}", "start_line": 1, "end_line": {READ_LINES}}}'
            )
        kind = sniff(os.pread(fd, SNIFF_BYTES, 0))
        if kind is None or (kind[0] != "utf-8" and size % 2):  # a half character of UTF-16 would be lost without a word
            return _binary(place.path, size)
        return _text(stop, fd, place.path, size, span, kind)
    finally:
        os.close(fd)


def _binary(path: str, size: int) -> JsonObject:
    notice = f"Binary file ({size:,} bytes); its content is not shown."
    return {"path": path, "content": notice, "lines": 0, "size": size, "binary": True}


def _text(stop: Stop, fd: int, path: str, size: int, span: _Range, kind: tuple[str, int]) -> JsonObject:
    raw, more, ran_out = _collect(stop, fd, span, kind)
    if not raw and span.start > 1:
        raise ToolError(f"{shown(path)} has fewer than {span.start} lines; start_line is past its end.")
    texts, encoding = decode(raw)
    notes = [f"Line {span.start + at} is longer than {READ_LINE_CHARS} characters; the rest of it is left out."
             for at, text in enumerate(texts) if len(text.rstrip("\r\n")) > READ_LINE_CHARS]  # fmt: skip
    if encoding == "latin-1":
        notes.append("Not valid UTF-8; decoded as Latin-1.")
    data: JsonObject = {"path": path, "content": "".join(map(_cut, texts)), "lines": len(texts), "size": size}
    if not span.whole or more:
        data |= {"start_line": span.start, "end_line": span.start + len(texts) - 1}
    if kind != ("utf-8", 0) or encoding != "utf-8":
        data |= {"encoding": encoding if kind[0] == "utf-8" else kind[0], "bom": kind[1] > 0}
    if notes:
        data["notes"] = notes
    if more and ran_out:
        args = {"path": path, "start_line": span.start + len(texts)}
        data["next"] = {"tool": "read_file", "args": args if span.end is None else {**args, "end_line": span.end}}
    return data


def _collect(stop: Stop, fd: int, span: _Range, kind: tuple[str, int]) -> tuple[list[tuple[bytes, int]], bool, bool]:
    """The lines of the range, whether the file goes on after them, and whether it was a limit that stopped us."""
    raw: list[tuple[bytes, int]] = []
    used = 0
    for number, (data, length) in enumerate(lines(chunks(fd, *kind, stop.check), span.start), span.start):
        if span.end is not None and number > span.end:
            return raw, True, False
        used += len(data)
        if len(raw) == READ_LINES or (used > READ_BYTES and raw):
            return raw, True, True
        raw.append((data, length))
    return raw, False, False


def _cut(line: str) -> str:
    text = line.rstrip("\r\n")
    return line if len(text) <= READ_LINE_CHARS else f"{text[:READ_LINE_CHARS]}…\n"


READ_FILE = ToolDefinition(
    name="read_file",
    description=(
        f"Read a text file of the workspace. At most {READ_LINES} lines or {READ_BYTES // 1024} KB a call; "
        'when there is more, "next" is the exact next call.'
    ),
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "relative to the workspace"},
            "start_line": {"type": "integer", "minimum": 1, "description": "first line, from 1"},
            "end_line": {"type": "integer", "minimum": 1, "description": "last line, included"},
        },
        "required": ["path"],
    },
    planner=_plan,
)
