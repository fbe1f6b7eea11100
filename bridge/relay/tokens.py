"""Who may come in: secrets that never print themselves, compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bridge.relay.limits import CODE_SECONDS, MAX_CODES
from bridge.relay.messages import Role

TOKEN_BYTES = 32


def new_token() -> str:
    """32 random bytes as URL-safe text."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def proof(server_key: str, nonce: str) -> str:
    """What shows that a bridge knows `server_key`: HMAC-SHA256 of the nonce's UTF-8 bytes, 64 hex digits."""
    return hmac.new(server_key.encode("utf-8"), nonce.encode("utf-8"), hashlib.sha256).hexdigest()


@dataclass(frozen=True, slots=True)
class Grant:
    """What a secret opens: a role, in one workspace (None for discovery). `viewer` names a viewer to controllers."""

    role: Role
    workspace: Path | None = None
    viewer: str | None = None


@dataclass(slots=True)
class _Code:
    secret: bytes = field(repr=False)
    grant: Grant
    expires: float


class Vault:
    """The live secrets of one run of the bridge. `clock` gives seconds that only rise."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._discovery = new_token()
        self._workspaces: dict[Path, str] = {}
        self._codes: list[_Code] = []

    def __repr__(self) -> str:
        return f"<Vault of {len(self._workspaces)} workspaces>"

    @property
    def discovery_token(self) -> str:
        return self._discovery

    def workspace_token(self, workspace: Path) -> str:
        """The controller token of `workspace`, the same for the whole run."""
        return self._workspaces.setdefault(workspace, new_token())

    def viewer_code(self, workspace: Path) -> tuple[str, Grant]:
        """A code that lets one viewer in, once, within `CODE_SECONDS`."""
        secret, grant = new_token(), Grant("viewer", workspace, secrets.token_hex(8))
        self._codes = [*self._fresh(), _Code(secret.encode("ascii"), grant, self._clock() + CODE_SECONDS)][-MAX_CODES:]
        return secret, grant

    def admit(self, secret: bytes) -> Grant | None:
        """The grant of `secret`, or None. Looks at every live secret, however early one fits; a code is used up."""
        found: Grant | None = None
        if hmac.compare_digest(self._discovery.encode("ascii"), secret):
            found = Grant("discovery")
        for workspace, token in self._workspaces.items():
            if hmac.compare_digest(token.encode("ascii"), secret):
                found = Grant("controller", workspace)
        self._codes = self._fresh()
        for code in [*self._codes]:
            if hmac.compare_digest(code.secret, secret):
                found = code.grant
                self._codes.remove(code)
        return found

    def _fresh(self) -> list[_Code]:
        now = self._clock()
        return [code for code in self._codes if code.expires > now]
