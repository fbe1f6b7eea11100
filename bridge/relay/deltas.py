"""The running reply of each session, kept once for everybody who watches it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bridge.relay.limits import MAX_LIVE_SESSIONS, MAX_LIVE_TEXT
from bridge.relay.service import Ephemeral

Key = tuple[str, str]
"""Session and type."""


@dataclass(slots=True)
class Live:
    """The text of one turn so far: `text` stands at `base` (above 0 once trimmed); `over` when it is settled."""

    workspace: Path
    task: str
    turn: int
    base: int = 0
    text: str = ""
    over: bool = False
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def end(self) -> int:
        return self.base + len(self.text)

    def put(self, offset: int, text: str) -> None:
        if self.base <= offset <= self.end:
            self.text = self.text[: offset - self.base] + text
        else:
            self.base, self.text = offset, text
        if len(self.text) > MAX_LIVE_TEXT:
            drop = len(self.text) - MAX_LIVE_TEXT // 2
            self.base, self.text = self.base + drop, self.text[drop:]


class LiveTexts:
    """What every session is saying right now, bounded; tells its watchers which key changed from which offset on."""

    def __init__(self) -> None:
        self._live: OrderedDict[Key, Live] = OrderedDict()
        self._watchers: list[Watcher] = []

    def take(self, piece: Ephemeral) -> None:
        """The service's handler for ephemerals."""
        key = (piece.session, piece.type)
        live = self._live.get(key)
        if live is None or (live.task, live.turn) != (piece.task, piece.turn):
            live = self._live[key] = Live(piece.workspace, piece.task, piece.turn)
        self._live.move_to_end(key)
        while len(self._live) > MAX_LIVE_SESSIONS:
            self._live.popitem(last=False)
        live.put(piece.offset, piece.text)
        live.data = piece.data
        for watcher in self._watchers:
            watcher.changed(key, live, piece.offset)

    def settle(self, session: str) -> None:
        """A turn of `session` is over: no more snapshots of it."""
        for (each, _), live in self._live.items():
            live.over = live.over or each == session

    def watch(self, workspace: Path, wake: Callable[[], None]) -> Watcher:
        """A view for one connection; `wake` is called when it has something to take. `close()` it."""
        watcher = Watcher(self, workspace, wake)
        self._watchers.append(watcher)
        for key, live in self._live.items():
            if not live.over:
                watcher.changed(key, live, 0)
        return watcher

    def forget(self, watcher: Watcher) -> None:
        if watcher in self._watchers:
            self._watchers.remove(watcher)

    def get(self, key: Key) -> Live | None:
        return self._live.get(key)


class Watcher:
    """What one connection has not been sent yet: an offset per running text, however much was said meanwhile."""

    def __init__(self, texts: LiveTexts, workspace: Path, wake: Callable[[], None]) -> None:
        self._texts = texts
        self._workspace = workspace
        self._wake = wake
        self._unsent: dict[Key, tuple[Live, int]] = {}

    def changed(self, key: Key, live: Live, offset: int) -> None:
        if live.workspace != self._workspace:
            return
        known = self._unsent.get(key)
        earlier = known[1] if known and known[0] is live else offset
        self._unsent[key] = (live, min(earlier, offset))
        self._wake()

    def take(self, session: str | None = None) -> list[dict[str, Any]]:
        """The params of the `delta` notifications that are due, of one session or all."""
        keys = [key for key in self._unsent if session is None or key[0] == session]
        return [self._delta(key, *self._unsent.pop(key)) for key in keys]

    def close(self) -> None:
        self._texts.forget(self)

    def _delta(self, key: Key, live: Live, offset: int) -> dict[str, Any]:
        start = max(offset, live.base)
        return {
            "session": key[0],
            "task": live.task,
            "turn": live.turn,
            "type": key[1],
            "offset": start,
            "text": live.text[start - live.base :],
            "data": live.data,
        }
