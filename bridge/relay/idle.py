"""When nobody needs the bridge any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable


class IdleClock:
    """Calls `on_idle` once nothing has been busy for `seconds` (None: never). Made on the event loop; `stop()` it."""

    def __init__(self, seconds: float | None, on_idle: Callable[[], None]) -> None:
        self._seconds = seconds
        self._on_idle = on_idle
        self._busy: set[Hashable] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._restart()

    def busy(self, key: Hashable) -> None:
        self._busy.add(key)
        self._restart()

    def free(self, key: Hashable) -> None:
        self._busy.discard(key)
        self._restart()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _restart(self) -> None:
        self.stop()
        if self._seconds is not None and not self._busy:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._on_idle)
