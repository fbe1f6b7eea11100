"""Where a task of `ask` runs: in a live bridge through its relay, else in a bridge of this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, Protocol

from bridge.agent import Bridge
from bridge.cli.output import notice
from bridge.config import Settings
from bridge.errors import TabferryError, UsageError
from bridge.journal import Event, Journal, paths
from bridge.relay import RelayClient, find_live
from bridge.relay.service import Ephemeral, TaskRequest, TaskStarted

Item = Event | Ephemeral

_LOCAL_ONLY = ("headless",)
"""Flags that belong to the process that holds the browser."""

_DIALECT = ("dialect", "provider", "xml", "team")
"""Flags that choose the dialect."""


class Backend(Protocol):
    """One task's way to a bridge."""

    async def start(self, task: str) -> TaskStarted: ...

    def items(self) -> AsyncIterator[Item]:
        """Durable events in order, and running replies between them, until the bridge goes away."""

    async def answer(
        self, approval: str, digest: str, decision: Literal["approve", "deny"], reason: str | None
    ) -> None:
        """Answer a question; one that was answered meanwhile stays as it was answered."""

    async def cancel(self, started: TaskStarted) -> None:
        """Return when the task has stopped, or nobody is there any more to stop it."""


@asynccontextmanager
async def open_backend(
    workspace: Path, settings: Settings, flags: dict[str, Any], *, new_chat: bool, interactive: bool
) -> AsyncIterator[Backend]:
    """The live bridge, if there is one; its own choices stand, except for `flags` that were given."""
    live = await find_live()
    if live is None:
        if not new_chat:
            raise UsageError("No bridge is running, so there is no chat to continue; leave out --continue.")
        async with _local(workspace, settings, interactive=interactive) as local:
            yield local
        return
    for name in _LOCAL_ONLY:
        if flags.get(name) is not None:
            notice(f"--{name} has no effect: the task runs in the browser of the bridge of process {live.pid}.")
    async with await RelayClient.open(live, workspace, name="ask") as client:
        yield Remote(client, {**_sent(flags), **_dialect(settings, flags)}, new_chat)


def _sent(flags: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in flags.items() if name not in (*_LOCAL_ONLY, *_DIALECT)}


def _dialect(settings: Settings, flags: dict[str, Any]) -> dict[str, Any]:
    """A team is known where it is configured, so the live bridge is told what comes of it."""
    if flags.get("team") is not None:
        return {"dialect": settings.dialect}
    return {name: flags.get(name) for name in ("dialect", "provider", "xml")}


@asynccontextmanager
async def _local(workspace: Path, settings: Settings, *, interactive: bool) -> AsyncIterator[Backend]:
    journal = Journal.open(paths.journal_path())
    bridge = Bridge(journal, defaults=settings.choices, interactive=interactive)
    try:
        yield Local(bridge, workspace)
    finally:
        await bridge.close()
        await journal.close()


class Local:
    """A bridge in this process."""

    def __init__(self, bridge: Bridge, workspace: Path) -> None:
        self._bridge = bridge
        self._workspace = workspace
        self._items: asyncio.Queue[Item] = asyncio.Queue()
        self._subscription = bridge.journal.subscribe()

    async def start(self, task: str) -> TaskStarted:
        return await self._bridge.start_task(self._workspace, TaskRequest(task))

    async def items(self) -> AsyncIterator[Item]:
        remove = self._bridge.on_ephemeral(self._items.put_nowait)
        pump = asyncio.create_task(self._pump())
        try:
            while True:
                yield await self._items.get()
        finally:
            remove()
            pump.cancel()
            self._subscription.close()

    async def answer(
        self, approval: str, digest: str, decision: Literal["approve", "deny"], reason: str | None
    ) -> None:
        await self._bridge.answer_approval(self._workspace, approval, digest, decision, reason, "terminal")

    async def cancel(self, started: TaskStarted) -> None:
        await self._bridge.cancel_task(self._workspace, started.task)

    async def _pump(self) -> None:
        async for event in self._subscription:
            self._items.put_nowait(event)


class Remote:
    """A live bridge, as its client. `choices` are the flags that the user gave."""

    def __init__(self, client: RelayClient, choices: dict[str, Any], new_chat: bool) -> None:
        self._client = client
        self._choices = {name: value for name, value in choices.items() if value is not None}
        self._new_chat = new_chat

    async def start(self, task: str) -> TaskStarted:
        params = {"task": task, "new_chat": self._new_chat, **self._choices}
        return TaskStarted(**await self._client.call("task/start", params))

    async def items(self) -> AsyncIterator[Item]:
        async for notification in self._client:
            if notification.method == "event":
                yield Event(**notification.params)
            elif notification.method == "delta":
                yield _ephemeral(notification.params)

    async def answer(
        self, approval: str, digest: str, decision: Literal["approve", "deny"], reason: str | None
    ) -> None:
        params = {"id": approval, "digest": digest, "decision": decision, "reason": reason}
        await self._client.call("approval/answer", params)

    async def cancel(self, started: TaskStarted) -> None:
        try:
            await self._client.call("task/cancel", {"task": started.task})
        except TabferryError as error:
            notice(f"The bridge could not be told to cancel: {error}")


def _ephemeral(params: dict[str, Any]) -> Ephemeral:
    names = ("session", "task", "turn", "type", "offset", "text")
    return Ephemeral(workspace=Path(), **{name: params[name] for name in names})
