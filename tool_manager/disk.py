"""Disk work happens here, in a bounded pool; the event loop never touches disk (design, decision 8)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, ParamSpec, TypeVar

from tool_manager.errors import ToolError
from tool_manager.limits import DISK_SECONDS, DISK_THREADS

P = ParamSpec("P")
T = TypeVar("T")


class Stop:
    """Told by long disk work whether to go on: not after `DISK_SECONDS`, a cancellation, or the closing of the pool."""

    def __init__(self) -> None:
        self._ends: float | None = None
        self._set = False

    def begin(self) -> None:
        """The time runs from here: waiting for a free thread does not count."""
        self._ends = time.monotonic() + DISK_SECONDS

    def set(self) -> None:
        self._set = True

    def over(self) -> bool:
        return self._set or (self._ends is not None and time.monotonic() >= self._ends)

    def check(self) -> None:
        """Raises `ToolError` when it is over; call it once for each piece of work."""
        if self.over():
            raise ToolError(f"It took longer than {DISK_SECONDS:g} s and was stopped; ask for less at a time.")


class Disk:
    """A pool of threads: `run` for short reads, `watch` for long ones, `finish` for writes."""

    def __init__(self, threads: int = DISK_THREADS) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="tool-disk")
        self._stops: set[Stop] = set()

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`work(...)` in a thread; a cancellation abandons it, for its unwanted answer harms nobody."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: work(*args, **kwargs))

    async def watch(self, work: Callable[Concatenate[Stop, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`work(stop, ...)` in a thread: for reads whose length the workspace decides; they look at `stop`."""
        stop = Stop()

        def begun() -> T:
            stop.begin()
            return work(stop, *args, **kwargs)

        self._stops.add(stop)
        try:
            return await self.run(begun)
        finally:
            stop.set()
            self._stops.discard(stop)

    async def finish(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`work(...)` in a thread: for writes. Cancellations are delivered once the write is over, never midway."""
        future = asyncio.get_running_loop().run_in_executor(self._pool, lambda: work(*args, **kwargs))
        cancelled: asyncio.CancelledError | None = None
        while not future.done():
            try:
                await asyncio.wait([future])
            except asyncio.CancelledError as error:  # as often as it comes
                cancelled = error
        if cancelled is not None:
            if not future.cancelled():
                future.exception()  # seen, or asyncio would complain that nobody looked
            raise cancelled
        return future.result()

    async def aclose(self) -> None:
        """Stop what can be stopped, wait for what runs, refuse what comes."""
        for stop in self._stops:
            stop.set()
        await asyncio.to_thread(self._pool.shutdown, wait=True, cancel_futures=True)
