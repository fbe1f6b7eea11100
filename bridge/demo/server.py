"""The embedded chat page's server: static page, conversations, and replies as an event stream."""

from __future__ import annotations

import asyncio
import re
from importlib import resources

from bridge.demo.chats import Chats, Exchange
from bridge.demo.faults import Faults
from bridge.demo.http import HttpError, Request, Response
from bridge.demo.limits import BUSY_WAIT_S, CHUNK_DELAY_S
from bridge.demo.loopback import Connection, LoopbackServer
from bridge.demo.model import ScriptedModel
from bridge.demo.reply import Model, ReplyWriter

TYPES = {"html": "text/html; charset=utf-8", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
MESSAGES = re.compile(r"/api/conversations/([A-Za-z0-9-]{1,64})/messages")
CONVERSATION = re.compile(r"/api/conversations/([A-Za-z0-9-]{1,64})")
CHAT_PAGE = re.compile(r"/|/c/[A-Za-z0-9-]{1,64}")


class DemoServer(LoopbackServer):
    """The demo chat page on loopback, for as long as the `async with` block runs.

    `port=0` takes a free one; `model` writes the replies (default `ScriptedModel`); `delay` is seconds between two
    chunks of a reply; `faults` makes the page misbehave (tests). `url` is the page, `log` every exchange so far.
    Raises `OSError` when the port is taken.
    """

    def __init__(
        self,
        port: int = 0,
        host: str = "127.0.0.1",
        model: Model | None = None,
        *,
        delay: float = CHUNK_DELAY_S,
        faults: Faults | None = None,
    ) -> None:
        super().__init__(host, port)
        self._faults = faults or Faults()
        self._replies = ReplyWriter(model or ScriptedModel(), delay, self._faults)
        self._chats = Chats()
        self._pages = _load_pages()
        self.log: list[Exchange] = []

    async def handle(self, request: Request, connection: Connection) -> Response | None:
        if request.method == "POST" and (match := MESSAGES.fullmatch(request.path)):
            await self._converse(request, match[1], connection)
            return None
        if request.method != "GET":
            raise HttpError(405, f"{request.method} is not possible here")
        if request.path == "/api/conversations":
            return Response.of({"conversations": self._chats.summaries()})
        if match := CONVERSATION.fullmatch(request.path):
            return self._conversation(match[1])
        return self._page(request.path)

    def _conversation(self, chat_id: str) -> Response:
        chat = self._chats.find(chat_id)
        if chat is None:
            raise HttpError(404, "There is no such conversation; the demo forgets them all when it ends.")
        return Response.of(chat.json())

    def _page(self, path: str) -> Response:
        name = f"{self._faults.page}.html" if CHAT_PAGE.fullmatch(path) else path.removeprefix("/")
        if name not in self._pages:
            raise HttpError(404, "there is no such page")
        return Response(200, self._pages[name], TYPES[name.rpartition(".")[2]])

    async def _converse(self, request: Request, chat_id: str, connection: Connection) -> None:
        """Take a message and stream the reply to it."""
        body = request.json()
        message_id, text = body.get("id"), body.get("content")
        if not (isinstance(text, str) and isinstance(message_id, str) and text and message_id):
            raise HttpError(400, "a message needs a non-empty `id` and `content`")
        chat = self._chats.open(chat_id)
        try:
            await asyncio.wait_for(chat.turn.acquire(), BUSY_WAIT_S)
        except TimeoutError:
            raise HttpError(409, "A reply is still being written in this conversation.") from None
        try:
            chat.add("user", text, message_id)
            exchange = Exchange(chat.id, request.received_ns, text)
            self.log.append(exchange)
            await self._replies.write(chat, exchange, len(self.log) - 1, connection.stream())
        finally:
            chat.turn.release()


def _load_pages() -> dict[str, bytes]:
    """Every file of the page by name; read once, so that no request ever touches the disk."""
    folder = resources.files("bridge.demo") / "page"
    return {entry.name: entry.read_bytes() for entry in folder.iterdir() if entry.name.rpartition(".")[2] in TYPES}
