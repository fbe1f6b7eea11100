"""What can go wrong between a client and the bridge: JSON-RPC's own codes and ours."""

from __future__ import annotations

from typing import Any

from bridge.errors import JournalError, NeedsUser, TabferryError, UsageError

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
FAILED = -32000
FORBIDDEN = -32001
NOT_INITIALIZED = -32002
USAGE = -32003
NEEDS_USER = -32004
JOURNAL = -32005

CODES: dict[str, int] = {
    "parse_error": PARSE_ERROR,
    "invalid_request": INVALID_REQUEST,
    "method_not_found": METHOD_NOT_FOUND,
    "invalid_params": INVALID_PARAMS,
    "internal_error": INTERNAL_ERROR,
    "failed": FAILED,
    "forbidden": FORBIDDEN,
    "not_initialized": NOT_INITIALIZED,
    "usage": USAGE,
    "needs_user": NEEDS_USER,
    "journal": JOURNAL,
}


class RelayError(TabferryError):
    """An error answer: `code` as above, `data` what a machine may need (`exit_code`, `reason`)."""

    def __init__(self, code: int, message: str, data: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data
        if data and isinstance(data.get("exit_code"), int):
            self.exit_code = data["exit_code"]


class RelayClosed(TabferryError):
    """The connection to the bridge ended; reconnect with `last`."""


def as_relay_error(error: TabferryError) -> RelayError:
    """The answer for an error that the service raised."""
    if isinstance(error, RelayError):
        return error
    data: dict[str, Any] = {"exit_code": error.exit_code}
    if isinstance(error, NeedsUser):
        return RelayError(NEEDS_USER, str(error), {**data, "reason": error.reason})
    if isinstance(error, UsageError):
        return RelayError(USAGE, str(error), data)
    if isinstance(error, JournalError):
        return RelayError(JOURNAL, str(error), data)
    return RelayError(FAILED, str(error), data)
