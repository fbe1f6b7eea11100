"""`get_diagnostics`: what pure parsers find wrong in Python, JSON and TOML files (T32; design, decision 6)."""

from __future__ import annotations

import os
from functools import partial
from typing import Final

from tool_manager.checkers import KINDS, Source, check, kind_of
from tool_manager.disk import Stop
from tool_manager.errors import ToolError, shown
from tool_manager.files import read_all
from tool_manager.limits import DIAGNOSTIC_FILE_BYTES, DIAGNOSTIC_FILES, DIAGNOSTIC_TOTAL_BYTES, DIAGNOSTICS
from tool_manager.listing import walk
from tool_manager.models import JsonObject
from tool_manager.plan import Plan
from tool_manager.policy import is_secret
from tool_manager.registry import ToolDefinition
from tool_manager.room import Room
from tool_manager.workspace import Workspace

_SUPPORTED: Final = ", ".join(sorted(KINDS))


async def _plan(room: Room, args: JsonObject) -> Plan:
    path = args.get("file")
    if path is None:
        return Plan(partial(_check_all, room), (), (), ("tree:.",))
    with await room.disk.run(room.workspace.locate, path) as place:
        names, canonical = place.names, place.path
    return Plan(partial(_check_one, room, path, canonical), names, (), (f"file:{canonical}",))


async def _check_one(room: Room, path: str, canonical: str) -> JsonObject:
    source = await room.disk.run(_source, room.workspace, path, canonical)
    return await _report([source], [], [])


async def _check_all(room: Room) -> JsonObject:
    sources, skipped, notes = await room.disk.watch(_sources, room.workspace)
    return await _report(sources, skipped, notes)


async def _report(sources: list[Source], skipped: list[str], notes: list[str]) -> JsonObject:
    findings = await check(sources)
    if len(findings) > DIAGNOSTICS:
        notes = [f"Only the first {DIAGNOSTICS} of {len(findings)} diagnostics are shown; ask file by file.", *notes]
    data: JsonObject = {
        "diagnostics": [finding.data() for finding in findings[:DIAGNOSTICS]],
        "count": len(findings),
        "checked": [source.path for source in sources],
    }
    if notes:
        data["notes"] = notes
    if skipped:
        data["skipped"] = skipped
    return data


def _source(workspace: Workspace, path: str, canonical: str) -> Source:
    fd, place = workspace.open_file(path)
    try:
        if place.path != canonical:
            raise ToolError(f"{shown(path)} now leads to another file than when it was checked; call again.")
        kind = kind_of(canonical)
        if kind is None:
            raise ToolError(f"No checker for {shown(path)}: only {_SUPPORTED} without comments can be checked here.")
        if os.fstat(fd).st_size > DIAGNOSTIC_FILE_BYTES:
            raise ToolError(f"{shown(path)} is longer than {DIAGNOSTIC_FILE_BYTES:,} bytes and was not checked.")
        return Source(canonical, kind, read_all(fd, DIAGNOSTIC_FILE_BYTES))
    finally:
        os.close(fd)


def _sources(stop: Stop, workspace: Workspace) -> tuple[list[Source], list[str], list[str]]:
    """Every supported file up to the limits, the names of those that were left out, and notes."""
    listing = walk(stop, workspace, ".", depth=None, keep=lambda path: bool(kind_of(path)) and not is_secret(path))
    sources: list[Source] = []
    skipped: list[str] = []
    size = 0
    for path in listing.files:
        try:
            full = len(sources) >= DIAGNOSTIC_FILES or size >= DIAGNOSTIC_TOTAL_BYTES
            source = None if full else _source(workspace, path, path)
        except ToolError:
            source = None  # a link, too long, or gone since
        if source is None:
            skipped.append(path)
        else:
            sources.append(source)
            size += len(source.data)
    notes = listing.notes if listing.complete else ["Not every directory could be looked at.", *listing.notes]
    return sources, skipped[:DIAGNOSTIC_FILES], notes


GET_DIAGNOSTICS: Final = ToolDefinition(
    name="get_diagnostics",
    description=(
        f"Errors and warnings of one file, or of every supported file ({_SUPPORTED}; at most {DIAGNOSTIC_FILES}): "
        "syntax, and for Python what ruff finds. Runs none of the project's code or configuration."
    ),
    parameters={
        "type": "object",
        "properties": {"file": {"type": "string", "description": "relative to the workspace; left out: all files"}},
        "required": [],
    },
    planner=_plan,
)
