"""What every decoder is: a stream of server events in, the reply's text out."""

from __future__ import annotations

from abc import ABC, abstractmethod

from bridge.chat.decoders.sse import EventStream, ServerEvent


class Decoder(ABC):
    """Feeds on one response to `prompt`. `text` is the reply so far, `done` whether the stream said that it is whole,
    `failed` what it gave as the reason when it said that there is no reply.

    A decoder never raises on what a page sends; what it does not know it passes over.
    """

    def __init__(self, prompt: str = "") -> None:
        self.prompt = prompt
        self._events = EventStream()
        self._parts: list[str] = []
        self._news: list[str] = []
        self.done = False
        self.failed = ""

    def feed(self, chunk: str) -> str:
        """The text that `chunk` added to the reply."""
        for event in self._events.feed(chunk):
            if not (self.done or self.failed):
                self.event(event)
        news = "".join(self._news)
        self._news.clear()
        return news

    @property
    def text(self) -> str:
        self._parts = ["".join(self._parts)]
        return self._parts[0]

    def append(self, text: str) -> None:
        self._parts.append(text)
        self._news.append(text)

    def replace(self, text: str) -> None:
        """The whole text as the page now has it; only what goes beyond the old text is news."""
        old = self.text
        if text.startswith(old):
            self.append(text[len(old) :])
        else:
            self._parts = [text]

    @abstractmethod
    def event(self, event: ServerEvent) -> None:
        """Take one event."""
