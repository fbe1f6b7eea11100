"""The relay: how editors, terminals and the inspector page talk to a bridge. `docs/relay.md` is its contract."""

from bridge.relay.client import Notification, RelayClient
from bridge.relay.discovery import Announcement, find_live
from bridge.relay.errors import RelayClosed, RelayError
from bridge.relay.server import Relay
from bridge.relay.service import (
    AnswerOutcome,
    ApprovalDecision,
    Ephemeral,
    EphemeralHandler,
    PendingApproval,
    Service,
    TaskRequest,
    TaskStarted,
)

__all__ = [
    "Announcement",
    "AnswerOutcome",
    "ApprovalDecision",
    "Ephemeral",
    "EphemeralHandler",
    "Notification",
    "PendingApproval",
    "Relay",
    "RelayClient",
    "RelayClosed",
    "RelayError",
    "Service",
    "TaskRequest",
    "TaskStarted",
    "find_live",
]
