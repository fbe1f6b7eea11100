"""A service with nobody behind it: what was recorded may be read, nothing can be started."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from bridge.errors import UsageError
from bridge.journal import Archive
from bridge.relay.service import (
    AnswerOutcome,
    ApprovalDecision,
    EphemeralHandler,
    PendingApproval,
    TaskRequest,
    TaskStarted,
)
from tool_manager.models import ToolSpec


class RecordedService:
    """Implements `Service` over a journal that nobody writes to here. Close the archive yourself."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    @property
    def journal(self) -> Archive:
        return self._archive

    async def open_workspace(self, path: Path) -> Path:
        """Any path that sessions were recorded for: the directory itself may be gone."""
        return await asyncio.to_thread(path.resolve)

    async def start_task(self, workspace: Path, request: TaskRequest) -> TaskStarted:
        self._refuse()

    async def cancel_task(self, workspace: Path, task: str) -> bool:
        return False

    async def answer_approval(
        self, workspace: Path, approval: str, digest: str, decision: ApprovalDecision, reason: str | None, by: str
    ) -> AnswerOutcome:
        return "unknown"

    def pending_approvals(self, workspace: Path) -> list[PendingApproval]:
        return []

    def tools(self, workspace: Path) -> list[ToolSpec]:
        return []

    def sites(self) -> list[dict[str, Any]]:
        return []

    def on_ephemeral(self, handler: EphemeralHandler) -> Callable[[], None]:
        return lambda: None

    def _refuse(self) -> NoReturn:
        raise UsageError("This is a recording; start a bridge with: tabferry serve")
