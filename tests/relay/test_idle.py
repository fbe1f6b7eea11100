"""A bridge ends when nobody needs it, and not before."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bridge.relay import Relay, RelayClient
from bridge.relay.idle import IdleClock
from tests.relay.harness import FakeService


async def test_the_clock_waits_for_whatever_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[float] = []
    loop = asyncio.get_running_loop()
    timers: list[asyncio.TimerHandle] = []
    real = loop.call_later

    def later(delay: float, callback: object, *args: object) -> asyncio.TimerHandle:
        calls.append(delay)
        timers.append(real(3600, lambda: None))
        return timers[-1]

    monkeypatch.setattr(loop, "call_later", later)
    clock = IdleClock(600, lambda: None)
    clock.busy("a")
    clock.busy("b")
    clock.free("a")
    assert (calls, [timer.cancelled() for timer in timers]) == ([600], [True])
    clock.free("b")
    assert (calls, [timer.cancelled() for timer in timers]) == ([600, 600], [True, False])
    clock.stop()
    assert all(timer.cancelled() for timer in timers)
    IdleClock(None, lambda: None)
    assert len(calls) == 2


async def test_a_relay_without_clients_and_tasks_asks_for_shutdown(service: FakeService, workspace: Path) -> None:
    async with Relay(service, version="1", idle_seconds=0.01) as relay:
        async with await RelayClient.connect(await relay.announcement(workspace)) as client:
            await service.session(workspace, "s1")
            await service.journal.append("state", session="s1", task="t1", data={"state": "sending"})
            await client.call("session/list")
        assert not relay._desk.shutdown.is_set()
        await service.journal.append("session.task_done", session="s1", task="t1", data={"answer": "x"})
        await service.journal.append("state", session="s1", task="t1", data={"state": "done"})
        async with asyncio.timeout(30):
            await relay.wait_shutdown()
