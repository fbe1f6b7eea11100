from __future__ import annotations

import asyncio
import threading

import pytest

from tool_manager import ToolError, disk
from tool_manager.disk import Disk, Stop


class Endless:
    """Work that ends only when it is told to."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()

    def __call__(self, stop: Stop) -> None:
        self.begun.set()
        while not stop.over():
            self.ended.wait(0.001)
        self.ended.set()


@pytest.mark.requirement("T39")
async def test_a_cancellation_ends_long_work() -> None:
    pool, work = Disk(), Endless()
    task = asyncio.create_task(pool.watch(work))
    assert await asyncio.to_thread(work.begun.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(work.ended.wait, 30)
    await pool.aclose()


async def test_closing_ends_long_work() -> None:
    pool, work = Disk(), Endless()
    task = asyncio.create_task(pool.watch(work))
    assert await asyncio.to_thread(work.begun.wait, 30)
    async with asyncio.timeout(30):
        await pool.aclose()
        await task
    assert work.ended.is_set()


async def test_time_ends_long_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "DISK_SECONDS", 0.0)
    pool = Disk()
    with pytest.raises(ToolError, match="longer than 0 s and was stopped"):
        await pool.watch(Stop.check)
    await pool.aclose()


def test_waiting_for_a_thread_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "DISK_SECONDS", 0.0)
    stop = Stop()
    assert not stop.over()
    stop.begin()
    assert stop.over()


@pytest.mark.requirement("T39", "X7")
async def test_no_number_of_cancellations_abandons_a_write() -> None:
    pool, begun, go_on = Disk(), threading.Event(), threading.Event()

    def write() -> None:
        begun.set()
        assert go_on.wait(30)
        raise OSError("the disk broke")  # must not become a complaint about an exception that nobody saw

    task = asyncio.create_task(pool.finish(write))
    assert await asyncio.to_thread(begun.wait, 30)
    for _ in range(3):
        task.cancel()
        await asyncio.wait([task], timeout=0.01)
        assert not task.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    await pool.aclose()
