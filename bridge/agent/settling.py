"""Ends, in the journal, what an earlier process could not end because it was killed (design, section 5)."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress

from bridge.agent.aftermath import Aftermath
from bridge.agent.record import JournalRecorder
from bridge.journal import Journal
from tool_manager import Place, ToolError, Workspace
from tool_manager.limits import MAX_FILE_SIZE


async def settle(journal: Journal) -> None:
    """Give every task and call that was open when `journal` was opened its end. What this process does is let alone.

    Files are only read, nothing is run or sent. Raises `JournalError`; what was not recorded is settled next time.
    """
    for session in await journal.unsettled():
        await _settle(journal, session)


async def _settle(journal: Journal, session: str) -> None:
    aftermath, after = Aftermath(), 0
    while page := await journal.events(session, after=after):
        for event in page:
            aftermath.feed(event)
        after = page[-1].seq
    hashes = await asyncio.to_thread(current_hashes, journal.workspace_of(session), aftermath.paths)
    pen = JournalRecorder(journal, session)
    for closing in aftermath.settle(hashes):
        pen.task = closing.task
        pen.note(closing.type, turn=closing.turn, call=closing.call, **closing.data)
    await pen.flush()


def current_hashes(workspace: str | None, paths: Iterable[str]) -> dict[str, str | None]:
    """Canonical path → SHA-256 of the file's bytes, None when there is no file; what cannot be read is left out."""
    hashes: dict[str, str | None] = {}
    if workspace is None or not (wanted := [*paths]):
        return hashes
    with suppress(ToolError):
        room = Workspace(workspace)
        try:
            for path in wanted:
                with suppress(ToolError):
                    hashes[path] = _hash(room, path)
        finally:
            room.close()
    return hashes


def _hash(room: Workspace, path: str) -> str | None:
    def read(place: Place) -> str | None:
        if place.path != path:
            raise ToolError(f"{path!r} leads elsewhere now.")
        if place.kind == "missing":
            return None
        with os.fdopen(place.open_file(), "rb") as file:
            if os.fstat(file.fileno()).st_size > MAX_FILE_SIZE:
                raise ToolError(f"{path!r} is larger than anything that a tool writes.")
            return hashlib.file_digest(file, "sha256").hexdigest()

    return room.use(path, read)
