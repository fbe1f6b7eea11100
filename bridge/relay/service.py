"""What the relay needs of the agent: the port that `bridge.agent.Bridge` implements and tests fake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from bridge.journal import Archive
from tool_manager.models import ToolSpec

ApprovalDecision = Literal["approve", "deny"]
AnswerOutcome = Literal["accepted", "already_answered", "digest_mismatch", "unknown"]


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """`task/start`: what to do, and the choices that differ from the configuration (None = leave).

    The dialect is named, or follows from `provider` and `xml` (A7).
    """

    task: str
    site: str | None = None
    url: str | None = None
    dialect: str | None = None
    mode: Literal["plan", "act"] | None = None
    approve: Literal["ask", "edits", "auto", "none"] | None = None
    new_chat: bool = True
    max_iterations: int | None = None
    provider: str | None = None
    xml: bool | None = None
    multi: bool | None = None


@dataclass(frozen=True, slots=True)
class TaskStarted:
    session: str
    task: str


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """A call that waits for a yes: `digest` covers arguments, diff and pre-state; an answer must repeat it."""

    id: str
    session: str
    task: str
    call: str
    tool: str
    args: dict[str, Any]
    diff: str | None
    rule: str
    reason: str
    digest: str


@dataclass(frozen=True, slots=True)
class Ephemeral:
    """`reply.delta` or `call.progress`: shown live, never stored. `offset` counts chars of the turn's text so far."""

    workspace: Path
    session: str
    task: str
    turn: int
    type: Literal["reply.delta", "call.progress"]
    offset: int
    text: str
    data: dict[str, Any] = field(default_factory=dict)


EphemeralHandler = Callable[[Ephemeral], None]


class Service(Protocol):
    """Every method is bound to one workspace; sessions of another are unknown to it (`UsageError`)."""

    @property
    def journal(self) -> Archive: ...

    async def open_workspace(self, path: Path) -> Path:
        """The real path of `path`; raises `UsageError` when it is missing or not a directory."""

    async def start_task(self, workspace: Path, request: TaskRequest) -> TaskStarted:
        """Start in the background; progress comes as events. Raises `UsageError` for a bad site, URL or dialect."""

    async def cancel_task(self, workspace: Path, task: str) -> bool:
        """False when no such task runs in this workspace."""

    async def answer_approval(
        self, workspace: Path, approval: str, digest: str, decision: ApprovalDecision, reason: str | None, by: str
    ) -> AnswerOutcome:
        """First valid answer wins; `by` is told to everybody."""

    def pending_approvals(self, workspace: Path) -> list[PendingApproval]: ...

    def tools(self, workspace: Path) -> list[ToolSpec]: ...

    def sites(self) -> list[dict[str, Any]]:
        """`[{"name", "title", "url"}]`."""

    def on_ephemeral(self, handler: EphemeralHandler) -> Callable[[], None]:
        """Call `handler` (on the event loop) for each ephemeral; returns what unsubscribes it."""
