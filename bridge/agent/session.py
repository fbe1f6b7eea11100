"""One chat on one workspace, and the tasks that run in it, each recorded from its start to its end."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from bridge.agent.approvals import Approver, Expect, expect_nothing
from bridge.agent.call import CallRunner
from bridge.agent.chat_holder import ChatHolder
from bridge.agent.choices import Choices, opening
from bridge.agent.effects import JournalEffects
from bridge.agent.guards import GuardLimits
from bridge.agent.limits import CLEANUP_S, TITLE_CHARS
from bridge.agent.loop import AgentLoop
from bridge.agent.record import JournalRecorder
from bridge.conversation import Conversation
from bridge.errors import ChatError, JournalError, NeedsUser, TabferryError
from bridge.journal import Journal
from bridge.protocol import ResponseParser, dialects
from bridge.relay.service import Ephemeral, EphemeralHandler
from tool_manager import ToolManager

_CHAT_UNSURE = frozenset({"delivery_unknown", "user_acted"})
"""Reasons after which nobody knows what the chat holds."""

Gate = Callable[["AgentSession"], AbstractAsyncContextManager[None]]
"""Lets one task at a time through to the chat."""


class AgentSession:
    """`run` tasks one after the other; `gate` keeps them, and those of other sessions on the same chat, apart."""

    def __init__(
        self,
        workspace: Path,
        choices: Choices,
        journal: Journal,
        holder: ChatHolder,
        gate: Gate,
        approver: Approver,
        *,
        expect: Expect = expect_nothing,
        tools: ToolManager | None = None,
        on_ephemeral: EphemeralHandler | None = None,
        bounds: GuardLimits | None = None,
    ) -> None:
        self.id = new_id("s")
        self.workspace = workspace
        self.choices = choices
        self._journal = journal
        self._holder = holder
        self._gate = gate
        self._dialect = dialects.get(choices.dialect)
        self._pen = JournalRecorder(journal, self.id)
        effects = JournalEffects(self._pen)
        self.tools = tools or ToolManager(workspace, approve=choices.approve, mode=choices.mode, effects=effects)
        self._owns_tools = tools is None
        self._calls = CallRunner(self.tools, self._pen, effects, approver, expect)
        self._on_ephemeral = on_ephemeral
        self._bounds = bounds or GuardLimits(iterations=choices.max_iterations)
        self._conversation: Conversation | None = None
        self._announced = False

    async def announce(self, task: str, task_id: str) -> None:
        """Record that `task` was taken on."""
        pen = JournalRecorder(self._journal, self.id)
        if not self._announced:
            self._note_start(pen, task)
        pen.task = task_id
        await pen.record("session.task_started", task=task)
        self._announced = True

    async def run(self, task: str, task_id: str) -> str:
        """Bring an announced task to its end: its answer, or the error that ended it; the journal holds both."""
        try:
            async with self._gate(self):
                answer = await self._work(task, task_id)
        except asyncio.CancelledError:
            await self._end(task_id, "session.task_cancelled", idle=True)
            raise
        except Exception as error:
            await self._fail(task_id, error)
            raise
        await self._end(task_id, "session.task_done", answer=answer)
        return answer

    def lose_chat(self) -> None:
        """The page shows another chat now: the next task begins a new one, with the system prompt."""
        self._conversation = None

    async def close(self) -> None:
        if self._owns_tools:
            await self.tools.aclose()

    async def _work(self, task: str, task_id: str) -> str:
        self._pen.task = task_id
        try:
            return await self._drive(task)
        except asyncio.CancelledError:
            await self._stop_page()
            raise
        except (ChatError, NeedsUser) as error:
            self._keep_or_leave(error)
            raise
        finally:
            with contextlib.suppress(JournalError):
                await self._pen.flush()

    async def _drive(self, task: str) -> str:
        text, tools = task, self.tools.specs(hidden=self._dialect.needs_call)
        if self._conversation is None:
            port = await self._holder.fresh(self.choices)
            self._conversation = Conversation(port, self._parser(), self._pen)
            text = f"{opening(self.choices, tools)}\n\nTASK: {task}"
        loop = AgentLoop(
            self._conversation,
            self._calls,
            self._dialect,
            self._pen,
            tools=tools,
            several=self._dialect.several or self.choices.multi,
            bounds=self._bounds,
            on_malformed=self.choices.on_malformed,
            on_delta=self._delta,
        )
        return await loop.run(text)

    def _parser(self) -> ResponseParser:
        return ResponseParser(self.choices.dialect, multi=self.choices.multi, tools=self.tools.specs(hidden=True))

    def _note_start(self, pen: JournalRecorder, task: str) -> None:
        choices = self.choices
        pen.note(
            "session.started",
            workspace=str(self.workspace),
            site=choices.site,
            url=choices.url,
            title=task.strip().splitlines()[0][:TITLE_CHARS],
            dialect=choices.dialect,
            multi=choices.multi,
            approve=choices.approve,
            mode=choices.mode,
        )

    async def _fail(self, task_id: str, error: Exception) -> None:
        sentence = str(error) if isinstance(error, TabferryError) else f"{type(error).__name__}: {error}"
        code = error.exit_code if isinstance(error, TabferryError) else 1
        with contextlib.suppress(JournalError):
            await self._end(
                task_id,
                "session.task_failed",
                idle=not isinstance(error, NeedsUser),
                error=sentence,
                exit_code=code,
                kind=type(error).__name__,
            )

    def _keep_or_leave(self, error: ChatError | NeedsUser) -> None:
        """After a failed page, and where the user or a lost message came between, the next task takes a new chat."""
        if isinstance(error, ChatError) or error.reason in _CHAT_UNSURE:
            self._conversation = None
        elif self._conversation is not None and self._conversation.machine.state != "needs_user":
            self._conversation.machine.need_user(error.reason)
            self._pen.note("state", state="needs_user", reason=error.reason, message=str(error))

    async def _end(self, task_id: str, type: str, *, idle: bool = False, **data: Any) -> None:
        pen = JournalRecorder(self._journal, self.id)
        pen.task = task_id
        if idle:
            pen.note("state", state="idle")
        await pen.record(type, **data)

    async def _stop_page(self) -> None:
        if self._holder.port is None:
            return
        with contextlib.suppress(TabferryError, TimeoutError):
            async with asyncio.timeout(CLEANUP_S):
                await self._holder.port.stop()

    def _delta(self, turn: int, offset: int, text: str) -> None:
        if self._on_ephemeral is not None:
            task = self._pen.task or ""
            self._on_ephemeral(Ephemeral(self.workspace, self.id, task, turn, "reply.delta", offset, text))


def new_id(prefix: str) -> str:
    """An id that nobody can guess: `s_…` for a session, `t_…` for a task, `a_…` for an approval."""
    return f"{prefix}_{secrets.token_hex(8)}"
