"""A small HTTP server on loopback that answers nobody but this machine's own pages."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from bridge.demo.http import EventStream, HttpError, Request, Response, read_request
from bridge.demo.limits import MAX_HEADER_BYTES

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Connection:
    """The two ends of a connection, for an answer that is streamed."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def stream(self) -> EventStream:
        """Begin a `text/event-stream` answer."""
        return EventStream(self.reader, self.writer)


class LoopbackServer:
    """Serves `handle` while its `async with` block runs; `url` ends in a slash. Raises `OSError` for a taken port."""

    def __init__(self, host: str, port: int) -> None:
        self._address = (host, port)
        self._connections: set[asyncio.Task[None]] = set()
        self._port = port
        self.url = ""

    async def handle(self, request: Request, connection: Connection) -> Response | None:
        """Answer a checked request: a response, or `None` when it was streamed. Raises `HttpError` to refuse."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        host, port = self._address
        self._server = await asyncio.start_server(self._connected, host, port, limit=MAX_HEADER_BYTES)
        self._port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{self._port}/"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(Connection(reader, writer)))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, connection: Connection) -> None:
        """One connection: request after request until either side closes it."""
        writer = connection.writer
        try:
            while not writer.is_closing() and await self._one(connection):
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the browser went away; nothing to answer
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _one(self, connection: Connection) -> bool:
        """Answer one request; `False` when the connection is over."""
        try:
            request = await read_request(connection.reader)
            if request is None:
                return False
            self._check(request)
            response = await self.handle(request, connection)
        except HttpError as error:
            refusal = Response.of({"error": str(error)}, error.status, {"Connection": "close"})
            connection.writer.write(refusal.encode())
            return False
        if response is not None:
            connection.writer.write(response.encode())
        return True

    def _check(self, request: Request) -> None:
        """Refuse what another site could make a browser send: a foreign Host (DNS rebinding) or Origin."""
        hosts = request.all("host")
        if len(hosts) != 1 or hosts[0].lower() not in {f"{name}:{self._port}" for name in LOOPBACK_NAMES}:
            raise HttpError(421, "this server answers to its own loopback address only")
        if any(origin != f"http://{hosts[0]}" for origin in request.all("origin")):
            raise HttpError(403, "requests from other origins are refused")
