"""`LLMManager`: one workspace, one chat, task after task (design, section 4; T54)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bridge.agent.approvals import Approver, deny_unattended
from bridge.agent.chat_holder import ChatFactory, ChatHolder, launch
from bridge.agent.choices import DEFAULT_DIALECT, Approve, Choices, Mode, OnMalformed, check, check_task
from bridge.agent.guards import GuardLimits
from bridge.agent.limits import MAX_ITERATIONS
from bridge.agent.session import AgentSession, new_id
from bridge.agent.settling import settle
from bridge.agent.wish import Wish, choose
from bridge.conversation import ChatPort
from bridge.errors import TaskCancelled
from bridge.journal import Event, Journal, Subscription, paths
from bridge.relay.service import EphemeralHandler
from tool_manager import ToolManager


class LLMManager:
    """A chat page as a coding agent on `workspace`. Use as `async with`.

    Without `chat`, `chat_factory` (default: a browser on `site`, at `url`) makes one when the first task comes, closed
    at the end; without `journal`, the user's own is opened, and what a killed process left in it is settled. What is
    passed in stays the caller's to close. `approver` answers what the policy `approve` asks; without one such calls are
    denied at once. `tools` replaces the built-in ToolManager. `dialect` names how calls are written, else
    `provider` and `xml` choose (A7). Raises `UsageError` for a bad workspace or dialect.
    """

    def __init__(
        self,
        workspace: Path | str,
        site: str = "demo",
        *,
        url: str | None = None,
        dialect: str | None = None,
        provider: str | None = None,
        xml: bool | None = None,
        multi: bool = False,
        system_prompt: str | None = None,
        approve: Approve = "ask",
        mode: Mode = "act",
        max_iterations: int = MAX_ITERATIONS,
        headless: bool = True,
        chat: ChatPort | None = None,
        chat_factory: ChatFactory = launch,
        journal: Journal | None = None,
        approver: Approver = deny_unattended,
        tools: ToolManager | None = None,
        on_malformed: OnMalformed = "correct",
        on_ephemeral: EphemeralHandler | None = None,
        bounds: GuardLimits | None = None,
    ) -> None:
        chosen = choose(Wish(dialect, provider, xml).check()) or DEFAULT_DIALECT
        choices = Choices(
            site,
            url,
            chosen,
            approve,
            mode,
            max_iterations,
            headless,
            on_malformed,
            multi=multi,
            system_prompt=system_prompt,
        )
        root = check(workspace, choices)
        self._owns_journal = journal is None
        self.journal = journal or Journal.open(paths.journal_path())
        self._holder = ChatHolder(chat_factory, chat)
        self._lock = asyncio.Lock()
        self._starting = asyncio.Lock()
        self._started = journal is not None
        self._running: set[asyncio.Task[str]] = set()
        self._watched: list[Subscription] = []
        self._session = AgentSession(
            root,
            choices,
            self.journal,
            self._holder,
            self._gate,
            approver,
            tools=tools,
            on_ephemeral=on_ephemeral,
            bounds=bounds,
        )

    async def __aenter__(self) -> Self:
        try:
            await self._start()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def session(self) -> str:
        """The id under which the journal keeps this chat."""
        return self._session.id

    @property
    def workspace(self) -> Path:
        return self._session.workspace

    @property
    def tools(self) -> ToolManager:
        """Register tools and middleware here, before the first task."""
        return self._session.tools

    async def call(self, task: str) -> str:
        """Run `task` to its end; the model's answer, unchanged. A second task waits for the first, in the same chat.

        Raises `UsageError` (empty task), `ChatError`, `NeedsUser`, `TaskStopped`, `TaskCancelled` or `JournalError`.
        """
        check_task(task)
        await self._start()
        task_id = new_id("t")
        await self._session.announce(task, task_id)
        running = asyncio.create_task(self._session.run(task, task_id))
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        try:
            return await running
        except asyncio.CancelledError:
            if _being_cancelled():
                raise
            raise TaskCancelled("The task was cancelled; what it had done so far is in the journal.") from None

    async def cancel(self) -> bool:
        """Stop what runs or waits, the page and its tools; return once that is done. False when nothing runs."""
        running = [*self._running]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)
        return bool(running)

    async def events(self) -> AsyncIterator[Event]:
        """Every durable event of this session, from its first on, then live; ends with the manager."""
        subscription = self.journal.subscribe(self.session, after=0)
        self._watched.append(subscription)
        try:
            async for event in subscription:
                yield event
        finally:
            subscription.close()

    async def close(self) -> None:
        """Cancel what runs and let go of everything that this manager opened."""
        await self.cancel()
        await self._session.close()
        await self._holder.close()
        for subscription in self._watched:
            subscription.close()
        if self._owns_journal:
            await self.journal.close()

    async def _start(self) -> None:
        async with self._starting:
            if not self._started:
                await settle(self.journal)
                self._started = True

    @asynccontextmanager
    async def _gate(self, session: AgentSession) -> AsyncIterator[None]:
        del session
        async with self._lock:
            yield


def _being_cancelled() -> bool:
    current: asyncio.Task[Any] | None = asyncio.current_task()
    return current is not None and current.cancelling() > 0
