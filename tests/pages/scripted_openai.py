"""An OpenAI-compatible endpoint with the demo's scripted model behind it, for third-party chat pages.

`python -m tests.pages.scripted_openai` runs it alone and prints `READY <base url>`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from bridge.demo import ScriptedModel
from bridge.demo.http import EventStream, HttpError, Request, Response
from bridge.demo.limits import CHUNK_CHARACTERS
from bridge.demo.loopback import Connection, LoopbackServer
from bridge.demo.model import chunks
from bridge.demo.reply import Model

NAME = "scripted"


@dataclass(slots=True)
class Exchange:
    """One completion.

    `received_ns`: first byte of the request; `replied_ns`: last byte of the reply written (0 while it streams), both
    `time.monotonic_ns()`; `text`: the newest message; `stopped`: the caller hung up.
    """

    received_ns: int
    text: str
    reply: str = ""
    replied_ns: int = 0
    stopped: bool = False


class ScriptedOpenAI(LoopbackServer):
    """`/v1/chat/completions` (streamed or not), `/v1/models` and `/log` on loopback; `log` is the same as an object.

    `delay` is seconds between two chunks, of which a reply has at most `pieces`.
    """

    def __init__(
        self, port: int = 0, model: Model | None = None, *, delay: float = 0.0, pieces: int | None = None
    ) -> None:
        super().__init__("127.0.0.1", port)
        self._model = model or ScriptedModel()
        self._delay = delay
        self._pieces = pieces
        self.log: list[Exchange] = []

    @property
    def base_url(self) -> str:
        return self.url + "v1"

    async def answer(self, messages: list[dict[str, str]]) -> str:
        """The reply to a conversation (`role`, `content`); it may take as long as whoever writes it takes."""
        return self._model.reply(messages)

    async def handle(self, request: Request, connection: Connection) -> Response | None:
        match request.method, request.path:
            case "GET", "/v1/models":
                return Response.of({"object": "list", "data": [{"id": NAME, "object": "model", "owned_by": "tests"}]})
            case "GET", "/log":
                return Response.of([asdict(exchange) for exchange in self.log])
            case "POST", "/v1/chat/completions":
                return await self._complete(request, connection)
        raise HttpError(404, "there is no such endpoint")

    async def _complete(self, request: Request, connection: Connection) -> Response | None:
        body = request.json()
        messages = _messages(body.get("messages"))
        exchange = Exchange(request.received_ns, messages[-1]["content"])
        self.log.append(exchange)
        answer = await self.answer(messages)
        if body.get("stream") is True:
            await self._stream(answer, exchange, connection.stream())
            return None
        exchange.reply, exchange.replied_ns = answer, time.monotonic_ns()
        message = {"role": "assistant", "content": answer}
        return Response.of(_envelope("chat.completion", {"message": message, "finish_reason": "stop"}))

    async def _stream(self, answer: str, exchange: Exchange, stream: EventStream) -> None:
        try:
            for piece in self._split(answer):
                if stream.gone:
                    raise ConnectionAbortedError
                await stream.send(_chunk({"content": piece}))
                exchange.reply += piece
                await asyncio.sleep(self._delay)
            await stream.send(_chunk({}, "stop"))
            exchange.replied_ns = stream.end("[DONE]")
        except OSError:
            exchange.replied_ns, exchange.stopped = time.monotonic_ns(), True

    def _split(self, answer: str) -> Iterator[str]:
        if self._pieces is None:
            return chunks(answer)
        return chunks(answer, max(CHUNK_CHARACTERS, len(answer) // self._pieces + 1))


def _messages(value: Any) -> list[dict[str, str]]:
    if not isinstance(value, list) or not value:
        raise HttpError(400, "`messages` must be a list that is not empty")
    return [{"role": str(message["role"]), "content": _text(message["content"])} for message in value]


def _text(content: Any) -> str:
    """Content may also come as a list of parts."""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _envelope(kind: str, choice: dict[str, Any]) -> dict[str, Any]:
    return {"id": "scripted", "object": kind, "created": 0, "model": NAME, "choices": [{"index": 0, **choice}]}


def _chunk(delta: dict[str, str], finish: str | None = None) -> str:
    return json.dumps(_envelope("chat.completion.chunk", {"delta": delta, "finish_reason": finish}))


async def main() -> None:
    async with ScriptedOpenAI() as server:
        print(f"READY {server.base_url}", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
