"""What a drive leaves outside the window: the bridge that announces itself, and its journal."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path

from bridge.journal import Event, JournalReader

BOUND_SECONDS = 180
LOOK_AGAIN_SECONDS = 0.05


class Traces:
    """Of the bridge that an editor with this `home` starts."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def bridges(self) -> list[int]:
        """Process ids of the bridges that announce themselves now."""
        files = (self._home / "run").glob("tabferry/bridge-*.json")
        return [int(json.loads(file.read_text(encoding="utf-8"))["pid"]) for file in files]

    def events(self, type: str) -> list[Event]:
        """The recorded events of one type, in order; none before a bridge is there, with its journal."""
        if not self.bridges():
            return []
        with JournalReader(self._home / "state" / "tabferry" / "journal.db") as journal:
            sessions = [row.session for row in journal.sessions()]
            found = [event for session in sessions for event in journal.events(session) if event.type == type]
        return sorted(found, key=lambda event: event.seq)


async def until(condition: Callable[[], object]) -> None:
    """Return once `condition` holds; raises TimeoutError when it never does."""
    async with asyncio.timeout(BOUND_SECONDS):
        while not condition():  # noqa: ASYNC110 - another program's files and processes tell no event
            await asyncio.sleep(LOOK_AGAIN_SECONDS)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
