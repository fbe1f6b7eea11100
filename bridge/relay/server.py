"""The websocket server: loopback only, every stranger refused before a byte of state is sent."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import quote

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from bridge.errors import UsageError
from bridge.journal import Subscription
from bridge.relay import handshake, limits, page
from bridge.relay.connection import TASK_OVER, TURN_OVER, Connection
from bridge.relay.deltas import LiveTexts
from bridge.relay.desk import Desk, Seat
from bridge.relay.discovery import Announcement, Discovery
from bridge.relay.guest import Guest
from bridge.relay.idle import IdleClock
from bridge.relay.service import Service
from bridge.relay.tokens import Vault, new_token

log = logging.getLogger(__name__)
# websockets logs headers, and with them tokens, at debug level and when a request is malformed.
_LOOPBACK = ("127.0.0.1", "::1")
_silent = logging.Logger("bridge.relay.silent", logging.CRITICAL + 1)


class Relay:
    """Serves `service` on 127.0.0.1. `async with`, or `start()` and `close()`.

    `runtime_dir` (None: not announced) is where the discovery file goes. After `idle_seconds` (None: never) without a
    client or a running task it asks for its own shutdown. Raises `UsageError` when the address is not loopback or the
    port is taken.
    """

    def __init__(
        self,
        service: Service,
        *,
        version: str,
        runtime_dir: Path | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        send_timeout: float = limits.SEND_TIMEOUT_S,
        idle_seconds: float | None = None,
    ) -> None:
        self._service = service
        self._version = version
        self._host = host
        self._port = port
        self._send_timeout = send_timeout
        self._idle_seconds = idle_seconds
        self._server_key = new_token()
        self._vault = Vault()
        self._texts = LiveTexts()
        self._desk = Desk(service, self._vault, self._server_key, version, self._page_url)
        self._discovery = Discovery(runtime_dir) if runtime_dir else None
        self._strangers: dict[Guest, None] = {}
        self._exit = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def port(self) -> int:
        return self._port

    @property
    def url(self) -> str:
        return f"ws://{self._address}/"

    @property
    def _address(self) -> str:
        return f"[{self._host}]:{self._port}" if ":" in self._host else f"{self._host}:{self._port}"

    @property
    def clients(self) -> int:
        """Connections that were let in."""
        return len(self._desk.seats)

    async def start(self) -> None:
        try:
            await self._start()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Take the announcement back, close every connection, and end. May be called twice."""
        await self._exit.aclose()

    async def wait_shutdown(self) -> None:
        """Return when a client has asked for `shutdown`, or nobody needs the bridge any more."""
        await self._desk.shutdown.wait()

    async def announcement(self, workspace: Path) -> Announcement:
        """What `serve --announce` prints: this bridge, with the controller token of `workspace`."""
        _, token = await self._desk.open_workspace(workspace)
        return self._announce(token)

    async def inspector_url(self, workspace: Path, session: str | None = None) -> str:
        """The page's address with a fresh one-time code for a viewer of `workspace`."""
        real = await self._service.open_workspace(workspace)
        return self._page_url(self._vault.viewer_code(real)[0], session)

    async def _start(self) -> None:
        server = await self._listen()
        self._exit.push_async_callback(self._stop, server)
        self._port = next(iter(server.sockets)).getsockname()[1]
        self._idle = IdleClock(self._idle_seconds, self._desk.shutdown.set)
        self._exit.callback(self._idle.stop)
        subscription = self._service.journal.subscribe()
        settling = asyncio.create_task(self._settle(subscription))
        self._exit.callback(settling.cancel)
        self._exit.callback(subscription.close)
        self._exit.callback(self._service.on_ephemeral(self._texts.take))
        if self._discovery:
            self._discovery.write(self._announce(self._vault.discovery_token))
            self._exit.callback(self._discovery.remove)

    async def _listen(self) -> Server:
        if self._host not in _LOOPBACK:
            raise UsageError(f"The relay listens on loopback only, not on {self._host}; use 127.0.0.1.")
        try:
            return await serve(
                self._welcome,
                self._host,
                self._port,
                process_request=self._admit,
                select_subprotocol=_select_subprotocol,
                create_connection=cast(type[ServerConnection], self._connect),
                open_timeout=limits.OPEN_TIMEOUT_S,
                close_timeout=limits.CLOSE_TIMEOUT_S,
                compression=None,
                max_size=limits.MAX_FRAME,
                max_queue=limits.MAX_QUEUED_FRAMES,
                server_header=None,
                logger=_silent,
            )
        except OSError as error:
            raise UsageError(
                f"Port {self._port} of {self._host} is taken; leave the port out to get a free one."
            ) from error

    async def _stop(self, server: Server) -> None:
        server.close()
        for socket in [*self._strangers]:
            socket.transport.abort()
        await server.wait_closed()

    def _connect(self, *args: Any, **kwargs: Any) -> ServerConnection:
        return Guest(self._strangers, *args, **kwargs)

    def _admit(self, socket: ServerConnection, request: Request) -> Response | None:
        """`process_request`: None lets the websocket handshake go on."""
        assert isinstance(socket, Guest)
        headers = {name.lower(): request.headers.get_all(name) for name in request.headers}
        decision = handshake.decide(headers, request.path, self._port, self._vault.admit)
        if isinstance(decision, handshake.Refusal):
            log.warning("refused a connection with status %d", decision.status)
            return _plain(decision.status, decision.sentence)
        if isinstance(decision, handshake.Page):
            method = getattr(request, "method", "GET")  # websockets 15 refuses every other one by itself
            return page.response(headers["host"][0]) if method == "GET" else _plain(405, "Only GET is answered.")
        socket.grant = decision
        return None

    async def _welcome(self, socket: ServerConnection) -> None:
        assert isinstance(socket, Guest)
        seat = Seat.of(socket.welcome())
        self._desk.seats.add(seat)
        self._idle.busy(seat)
        try:
            await Connection(socket, seat, self._desk, self._texts, self._send_timeout).run()
        finally:
            self._desk.seats.discard(seat)
            self._idle.free(seat)

    async def _settle(self, subscription: Subscription) -> None:
        """Watch every workspace's events for what ends a running reply or a task."""
        over: set[str | None] = set()
        async for event in subscription:
            if event.type in TURN_OVER:
                self._texts.settle(event.session)
            if event.type in TASK_OVER:
                over.add(event.task)
                self._idle.free(event.task)
            elif event.task is not None and event.task not in over:
                self._idle.busy(event.task)

    def _announce(self, token: str) -> Announcement:
        return Announcement(self.url, os.getpid(), token, self._server_key, self._version)

    def _page_url(self, code: str, session: str | None) -> str:
        suffix = f"&session={quote(session, safe='')}" if session else ""
        return f"http://{self._address}/#code={code}{suffix}"


def _select_subprotocol(socket: ServerConnection, offers: Sequence[Subprotocol]) -> Subprotocol | None:
    """Echo our own name where it was offered; never a token."""
    return Subprotocol(handshake.SUBPROTOCOL) if handshake.SUBPROTOCOL in offers else None


def _plain(status: int, sentence: str) -> Response:
    phrase = HTTPStatus(status).phrase
    return page.answer(status, phrase, f"{sentence}\n".encode(), "text/plain; charset=utf-8")
