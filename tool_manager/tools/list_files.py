"""`list_files`: what is there, sorted and paged (T32)."""

from __future__ import annotations

from functools import partial
from typing import Final

from tool_manager.disk import Stop
from tool_manager.globs import Glob, compile_glob
from tool_manager.limits import LIST_DEPTH, LIST_FILES
from tool_manager.listing import check_directory, walk
from tool_manager.models import JsonObject
from tool_manager.plan import Plan
from tool_manager.registry import ToolDefinition
from tool_manager.room import Room
from tool_manager.workspace import Workspace


async def _plan(room: Room, args: JsonObject) -> Plan:
    pattern = args.get("pattern")
    glob = None if pattern is None else compile_glob(pattern)
    with await room.disk.run(room.workspace.locate, args["directory"]) as place:
        directory = check_directory(place)
    run = partial(room.disk.watch, _list, room.workspace, directory, glob, args)
    return Plan(run, (), (), (f"tree:{directory}",))


def _list(stop: Stop, workspace: Workspace, directory: str, glob: Glob | None, args: JsonObject) -> JsonObject:
    depth = None if args.get("depth") is None else int(args["depth"])
    listing = walk(stop, workspace, directory, depth=depth, keep=glob.matches if glob else lambda _: True)
    offset = int(args.get("offset") or 0)
    page = listing.files[offset : offset + LIST_FILES]
    data: JsonObject = {"directory": directory, "files": page, "count": len(page), "total": len(listing.files)}
    if listing.dirs:
        data["dirs"] = listing.dirs[:LIST_FILES]
    if not listing.complete:
        data["incomplete"] = "Not everything could be looked at; list a smaller directory."
    if listing.notes:
        data["notes"] = listing.notes
    if offset + len(page) < len(listing.files):
        data["next"] = {"tool": "list_files", "args": {**_known(args), "offset": offset + len(page)}}
    return data


def _known(args: JsonObject) -> JsonObject:
    return {key: args[key] for key in ("directory", "pattern", "depth") if key in args}


LIST_FILES_TOOL: Final = ToolDefinition(
    name="list_files",
    description=(
        "List files below a directory, recursively, sorted, as paths relative to the workspace; what .gitignore names "
        f"and .git are left out, links are listed but not followed. {LIST_FILES} a call; when there are more, "
        '"next" is the exact next call. "dirs" names directories that depth kept it from entering.'
    ),
    parameters={
        "type": "object",
        "properties": {
            "directory": {"type": "string", "description": '"." is the workspace'},
            "pattern": {
                "type": "string",
                "description": "glob like **/*.ts, below the directory; without a slash it matches names at any depth",
            },
            "depth": {
                "type": "integer",
                "minimum": 1,
                "maximum": LIST_DEPTH,
                "description": "levels; 1 = no recursion",
            },
            "offset": {"type": "integer", "minimum": 0},
        },
        "required": ["directory"],
    },
    planner=_plan,
)
