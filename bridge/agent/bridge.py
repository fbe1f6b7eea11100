"""The bridge: many workspaces, one chat tab, everything that happens in one journal (design, sections 1 and 6)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bridge.agent.approvals import ApprovalBroker
from bridge.agent.chat_holder import ChatFactory, ChatHolder, launch
from bridge.agent.choices import Approve, Choices, check, check_task, real_workspace
from bridge.agent.session import AgentSession, new_id
from bridge.agent.settling import settle
from bridge.agent.wish import Wish, choose
from bridge.errors import UsageError
from bridge.journal import Journal
from bridge.relay.service import (
    AnswerOutcome,
    ApprovalDecision,
    Ephemeral,
    EphemeralHandler,
    PendingApproval,
    TaskRequest,
    TaskStarted,
)
from tool_manager import ToolSpec, builtin_specs


@dataclass(frozen=True, slots=True)
class _Running:
    workspace: Path
    session: AgentSession
    runner: asyncio.Task[str]


class Bridge:
    """Implements `bridge.relay.service.Service`. Tasks run in the background and queue for the one chat tab.

    `defaults` is what a request that says nothing gets. `interactive=False`: nobody can answer, so what would ask is
    denied at once. The journal stays the caller's to close; `chat_factory` makes the tab when the first task needs it.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        default_site: str = "demo",
        default_url: str | None = None,
        headless: bool = True,
        approve: Approve = "ask",
        chat_factory: ChatFactory | None = None,
        interactive: bool = True,
        defaults: Choices | None = None,
    ) -> None:
        self._journal = journal
        self._defaults = defaults or Choices(default_site, default_url, approve=approve, headless=headless)
        self._holder = ChatHolder(chat_factory or launch)
        self._broker = ApprovalBroker(interactive=interactive)
        self._lock = asyncio.Lock()
        self._starting = asyncio.Lock()
        self._started = False
        self._shown: AgentSession | None = None
        self._latest: dict[Path, AgentSession] = {}
        self._running: dict[str, _Running] = {}
        self._handlers: list[EphemeralHandler] = []
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def journal(self) -> Journal:
        return self._journal

    async def start(self) -> None:
        """Settle what an earlier bridge was killed in, then be ready for tasks. May be called twice.

        The browser starts with the first task, so that a bridge in waiting stays small. Raises `JournalError`.
        """
        async with self._starting:
            if not self._started:
                await settle(self._journal)
                self._started = True

    async def close(self) -> None:
        """Cancel every task, then let go of the page."""
        runners = [running.runner for running in self._running.values()]
        for runner in runners:
            runner.cancel()
        if runners:
            await asyncio.wait(runners)
        await asyncio.gather(*self._closing, *(session.close() for session in self._latest.values()))
        await self._holder.close()

    async def open_workspace(self, path: Path) -> Path:
        return await asyncio.to_thread(real_workspace, path)

    async def start_task(self, workspace: Path, request: TaskRequest) -> TaskStarted:
        check_task(request.task)
        await self.start()
        session = self._continued(workspace, request) or await self._begin(workspace, request)
        task = new_id("t")
        await session.announce(request.task, task)
        runner = asyncio.create_task(session.run(request.task, task))
        self._running[task] = _Running(workspace, session, runner)
        runner.add_done_callback(lambda _: self._finished(task))
        return TaskStarted(session.id, task)

    async def cancel_task(self, workspace: Path, task: str) -> bool:
        running = self._running.get(task)
        if running is None or running.workspace != workspace:
            return False
        running.runner.cancel()
        await asyncio.wait([running.runner])
        return running.runner.cancelled()

    async def answer_approval(
        self, workspace: Path, approval: str, digest: str, decision: ApprovalDecision, reason: str | None, by: str
    ) -> AnswerOutcome:
        if not self._is_of(self._broker.session_of(approval), workspace):
            return "unknown"
        return self._broker.answer(approval, digest, decision, reason, by)

    def pending_approvals(self, workspace: Path) -> list[PendingApproval]:
        return [pending for pending in self._broker.pending() if self._is_of(pending.session, workspace)]

    def tools(self, workspace: Path) -> list[ToolSpec]:
        session = self._latest.get(workspace)
        return session.tools.specs() if session else builtin_specs()

    def sites(self) -> list[dict[str, Any]]:
        from bridge.chat import profiles

        loaded = [profiles.load(name) for name in profiles.names()]
        return [{"name": profile.name, "title": profile.title, "url": profile.url} for profile in loaded]

    def on_ephemeral(self, handler: EphemeralHandler) -> Callable[[], None]:
        self._handlers.append(handler)

        def remove() -> None:
            with contextlib.suppress(ValueError):
                self._handlers.remove(handler)

        return remove

    def _continued(self, workspace: Path, request: TaskRequest) -> AgentSession | None:
        """The workspace's newest session, if the request wants to go on there and nothing about it has changed."""
        session = self._latest.get(workspace)
        if request.new_chat or session is None:
            return None
        if _merge(session.choices, request) != session.choices:
            raise UsageError("A chat goes on under the choices it was begun with; leave them out, or start a new chat.")
        return session

    async def _begin(self, workspace: Path, request: TaskRequest) -> AgentSession:
        choices = _merge(self._defaults, request)
        root = await asyncio.to_thread(check, workspace, choices)
        _check_site(choices)
        session = AgentSession(
            root,
            choices,
            self._journal,
            self._holder,
            self._lend,
            self._broker.ask,
            expect=self._broker.expect,
            on_ephemeral=self._tell,
        )
        old = self._latest.get(workspace)
        self._latest[workspace] = session
        if old is not None:
            self._retire(old)
        return session

    @asynccontextmanager
    async def _lend(self, session: AgentSession) -> AsyncIterator[None]:
        """One message in flight per chat account: a task has the tab to itself from its first message to its last."""
        async with self._lock:
            if self._shown is not None and self._shown is not session:
                self._shown.lose_chat()
            self._shown = session
            yield

    def _finished(self, task: str) -> None:
        running = self._running.pop(task)
        if not running.runner.cancelled():
            running.runner.exception()  # it is in the journal, where whoever asked for the task reads it

        if running.session not in self._latest.values():
            self._retire(running.session)

    def _retire(self, session: AgentSession) -> None:
        """Nothing can go on in `session` any more: close it, unless a task of it still runs or waits."""
        if not any(running.session is session for running in self._running.values()):
            closing = asyncio.create_task(session.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    def _is_of(self, session: str | None, workspace: Path) -> bool:
        return session is not None and self._journal.workspace_of(session) == str(workspace)

    def _tell(self, ephemeral: Ephemeral) -> None:
        for handler in [*self._handlers]:
            handler(ephemeral)


def _merge(choices: Choices, request: TaskRequest) -> Choices:
    names = ("url", "mode", "approve", "max_iterations", "multi")
    given = {name: value for name in names if (value := getattr(request, name)) is not None}
    wish = Wish(request.dialect, request.provider, request.xml).check()
    if (dialect := choose(wish, team_xml=choices.team_xml)) is not None:
        given["dialect"] = dialect
    if request.site is not None and request.site != choices.site:
        given = {"site": request.site, "url": None, **given}  # a URL belongs to its site
    return replace(choices, **given)


def _check_site(choices: Choices) -> None:
    """Raises `UsageError` for an unknown site or a URL that is missing or no web address."""
    from bridge.chat import profiles

    address = choices.url or profiles.load(choices.site).url
    if address is not None:
        profiles.origin_of(address)
    elif choices.site != "demo":
        raise UsageError(f"The site {choices.site!r} has no address of its own; give one with --url.")
