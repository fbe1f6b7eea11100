"""Disk work happens here, in a bounded pool; the event loop never touches disk (design, decision 8)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from tool_manager.limits import DISK_THREADS

P = ParamSpec("P")
T = TypeVar("T")


class Disk:
    """A pool of threads. `run` may be abandoned by a cancellation, `finish` waits until the work has ended."""

    def __init__(self, threads: int = DISK_THREADS) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="tool-disk")

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`work(...)` in a thread: for reads, whose unwanted answer harms nobody."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: work(*args, **kwargs))

    async def finish(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`work(...)` in a thread: for writes. A cancellation is delivered once the write is over, never midway."""
        future = asyncio.get_running_loop().run_in_executor(self._pool, lambda: work(*args, **kwargs))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await asyncio.wait([future])
            raise

    async def aclose(self) -> None:
        """Wait for what runs, refuse what comes."""
        await asyncio.to_thread(self._pool.shutdown, wait=True, cancel_futures=True)
