"""Sending as a transaction: right origin, ready, text in, read back, submit, accepted. Never a second send."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any

from bridge.chat.channel import Channel
from bridge.chat.observer import Observer
from bridge.chat.patience import Patience
from bridge.chat.profiles import SiteProfile
from bridge.chat.tap import Taps
from bridge.chat.wire import Wire
from bridge.conversation.port import SentMessage
from bridge.errors import ChatError, NeedsUser

ENTER: dict[str, Any] = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "nativeVirtualKeyCode": 13}
TAKEN_OUT = "It was taken out of the composer again."


class Sender:
    def __init__(
        self,
        channel: Channel,
        observer: Observer,
        taps: Taps,
        profile: SiteProfile,
        origins: tuple[str, ...],
        patience: Patience,
    ) -> None:
        self._channel, self._observer, self._taps = channel, observer, taps
        self._profile, self._origins, self._patience = profile, origins, patience

    async def send(self, text: str) -> tuple[SentMessage, Wire]:
        """Send `text`; `ChatError` means that nothing was sent, `NeedsUser("delivery_unknown")` that nobody knows."""
        if not text.strip():
            raise ChatError("An empty message was not sent.")
        if len(text) > self._profile.limits.inline_chars:
            raise ChatError(
                f"The message has {len(text):,} characters and {self._profile.title} takes "
                f"{self._profile.limits.inline_chars:,}; nothing was sent. Ask for less at a time."
            )
        page = await self._type(text)
        return await self._submit(text, page)

    async def _type(self, text: str) -> dict[str, Any]:
        """Type and read back; inserted by the page's own editing command first, else as an input method would."""
        landed: dict[str, Any] = {}
        for insert in (True, False):
            late = "The chat page takes no message now; nothing was sent."
            await self._observer.wait(lambda page: page.ready or page.login, self._patience.ready, late)
            page = await self._landing("type", text, insert)
            self._check(page)
            if "landed" not in page:
                await self._channel.send("Input.insertText", self._patience.land, text=text)
                page["landed"] = await self._landing("landed", text)
            landed = page.pop("landed")
            if landed["ok"]:
                self._check_origin(landed)
                return {**page, **landed}
            await self._observer.ask("clear")
        raise ChatError(
            f"The composer changed the message ({landed['got']:,} of {landed['meant']:,} characters arrived, twice); "
            "nothing was sent."
        )

    async def _landing(self, name: str, *args: Any) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = await self._observer.ask(name, *args, timeout=self._patience.land)
        except ChatError as error:
            await self._observer.ask("clear")
            raise ChatError(f"The page did not offer to send the message ({error}) {TAKEN_OUT}") from None
        return answer

    def _check(self, page: dict[str, Any]) -> None:
        title = self._profile.title
        self._check_origin(page)
        if page["login"]:
            raise NeedsUser("login", f"{title} asks you to log in; do so in the browser window, then go on.")
        if not page["ready"]:
            raise ChatError(f"{title} takes no message now; nothing was sent.")
        if page["draft"].strip():
            raise NeedsUser("user_acted", "The composer holds a draft of yours; send or clear it, then continue.")

    def _check_origin(self, page: dict[str, Any]) -> None:
        if page["origin"] not in self._origins:
            raise NeedsUser("login", f"The tab shows {page['origin']} instead of the chat; nothing was typed there.")

    async def _submit(self, text: str, page: dict[str, Any]) -> tuple[SentMessage, Wire]:
        wire = self._taps.arm(text)
        before: list[str] = page["before"]
        try:
            # Asked for first and awaited last: the answer travels while the key does.
            bubble, *_ = await asyncio.gather(
                self._observer.ask("accepted", before, timeout=self._patience.accept), *self._press(page)
            )
        except ChatError as error:
            bubble = await self._look_again(before, text, wire, error)
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return SentMessage(self._observer.state.url, bubble["ordinal"], bubble["id"], digest), wire

    def _press(self, spot: dict[str, Any]) -> list[Any]:
        if self._profile.composer.submit == "click":
            mouse: dict[str, Any] = {"x": spot["x"], "y": spot["y"], "button": "left", "clickCount": 1}
            kinds = ("mousePressed", "mouseReleased")
            return [self._channel.send("Input.dispatchMouseEvent", type=kind, **mouse) for kind in kinds]
        return [
            self._channel.send("Input.dispatchKeyEvent", type="keyDown", text="\r", **ENTER),
            self._channel.send("Input.dispatchKeyEvent", type="keyUp", **ENTER),
        ]

    async def _look_again(self, before: list[str], text: str, wire: Wire, error: ChatError) -> dict[str, Any]:
        """After a time-out or a reload: what does the page show? Only certainty counts."""
        try:
            page = await self._observer.ask("look", before)
        except ChatError:
            page = {"bubble": None, "draft": "", "composer": False}
        if page["bubble"]:
            bubble: dict[str, Any] = page["bubble"]
            return bubble
        if page["composer"] and page["draft"].strip() == text.strip() and not wire.streams["cdp"]:
            await self._observer.ask("clear")
            raise ChatError(f"The page did not send the message: {error} It was taken out of the composer again.")
        raise NeedsUser(
            "delivery_unknown",
            "Whether the last message was sent is unknown; look at the chat, then continue or start again.",
        )
