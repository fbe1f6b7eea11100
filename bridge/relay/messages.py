"""Every message of the relay, once: the server checks with these models, TypeScript types are made from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Role = Literal["discovery", "viewer", "controller"]
State = Literal[
    "idle",
    "sending",
    "waiting",
    "replying",
    "running_tool",
    "asking",
    "settled",
    "needs_user",
    "done",
    "failed",
    "cancelled",
]
"""The states of a `state` event: `{state, reason?, message?}`."""

Identifier = Annotated[str, Field(min_length=1, max_length=200)]
SAFE_INTEGER = 2**53 - 1


class Params(BaseModel):
    """What a client sends: exact types, nothing unknown."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Result(BaseModel):
    """What the bridge says: exactly these fields. A client takes a newer bridge's further ones without a word."""

    model_config = ConfigDict(extra="ignore", frozen=True, json_schema_extra={"additionalProperties": False})


class ClientInfo(Params):
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    name: Identifier
    version: Annotated[str, Field(max_length=200)]


class Last(Params):
    """The last durable event that a client has; `seq` 0 with any `journal_id` asks for everything."""

    journal_id: Annotated[str, Field(max_length=200)]
    seq: Annotated[int, Field(ge=0, le=SAFE_INTEGER)]


class InitializeParams(Params):
    """The first message of a connection. Without `last` events start from now. Later additions are ignored."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    client: ClientInfo
    capabilities: dict[str, Any] = {}
    nonce: Annotated[str, Field(min_length=16, max_length=256)]
    last: Last | None = None


class Session(Result):
    """One session. Times are seconds since the epoch; `events`, `calls` and `prompts` are counts."""

    session: str
    workspace: str | None
    site: str | None
    title: str | None
    started: float
    last: float
    state: str
    events: int
    calls: int
    prompts: int


class Approval(Result):
    """A call that waits for an answer: the data of `call.asking`, with where it belongs."""

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


class InitializeResult(Result):
    """`proof` is HMAC-SHA256 (hex) of the nonce's UTF-8 bytes under the UTF-8 bytes of `server_key`.

    `workspace` is None for a discovery connection; `viewer` names a viewer for `inspector/promote`.
    """

    version: str
    proof: str
    journal_id: str
    seq: int
    role: Role
    workspace: str | None
    viewer: str | None
    sessions: list[Session]
    approvals: list[Approval]


class WorkspaceOpenParams(Params):
    path: Annotated[str, Field(min_length=1, max_length=4096)]


class WorkspaceOpenResult(Result):
    workspace: str
    token: str = Field(repr=False)


class TaskStartParams(Params):
    """`dialect` names how calls are written, else `provider` and `xml` choose it; `multi` runs all calls of a reply."""

    task: Annotated[str, Field(min_length=1)]
    site: Identifier | None = None
    url: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    dialect: Identifier | None = None
    mode: Literal["plan", "act"] | None = None
    approve: Literal["ask", "edits", "auto", "none"] | None = None
    new_chat: bool = True
    max_iterations: Annotated[int, Field(ge=1, le=1000)] | None = None
    provider: Annotated[str, Field(max_length=200)] | None = None
    xml: bool | None = None
    multi: bool | None = None


class TaskStartResult(Result):
    session: str
    task: str


class TaskCancelParams(Params):
    task: Identifier


class TaskCancelResult(Result):
    """False: no such task runs in this workspace."""

    cancelled: bool


class ApprovalAnswerParams(Params):
    id: Identifier
    digest: Identifier
    decision: Literal["approve", "deny"]
    reason: Annotated[str, Field(max_length=10_000)] | None = None


class ApprovalAnswerResult(Result):
    outcome: Literal["accepted", "already_answered", "digest_mismatch", "unknown"]


class SessionListParams(Params):
    """No parameters."""


class SessionListResult(Result):
    sessions: list[Session]


class SessionGetParams(Params):
    session: Identifier
    after: Annotated[int, Field(ge=0, le=SAFE_INTEGER)] = 0
    limit: Annotated[int, Field(ge=1, le=500)] = 500


class EventMessage(Result):
    """A durable event (notification `event`). `cause` is the `seq` of the event that led to it."""

    v: int
    journal_id: str
    seq: int
    time: float
    session: str
    type: str
    task: str | None
    turn: int | None
    call: str | None
    cause: int | None
    data: dict[str, Any]


class SessionGetResult(Result):
    """`more`: ask again with `after` = the last event's `seq`."""

    session: Session
    events: list[EventMessage]
    more: bool


class ToolsListParams(Params):
    """No parameters."""


class Tool(Result):
    name: str
    description: str
    parameters: dict[str, Any]


class ToolsListResult(Result):
    tools: list[Tool]


class SiteListParams(Params):
    """No parameters."""


class Site(Result):
    name: str
    title: str
    url: str | None = None


class SiteListResult(Result):
    sites: list[Site]


class InspectorOpenParams(Params):
    session: Identifier | None = None


class InspectorOpenResult(Result):
    """`url` holds a one-time code in its fragment, good for `seconds`; `viewer` names who will come with it."""

    url: str = Field(repr=False)
    viewer: str
    seconds: float


class InspectorPromoteParams(Params):
    viewer: Identifier


class InspectorPromoteResult(Result):
    """False: no such viewer is connected."""

    promoted: bool


class DeltaMessage(Result):
    """A live piece of a running turn (notification `delta`): what stands at `offset` (characters) of its text.

    An offset below what is known replaces from there on.
    """

    session: str
    task: str
    turn: int
    type: Literal["reply.delta", "call.progress"]
    offset: int
    text: str
    data: dict[str, Any] = {}


class ShutdownParams(Params):
    """No parameters."""


class ShutdownResult(Result):
    """The bridge ends after this answer."""
