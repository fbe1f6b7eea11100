"""What each method does: the relay's words translated into the service's, one workspace at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bridge.errors import UsageError
from bridge.journal import Subscription
from bridge.journal.encoding import safe_data
from bridge.relay import messages as m
from bridge.relay.errors import FORBIDDEN, RelayError
from bridge.relay.limits import CODE_SECONDS, EVENTS_LISTED, SESSIONS_LISTED
from bridge.relay.service import Service, TaskRequest
from bridge.relay.tokens import Grant, Vault, proof


@dataclass(slots=True, eq=False)
class Seat:
    """One connection's rights. A controller may raise a viewer's role; the workspace never changes."""

    role: m.Role
    workspace: Path | None
    viewer: str | None
    client: str = ""

    @classmethod
    def of(cls, grant: Grant) -> Seat:
        return cls(grant.role, grant.workspace, grant.viewer)

    @property
    def bound(self) -> Path:
        """The workspace; raises `RelayError` for a connection that has none."""
        if self.workspace is None:
            raise RelayError(FORBIDDEN, "This connection is bound to no workspace; call workspace/open first.")
        return self.workspace


class Desk:
    """Answers for every connection. `page_url` makes the inspector's address from a code and a session."""

    def __init__(
        self, service: Service, vault: Vault, server_key: str, version: str, page_url: Callable[[str, str | None], str]
    ) -> None:
        self._service = service
        self._vault = vault
        self._server_key = server_key
        self._version = version
        self._page_url = page_url
        self.shutdown = asyncio.Event()
        self.seats: set[Seat] = set()
        self._serve: dict[type[m.Params], Callable[[Seat, Any], Awaitable[m.Result]]] = {
            m.WorkspaceOpenParams: self._workspace_open,
            m.TaskStartParams: self._task_start,
            m.TaskCancelParams: self._task_cancel,
            m.ApprovalAnswerParams: self._approval_answer,
            m.SessionGetParams: self._session_get,
            m.InspectorOpenParams: self._inspector_open,
            m.InspectorPromoteParams: self._inspector_promote,
            m.SessionListParams: self._session_list,
            m.ToolsListParams: self._tools_list,
            m.SiteListParams: self._site_list,
            m.ShutdownParams: self._shutdown,
        }

    async def serve(self, seat: Seat, params: m.Params) -> m.Result:
        return await self._serve[type(params)](seat, params)

    async def initialize(
        self, seat: Seat, params: m.InitializeParams
    ) -> tuple[m.InitializeResult, Subscription | None]:
        """The answer, and the events that follow it (None for a discovery connection)."""
        journal, workspace = self._service.journal, seat.workspace
        seat.client = params.client.name
        sessions = await self._sessions(workspace) if workspace else []
        head = journal.head
        subscription = None
        if workspace:
            after = _after(params.last, journal.id, head)
            subscription = journal.subscribe(workspace=str(workspace), after=after)
        result = m.InitializeResult(
            version=self._version,
            proof=proof(self._server_key, params.nonce),
            journal_id=journal.id,
            seq=head,
            role=seat.role,
            workspace=str(workspace) if workspace else None,
            viewer=seat.viewer,
            sessions=sessions,
            approvals=self._approvals(workspace) if workspace else [],
        )
        return result, subscription

    async def open_workspace(self, path: Path) -> tuple[Path, str]:
        """The real path and the controller token of a workspace. Raises `UsageError`."""
        workspace = await self._service.open_workspace(path)
        return workspace, self._vault.workspace_token(workspace)

    async def _workspace_open(self, seat: Seat, params: m.WorkspaceOpenParams) -> m.Result:
        path = Path(params.path)
        if not path.is_absolute() or "\0" in params.path:
            raise UsageError("A workspace is named by its absolute path.")
        workspace, token = await self._open_for(seat, path)
        return m.WorkspaceOpenResult(workspace=str(workspace), token=token)

    async def _open_for(self, seat: Seat, path: Path) -> tuple[Path, str]:
        if seat.workspace is None:
            return await self.open_workspace(path)
        workspace = await self._service.open_workspace(path)
        if workspace != seat.workspace:
            raise RelayError(FORBIDDEN, "This connection is bound to another workspace.")
        return workspace, self._vault.workspace_token(workspace)

    async def _task_start(self, seat: Seat, params: m.TaskStartParams) -> m.Result:
        started = await self._service.start_task(seat.bound, TaskRequest(**params.model_dump()))
        return m.TaskStartResult(session=started.session, task=started.task)

    async def _task_cancel(self, seat: Seat, params: m.TaskCancelParams) -> m.Result:
        return m.TaskCancelResult(cancelled=await self._service.cancel_task(seat.bound, params.task))

    async def _approval_answer(self, seat: Seat, params: m.ApprovalAnswerParams) -> m.Result:
        outcome = await self._service.answer_approval(
            seat.bound, params.id, params.digest, params.decision, params.reason, seat.client
        )
        return m.ApprovalAnswerResult(outcome=outcome)

    async def _session_list(self, seat: Seat, params: m.Params) -> m.Result:
        return m.SessionListResult(sessions=await self._sessions(seat.bound))

    async def _session_get(self, seat: Seat, params: m.SessionGetParams) -> m.Result:
        journal = self._service.journal
        if journal.workspace_of(params.session) != str(seat.bound):
            raise UsageError("There is no such session in this workspace.")
        limit = min(params.limit, EVENTS_LISTED)
        events = await journal.events(params.session, after=params.after, limit=limit + 1)
        (row,) = await journal.sessions(session=params.session)
        shown = [m.EventMessage(**event.as_dict()) for event in events[:limit]]
        return m.SessionGetResult(session=m.Session(**row.as_dict()), events=shown, more=len(events) > limit)

    async def _tools_list(self, seat: Seat, params: m.Params) -> m.Result:
        return m.ToolsListResult(tools=[m.Tool(**asdict(spec)) for spec in self._service.tools(seat.bound)])

    async def _site_list(self, seat: Seat, params: m.Params) -> m.Result:
        return m.SiteListResult(sites=[m.Site(**site) for site in self._service.sites()])

    async def _inspector_open(self, seat: Seat, params: m.InspectorOpenParams) -> m.Result:
        code, grant = self._vault.viewer_code(seat.bound)
        assert grant.viewer is not None
        return m.InspectorOpenResult(
            url=self._page_url(code, params.session), viewer=grant.viewer, seconds=CODE_SECONDS
        )

    async def _inspector_promote(self, seat: Seat, params: m.InspectorPromoteParams) -> m.Result:
        workspace = seat.bound
        found = [each for each in self.seats if each.viewer == params.viewer and each.workspace == workspace]
        for each in found:
            each.role = "controller"
        return m.InspectorPromoteResult(promoted=bool(found))

    async def _shutdown(self, seat: Seat, params: m.Params) -> m.Result:
        return m.ShutdownResult()

    async def _sessions(self, workspace: Path) -> list[m.Session]:
        rows = await self._service.journal.sessions(str(workspace), limit=SESSIONS_LISTED)
        return [m.Session(**row.as_dict()) for row in rows]

    def _approvals(self, workspace: Path) -> list[m.Approval]:
        pending = self._service.pending_approvals(workspace)
        return [m.Approval(**safe_data(approval)) for approval in pending]


def _after(last: m.Last | None, journal_id: str, head: int) -> int:
    """Where a client's events start: after its last one, from the beginning for another record, else from now."""
    if last is None:
        return head
    return last.seq if last.journal_id == journal_id and last.seq <= head else 0
