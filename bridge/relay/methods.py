"""Which methods there are, what each takes and gives, and who may call it."""

from __future__ import annotations

from dataclasses import dataclass

from bridge.relay import messages as m

_ALL: tuple[m.Role, ...] = ("discovery", "viewer", "controller")
_READERS: tuple[m.Role, ...] = ("viewer", "controller")
_ENTRANCE: tuple[m.Role, ...] = ("discovery", "controller")
_CONTROLLER: tuple[m.Role, ...] = ("controller",)


@dataclass(frozen=True, slots=True)
class Method:
    params: type[m.Params]
    result: type[m.Result]
    roles: tuple[m.Role, ...]


METHODS: dict[str, Method] = {
    "initialize": Method(m.InitializeParams, m.InitializeResult, _ALL),
    "workspace/open": Method(m.WorkspaceOpenParams, m.WorkspaceOpenResult, _ENTRANCE),
    "task/start": Method(m.TaskStartParams, m.TaskStartResult, _CONTROLLER),
    "task/cancel": Method(m.TaskCancelParams, m.TaskCancelResult, _CONTROLLER),
    "approval/answer": Method(m.ApprovalAnswerParams, m.ApprovalAnswerResult, _CONTROLLER),
    "session/list": Method(m.SessionListParams, m.SessionListResult, _READERS),
    "session/get": Method(m.SessionGetParams, m.SessionGetResult, _READERS),
    "tools/list": Method(m.ToolsListParams, m.ToolsListResult, _READERS),
    "site/list": Method(m.SiteListParams, m.SiteListResult, _READERS),
    "inspector/open": Method(m.InspectorOpenParams, m.InspectorOpenResult, _CONTROLLER),
    "inspector/promote": Method(m.InspectorPromoteParams, m.InspectorPromoteResult, _CONTROLLER),
    "shutdown": Method(m.ShutdownParams, m.ShutdownResult, _ENTRANCE),
}

NOTIFICATIONS: dict[str, type[m.Result]] = {"event": m.EventMessage, "delta": m.DeltaMessage}
