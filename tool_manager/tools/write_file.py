"""`write_file`: create or replace a whole file, atomically (T32, T39, T41)."""

from __future__ import annotations

from functools import partial

from tool_manager.diff import unified
from tool_manager.errors import ToolError, shown
from tool_manager.files import Snapshot, digest, too_large
from tool_manager.limits import MAX_FILE_SIZE
from tool_manager.models import JsonObject
from tool_manager.plan import Change, Plan
from tool_manager.registry import ToolDefinition
from tool_manager.room import Room


async def _plan(room: Room, args: JsonObject) -> Plan:
    path = args["path"]
    data = await room.disk.run(_encode, path, args["content"])
    old = await room.files.snapshot(path)
    change = await room.disk.run(_change, old, data)
    return Plan(partial(_write, room, old, change.before, data), (), (change,), (f"file:{old.path}",))


def _change(old: Snapshot, data: bytes) -> Change:
    return Change(old.path, old.names, old.hash, digest(data), unified(old.path, old.data, data))


def _encode(path: str, content: str) -> bytes:
    try:
        data = content.encode("utf-8")
    except UnicodeEncodeError:
        raise ToolError(f"The content for {shown(path)} holds half a surrogate pair, which no file can hold.") from None
    if len(data) > MAX_FILE_SIZE:
        raise too_large(path, len(data))
    return data


async def _write(room: Room, old: Snapshot, before: str | None, data: bytes) -> JsonObject:
    await room.files.write(old.path, data, expected=before)
    count = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    return {"path": old.path, "bytes": len(data), "lines": count, "created": old.data is None}


WRITE_FILE = ToolDefinition(
    name="write_file",
    description=(
        "Create a file or replace its whole content, exactly as given; parent directories are created. "
        f"At most {MAX_FILE_SIZE // 1024 // 1024} MB."
    ),
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "relative to the workspace"},
            "content": {"type": "string", "description": "the complete new content"},
        },
        "required": ["path", "content"],
    },
    effect="write",
    planner=_plan,
)
