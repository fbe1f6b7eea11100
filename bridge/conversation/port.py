"""The one door between a conversation and whatever shows the chat page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

Source = Literal["cdp", "tee", "copy", "code", "rendered"]
"""Where a reply's text was read: network tap, in-page tee, message copy button, code blocks, rendered prose."""

Ending = Literal["end", "stopped", "silent"]
"""How a reply ended: the page said so, somebody pressed Stop, or the text was quiet and the page idle."""


@dataclass(frozen=True, slots=True)
class ChatLocation:
    """Where the chat is: URL, the origin that every send is checked against, the profile's name and history kind."""

    url: str
    origin: str
    site: str
    history: Literal["server", "browser", "none"]


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message that the page accepted: chat URL, ordinal of the user turn in this chat (0-based), id of the page's own
    bubble where it has one, and SHA-256 (hex) of the text as typed."""

    url: str
    ordinal: int
    message_id: str | None
    text_sha256: str


@dataclass(frozen=True, slots=True)
class Capture:
    """One reading of a reply: `text` is exact for `cdp`, `tee` and `copy`; for `code` what the code blocks hold."""

    source: Source
    text: str


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A reply that is over, best source first. `captures` is never empty; `ms` counts from acceptance to the end."""

    captures: tuple[Capture, ...]
    ending: Ending
    ms: float

    @property
    def text(self) -> str:
        return self.captures[0].text


DeltaHandler = Callable[[str], None]
"""Called with each new piece of visible reply text, in order."""


class ChatPort(Protocol):
    """One chat tab. Every method raises `ChatError` or `NeedsUser` and nothing else of its own."""

    async def open(self, *, new_chat: bool = True) -> ChatLocation:
        """Bring the page to a chat that can be typed into."""

    async def send(self, text: str) -> SentMessage:
        """Send `text` as one message, as a transaction: nothing was sent when it raises `ChatError`; whether it was
        is unknown when it raises `NeedsUser("delivery_unknown", …)`."""

    async def reply(self, sent: SentMessage, on_delta: DeltaHandler | None = None) -> ChatReply:
        """Wait for the reply to `sent`; its text is final then, but the page may not be ready for the next message."""

    async def settle(self, sent: SentMessage) -> None:
        """Wait for the page to be ready for the message after the reply to `sent`; at once when it is."""

    async def stop(self) -> None:
        """Press the page's Stop button if a reply is being written."""

    async def close(self) -> None:
        """Let go of the page (and of the browser, if this port started it)."""
