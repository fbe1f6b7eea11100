"""Waiting for a reply by events alone: the network says that it ended, the page says that it takes the next message."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Container
from typing import Any

from bridge.chat import limits
from bridge.chat.channel import Channel
from bridge.chat.observer import Observer
from bridge.chat.patience import Patience
from bridge.chat.profiles import origin_of
from bridge.chat.race import race
from bridge.chat.wire import Wire
from bridge.conversation.port import Capture, ChatReply, DeltaHandler, Ending, SentMessage
from bridge.errors import ChatError, NeedsUser

PLACEHOLDER = "•"
"""What CodeMirror draws for a character that it does not show: text that holds it is not what the model wrote."""


class Receiver:
    def __init__(self, channel: Channel, observer: Observer, patience: Patience, origins: Container[str]) -> None:
        self._channel, self._observer, self._patience, self._origins = channel, observer, patience, origins

    async def reply(self, sent: SentMessage, wire: Wire, on_delta: DeltaHandler | None) -> ChatReply:
        """The reply to `sent`, as soon as its text is final. Raises `ChatError` when it broke off or never came."""
        wire.listen(on_delta)
        started = time.monotonic()
        late = "The model was still writing after the longest time allowed."
        silent = await self._channel.bounded(self._ended(sent, wire), self._patience.whole, late)
        self._check_place(sent)
        ending, captures = await self._collect(sent, wire, silent)
        return ChatReply(tuple(captures), ending, (time.monotonic() - started) * 1000)

    async def settle(self, sent: SentMessage) -> None:
        """Return when the page takes the next message; raises `NeedsUser` when somebody else wrote in the chat."""
        late = "The reply is over, but the page takes no new message."
        await self._observer.wait(lambda page: page.ready, self._patience.ready, late)
        self._check_place(sent)

    def _check_place(self, sent: SentMessage) -> None:
        page = self._observer.state
        if page.url and origin_of(page.url) not in self._origins:
            raise NeedsUser("user_acted", f"The tab went to {page.url} while the reply came; look at the chat.")
        if page.users > sent.ordinal + 1:
            message = "Another message was sent in this chat while the reply came; look at the chat."
            raise NeedsUser("user_acted", message)

    async def _ended(self, sent: SentMessage, wire: Wire) -> dict[str, Any] | None:
        """None when the network said it; else what the page shows after it fell silent."""
        return await race(self._network_end(wire), self._page_end(sent, wire))

    async def _network_end(self, wire: Wire) -> None:
        patience = self._patience.first_word
        while not wire.over:
            wire.changed.clear()
            try:
                await asyncio.wait_for(wire.changed.wait(), patience)
            except TimeoutError:
                raise ChatError(
                    f"The chat page has been silent for {patience:.0f} s; look at the page, then try again."
                ) from None
            patience = self._patience.silence
            main = wire.main("cdp")
            if main and len(main.decoder.text) > self._patience.chars:
                raise ChatError(f"The reply grew past {self._patience.chars:,} characters.")
        main = wire.main("cdp")
        if main and main.failed and main.failed != "stopped":
            alert = self._observer.state.alert
            raise ChatError(f"The reply broke off ({main.failed})." + (f" The page says: {alert}" if alert else ""))

    async def _page_end(self, sent: SentMessage, wire: Wire) -> dict[str, Any]:
        """For pages whose network tells us nothing: busy, then idle, then quiet."""
        busy = asyncio.ensure_future(self._observer.wait(lambda page: page.busy, self._patience.whole, ""))
        # A short reply is over before its Stop button is ever drawn, hence the bound.
        wrote, _ = await asyncio.wait({busy}, timeout=self._patience.busy)
        busy.cancel()
        await self._observer.wait(lambda page: not page.busy, self._patience.whole, "The page has not stopped writing.")
        if wire.streams["cdp"]:
            await asyncio.sleep(limits.WIRE_GRACE if wrote else self._patience.whole)  # the network says it sooner
        answer: dict[str, Any] = await self._observer.ask(
            "quiet", sent.ordinal, limits.QUIET_MS, timeout=self._patience.first_word
        )
        return answer

    async def _collect(
        self, sent: SentMessage, wire: Wire, silent: dict[str, Any] | None
    ) -> tuple[Ending, list[Capture]]:
        main = wire.main("cdp")
        if main and main.failed == "stopped" and not main.decoder.done:
            return "stopped", [Capture("cdp", main.decoder.text)]
        await race(self._second_reading(wire), self.settle(sent))
        captures = wire.captures()
        if not any(capture.source == "cdp" for capture in captures):
            await self.settle(sent)
            captures += _shown(silent or await self._observer.ask("readReply", sent.ordinal))
        return ("end" if silent is None else "silent"), captures

    async def _second_reading(self, wire: Wire) -> None:
        """The tee ends with the tap or a moment later; a page that is ready again has nothing more to say."""
        while not any(stream.complete for stream in wire.streams["tee"]):
            wire.changed.clear()
            await wire.changed.wait()


def _shown(page: dict[str, Any]) -> list[Capture]:
    """What the page itself shows, damaged as that may be: code blocks first, prose last."""
    code: str = page["code"]
    found = [Capture("code", code)] if code.strip() and PLACEHOLDER not in code else []
    return [*found, Capture("rendered", page["rendered"])]
