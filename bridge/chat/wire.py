"""What the network showed of the reply to one message, by source."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

from bridge.chat.decoders import DECODERS, Decoder
from bridge.chat.profiles import SiteProfile, Stream
from bridge.conversation.port import Capture

Tapped = Literal["cdp", "tee"]


@dataclass(slots=True)
class WireStream:
    """One response being read: its decoder, and whether it ended (`failed` says how, if it broke off)."""

    decoder: Decoder
    ended: bool = False
    failed: str = ""

    @property
    def complete(self) -> bool:
        return self.decoder.done or (self.ended and not self.failed)


@dataclass(slots=True)
class Wire:
    """Collects the streams that answer `text`. A stream counts only when it was asked for after the message, of one of
    the chat's own `origins`."""

    profile: SiteProfile
    text: str
    origins: tuple[str, ...]
    streams: dict[Tapped, list[WireStream]] = field(default_factory=lambda: {"cdp": [], "tee": []})
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    _listener: Callable[[str], None] | None = None
    _unheard: list[str] = field(default_factory=list)

    def match(self, url: str, body: str | None) -> Stream | None:
        """The profile's stream for a request to `url` with `body` (None where unknown), if it can be ours."""
        if not any(url.startswith(f"{origin}/") for origin in self.origins):
            return None
        for stream in self.profile.streams:
            if fnmatchcase(url, stream.url) and not (stream.body and body is not None and not carries(body, self.text)):
                return stream
        return None

    def open(self, source: Tapped, stream: Stream) -> WireStream:
        opened = WireStream(DECODERS[stream.decoder](self.text))
        self.streams[source].append(opened)
        self.changed.set()
        return opened

    def feed(self, source: Tapped, stream: WireStream, chunk: str) -> None:
        news = stream.decoder.feed(chunk)
        stream.failed = stream.failed or stream.decoder.failed
        if news and source == "cdp":
            if self._listener:
                self._listener(news)
            else:
                self._unheard.append(news)
        self.changed.set()

    def end(self, stream: WireStream, failed: str = "") -> None:
        stream.ended, stream.failed = True, stream.failed or failed
        self.changed.set()

    def listen(self, listener: Callable[[str], None] | None) -> None:
        self._listener = listener
        if listener and self._unheard:
            listener("".join(self._unheard))
        self._unheard.clear()

    def main(self, source: Tapped) -> WireStream | None:
        """The stream that holds the reply: the first with text, since what a page asks for later (a title for the
        chat, say) may quote our message too; without text, the last."""
        streams = self.streams[source]
        return next((s for s in streams if s.decoder.text), streams[-1] if streams else None)

    @property
    def over(self) -> bool:
        """Whether the tap has a whole reply, or one that broke off."""
        main = self.main("cdp")
        return main is not None and (main.decoder.done or main.ended or bool(main.failed))

    def captures(self) -> list[Capture]:
        """Whole readings only: half of a second source would only look like a disagreement. Another stream of the tap
        that answers our message is one more reading, so that a call in it is a disagreement too."""
        sources: tuple[Tapped, Tapped] = ("cdp", "tee")
        found = [(source, self.main(source)) for source in sources]
        captures = [Capture(source, s.decoder.text) for source, s in found if s and s.complete and s.decoder.text]
        others = [s for s in self.streams["cdp"] if s is not self.main("cdp") and s.decoder.text]
        return captures + [Capture("cdp", s.decoder.text) for s in others if captures and captures[0].source == "cdp"]


def carries(body: str, text: str) -> bool:
    """Whether a request's body is `text`, or holds it as a whole JSON string (outer white space aside)."""
    forms = {text, text.strip()}
    quoted = {json.dumps(form, ensure_ascii=ascii_only) for form in forms for ascii_only in (False, True)}
    return body in forms or any(form in body for form in quoted)
