"""The conversations that the demo page's server keeps, and what it noted of each exchange."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass, field
from typing import Any, Literal

from bridge.demo.limits import MAX_CONVERSATIONS

Role = Literal["user", "assistant"]
Ended = Literal["open", "done", "stopped", "truncated", "dropped"]


@dataclass(slots=True)
class Message:
    """One message; `content` is the raw text as typed or as streamed."""

    id: str
    role: Role
    content: str

    def json(self) -> dict[str, str]:
        return {"id": self.id, "role": self.role, "content": self.content}


@dataclass(slots=True)
class Chat:
    """One conversation; `turn` is held while a reply streams."""

    id: str
    messages: list[Message] = field(default_factory=list)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def title(self) -> str:
        """The last line of the first message (its task, where a prompt precedes it), at most 60 characters."""
        first = self.messages[0].content.strip() if self.messages else ""
        line = first.rsplit("\n", 1)[-1].removeprefix("TASK:").strip()
        return (line if len(line) <= 60 else line[:59] + "…") or "New chat"

    def add(self, role: Role, content: str, message_id: str | None = None) -> Message:
        message = Message(message_id or uuid.uuid4().hex, role, content)
        self.messages.append(message)
        return message

    def summary(self) -> dict[str, str]:
        return {"id": self.id, "title": self.title}

    def json(self) -> dict[str, Any]:
        return {**self.summary(), "messages": [message.json() for message in self.messages]}


class Chats:
    """All conversations, newest last; the oldest idle one goes when there are too many."""

    def __init__(self) -> None:
        self._chats: dict[str, Chat] = {}

    def find(self, chat_id: str) -> Chat | None:
        return self._chats.get(chat_id)

    def open(self, chat_id: str) -> Chat:
        if chat_id not in self._chats:
            self._make_room()
            self._chats[chat_id] = Chat(chat_id)
        return self._chats[chat_id]

    def _make_room(self) -> None:
        while len(self._chats) >= MAX_CONVERSATIONS:
            oldest = next((chat for chat in self._chats.values() if not chat.turn.locked()), None)
            if oldest is None:
                return
            del self._chats[oldest.id]

    def summaries(self) -> list[dict[str, str]]:
        """Newest first."""
        return [chat.summary() for chat in reversed(self._chats.values())]


@dataclass(slots=True)
class Exchange:
    """One message and its reply, as the server saw them.

    `received_ns`: first byte of the request; `replied_ns`: last byte of the reply written (0 while it streams), both
    `time.monotonic_ns()`. `text` is the message exactly as received, `reply` what was streamed.
    """

    conversation: str
    received_ns: int
    text: str
    reply: str = ""
    replied_ns: int = 0
    ended: Ended = "open"
