"""A Python client of a running bridge: `ask` uses it when a bridge lives already, and so do the tests."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from bridge.errors import UsageError
from bridge.relay.discovery import Announcement, Stale
from bridge.relay.errors import RelayClosed, RelayError
from bridge.relay.limits import CLIENT_QUEUE, CLOSE_TIMEOUT_S, HANDSHAKE_SECONDS, MAX_CLIENT_FRAME
from bridge.relay.messages import InitializeResult
from bridge.relay.tokens import proof


@dataclass(frozen=True, slots=True)
class Notification:
    """`event` or `delta` with its params."""

    method: str
    params: dict[str, Any]


class RelayClient:
    """One connection. `await client.call(method, params)`; `async for notification in client`; `async with` closes it.

    Notifications wait in a bounded queue: a reader that falls too far behind is cut off (`RelayClosed`) and reconnects
    with `last`.
    """

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._notifications: asyncio.Queue[Notification | None] = asyncio.Queue(CLIENT_QUEUE)
        self._next_id = 0
        self._over = False
        self._reading = asyncio.create_task(self._read())
        self.initialized: InitializeResult

    @classmethod
    async def connect(
        cls, bridge: Announcement, *, name: str = "tabferry", version: str = "0", last: dict[str, Any] | None = None
    ) -> Self:
        """Connect with the announcement's token, check the proof, initialize.

        `last` is `{"journal_id", "seq"}` of the last event known. Raises `RelayClosed` when nobody answers (a server
        that cannot prove itself counts as nobody), `RelayError` when the bridge refuses, `UsageError` when it is of
        another version.
        """
        try:
            async with asyncio.timeout(HANDSHAKE_SECONDS):
                return await cls._connect(bridge, name, version, last)
        except (Stale, TimeoutError) as error:
            raise RelayClosed(f"The bridge of process {bridge.pid} does not answer: {error or 'timeout'}.") from error

    @classmethod
    async def open(cls, bridge: Announcement, workspace: Path, **options: Any) -> Self:
        """From a discovery announcement to a controller of `workspace`. `options` and errors as for `connect`."""
        async with await cls.connect(bridge) as entrance:
            opened = await entrance.call("workspace/open", {"path": _absolute(workspace)})
        return await cls.connect(replace(bridge, token=str(opened["token"])), **options)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def call(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result. Raises `RelayError` for an error answer, `RelayClosed` when the connection ends."""
        if self._over:
            raise RelayClosed("The connection to the bridge is closed.")
        self._next_id += 1
        identifier = self._next_id
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._answers[identifier] = answer
        message = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params or {}}
        try:
            await self._socket.send(json.dumps(message))
            return await answer
        except ConnectionClosed as error:
            raise RelayClosed("The connection to the bridge is closed.") from error
        finally:
            self._answers.pop(identifier, None)

    async def __aiter__(self) -> AsyncIterator[Notification]:
        """Notifications in order, until the connection ends."""
        while (notification := await self._notifications.get()) is not None:
            yield notification

    async def close(self) -> None:
        await self._socket.close()
        await self._reading

    @classmethod
    async def _connect(cls, bridge: Announcement, name: str, version: str, last: dict[str, Any] | None) -> Self:
        client = cls(await _dial(bridge))
        try:
            await client._initialize(bridge, name, version, last)
        except BaseException:
            await client.close()
            raise
        return client

    async def _initialize(self, bridge: Announcement, name: str, version: str, last: dict[str, Any] | None) -> None:
        nonce = secrets.token_urlsafe(24)
        params: dict[str, Any] = {"client": {"name": name, "version": version}, "capabilities": {}, "nonce": nonce}
        answer = await self.call("initialize", params | ({"last": last} if last else {}))
        shown = str(answer.get("proof", ""))
        if not hmac.compare_digest(shown.encode("utf-8"), proof(bridge.server_key, nonce).encode("utf-8")):
            raise Stale("another program answers at its address")
        try:
            self.initialized = InitializeResult.model_validate(answer)
        except ValueError as error:
            raise UsageError(
                f"The bridge of process {bridge.pid} is of another version; end it with: kill {bridge.pid}"
            ) from error

    async def _read(self) -> None:
        try:
            async for frame in self._socket:
                self._take(json.loads(frame))
        except (ConnectionClosed, asyncio.QueueFull):
            pass
        except (ValueError, KeyError, TypeError, RecursionError):
            pass  # not a bridge: it is left alone
        finally:
            self._over = True
            self._end()
            await self._socket.close()

    def _take(self, message: Any) -> None:
        if not isinstance(message, dict):
            raise ValueError("not a message")
        if "method" in message:
            self._notifications.put_nowait(Notification(str(message["method"]), dict(message["params"])))
            return
        answer = self._answers.get(message.get("id", -1))
        if answer is None or answer.done():
            return
        if "error" in message:
            error = message["error"]
            answer.set_exception(RelayError(int(error["code"]), str(error["message"]), error.get("data")))
        else:
            answer.set_result(dict(message["result"]))

    def _end(self) -> None:
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(RelayClosed("The connection to the bridge is closed."))
        with contextlib.suppress(asyncio.QueueEmpty):
            if self._notifications.full():
                self._notifications.get_nowait()
        self._notifications.put_nowait(None)


async def verify_bridge(bridge: Announcement) -> None:
    """Check that the announced bridge answers and proves itself. Raises `Stale`, or `TimeoutError` when unsure."""
    try:
        async with asyncio.timeout(HANDSHAKE_SECONDS):
            client = await RelayClient._connect(bridge, "tabferry", "0", None)
            await client.close()
    except (RelayError, RelayClosed) as error:
        raise Stale(str(error)) from error


def _absolute(path: Path) -> str:
    return str(path.absolute())


async def _dial(bridge: Announcement) -> ClientConnection:
    try:
        return await connect(
            bridge.url,
            additional_headers={"Authorization": f"Bearer {bridge.token}"},
            compression=None,
            max_size=MAX_CLIENT_FRAME,
            open_timeout=None,
            close_timeout=CLOSE_TIMEOUT_S,
            proxy=None,
        )
    except InvalidHandshake as error:
        raise Stale("its token is refused, or another program answers at its address") from error
    except (OSError, EOFError) as error:
        raise Stale("nobody answers at its address") from error
