"""The little of HTTP/1.1 that the demo page needs: read a request, write a response or an event stream."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from bridge.demo.limits import MAX_BODY_BYTES, MAX_HEADER_BYTES

REASONS = {
    200: "OK",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    421: "Misdirected Request",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
}

SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class HttpError(Exception):
    """A request that is refused: `status` and one sentence."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `received_ns` is the monotonic time of its first byte; header names are lower case."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    received_ns: int

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    def get(self, name: str) -> str:
        return next(iter(self.all(name)), "")

    def json(self) -> dict[str, Any]:
        """The body as a JSON object; raises `HttpError` 415 or 400."""
        if self.get("content-type").partition(";")[0].strip().lower() != "application/json":
            raise HttpError(415, "the body must be application/json")
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise HttpError(400, f"the body is not JSON: {error}") from None
        if not isinstance(value, dict):
            raise HttpError(400, "the body must be a JSON object")
        return value


@dataclass(frozen=True, slots=True)
class Response:
    """A complete answer."""

    status: int = 200
    body: bytes = b""
    type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
        """`value` as JSON."""
        return cls(status, json.dumps(value).encode(), headers=headers or {})

    def encode(self) -> bytes:
        return head(self.status, self.type, {**self.headers, "Content-Length": str(len(self.body))}) + self.body


def head(status: int, kind: str, extra: dict[str, str]) -> bytes:
    """Status line and headers, with the security headers always there."""
    lines = [f"HTTP/1.1 {status} {REASONS[status]}", f"Content-Type: {kind}"]
    lines += [f"{name}: {value}" for name, value in {**SECURITY_HEADERS, **extra}.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request of a connection, `None` when it is closed; raises `HttpError`."""
    first = await reader.read(1)
    if not first:
        return None
    received_ns = time.monotonic_ns()
    try:
        text = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.LimitOverrunError:
        raise HttpError(431, f"the request head is over {MAX_HEADER_BYTES} bytes") from None
    start, *lines = text[:-4].split("\r\n")
    parts = start.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        raise HttpError(400, "this is not an HTTP/1.1 request")
    pairs = (line.partition(":") for line in lines)
    headers = tuple((name.strip().lower(), value.strip()) for name, _, value in pairs)
    request = Request(parts[0], unquote(urlsplit(parts[1]).path), headers, b"", received_ns)
    return Request(request.method, request.path, headers, await _read_body(reader, request), received_ns)


async def _read_body(reader: asyncio.StreamReader, request: Request) -> bytes:
    if request.get("transfer-encoding"):
        raise HttpError(400, "a request body needs a Content-Length")
    length = request.get("content-length") or "0"
    if not (length.isascii() and length.isdigit()):
        raise HttpError(400, "Content-Length is not a number")
    if len(length) > 12 or int(length) > MAX_BODY_BYTES:
        raise HttpError(413, f"the body is over {MAX_BODY_BYTES} bytes")
    return await reader.readexactly(int(length))


class EventStream:
    """A `text/event-stream` answer in chunked encoding on a kept-alive connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        writer.write(head(200, "text/event-stream; charset=utf-8", {"Transfer-Encoding": "chunked"}))

    @property
    def gone(self) -> bool:
        """The browser has let go: Stop was pressed, or the page was closed."""
        return self._reader.at_eof() or self._writer.is_closing()

    async def send(self, data: str) -> None:
        self._writer.write(_chunk(f"data: {data}\n\n"))
        await self._writer.drain()

    def end(self, data: str | None) -> int:
        """Send the last event (if any) and the end of the body; the monotonic ns after the last byte was written."""
        self._writer.write((_chunk(f"data: {data}\n\n") if data is not None else b"") + b"0\r\n\r\n")
        return time.monotonic_ns()

    def drop(self) -> int:
        """Break the connection in the middle of the body."""
        self._writer.transport.abort()
        return time.monotonic_ns()


def _chunk(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"
