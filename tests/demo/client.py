"""A bare HTTP client for tests: sends exactly what it is told, and reads streams as they come."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """One kept-alive connection to the server at `url`."""

    def __init__(self, url: str) -> None:
        self.host = urlsplit(url).netloc

    async def __aenter__(self) -> Client:
        name, _, port = self.host.rpartition(":")
        self.reader, self.writer = await asyncio.open_connection(name, int(port))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.writer.close()

    async def send(self, method: str, path: str, body: Any = None, **headers: str) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        fields = {"Host": self.host, "Content-Length": str(len(data))}
        if body is not None:
            fields["Content-Type"] = "application/json"
        fields.update({name.replace("_", "-"): value for name, value in headers.items()})
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value)
        self.writer.write(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + data)
        await self.writer.drain()

    async def head(self) -> tuple[int, dict[str, str]]:
        async with asyncio.timeout(30):
            text = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        start, *lines = text[:-4].split("\r\n")
        pairs = (line.split(": ", 1) for line in lines)
        return int(start.split()[1]), {name.lower(): value for name, value in pairs}

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        await self.send(method, path, body, **headers)
        status, got = await self.head()
        return Answer(status, got, await self.reader.readexactly(int(got.get("content-length", "0"))))

    async def event(self) -> str | None:
        """The next event's data, `None` at the end of the body; `IncompleteReadError` when the connection broke."""
        async with asyncio.timeout(30):
            size = int(await self.reader.readuntil(b"\r\n"), 16)
            block = (await self.reader.readexactly(size + 2))[:-2].decode()
        if not size:
            return None
        assert block.startswith("data: ") and block.endswith("\n\n")
        return block[6:-2]

    async def message(self, chat: str, text: str) -> None:
        """Send a message and read the head of the answer."""
        await self.send("POST", f"/api/conversations/{chat}/messages", {"id": "m", "content": text})
        assert (await self.head())[0] == 200

    async def reply(self) -> tuple[str, bool]:
        """The rest of a reply and whether `[DONE]` ended it; both may be short of what was meant."""
        text, done = "", False
        while (data := await self.event()) is not None:
            if data == "[DONE]":
                done = True
            else:
                text += json.loads(data)["choices"][0]["delta"].get("content", "")
        return text, done
