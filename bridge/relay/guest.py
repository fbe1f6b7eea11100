"""A socket that has not shown its token yet, and the cap on how many of them there may be."""

from __future__ import annotations

import asyncio
from typing import Any

from websockets.asyncio.server import ServerConnection

from bridge.relay.limits import MAX_UNAUTHENTICATED
from bridge.relay.tokens import Grant


class Guest(ServerConnection):
    """A server connection that counts itself among the strangers, oldest first, until it is welcomed or gone."""

    def __init__(self, strangers: dict[Guest, None], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._strangers = strangers
        self.grant: Grant | None = None
        """Set by the handshake; a guest without it never reaches the handler."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if len(self._strangers) >= MAX_UNAUTHENTICATED:
            # The oldest has had its time. Dropping the newcomer would let idle sockets keep everybody out.
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            oldest.transport.abort()
        self._strangers[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._strangers.pop(self, None)
        super().connection_lost(exc)

    def welcome(self) -> Grant:
        """The grant; no stranger any more."""
        self._strangers.pop(self, None)
        assert self.grant is not None
        return self.grant
