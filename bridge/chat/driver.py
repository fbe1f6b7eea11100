"""`BrowserChat`: one tab of a real browser behind the conversation's `ChatPort`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from playwright.async_api import Error, Page

from bridge.chat import limits
from bridge.chat.channel import Channel
from bridge.chat.launch import Browser
from bridge.chat.observer import Observer
from bridge.chat.patience import Patience
from bridge.chat.profiles import SiteProfile
from bridge.chat.receiver import Receiver
from bridge.chat.sender import Sender
from bridge.chat.tap import Taps
from bridge.chat.wire import Wire
from bridge.conversation.port import ChatLocation, ChatReply, DeltaHandler, SentMessage
from bridge.errors import ChatError, NeedsUser


class BrowserChat:
    """Implements `ChatPort`. Made by `launch`; `close` gives everything back that it started."""

    def __init__(self, browser: Browser, page: Page, profile: SiteProfile, url: str, patience: Patience) -> None:
        self._browser, self._page, self._profile, self._url = browser, page, profile, url
        self._patience = patience
        self._on_close: list[Callable[[], Awaitable[None]]] = []
        self._wire: Wire | None = None
        self._seen = 0

    @classmethod
    async def launch(
        cls,
        profile: SiteProfile,
        url: str,
        *,
        profile_dir: Path,
        headless: bool = True,
        patience: Patience | None = None,
    ) -> BrowserChat:
        """Start a browser on `profile_dir` with one tab for the chat at `url`; nothing is opened yet."""
        browser = await Browser.launch(profile_dir, headless=headless)
        try:
            chat = cls(browser, await browser.page(), profile, url, patience or Patience())
            await chat._attach()
        except BaseException:
            await browser.close()
            raise
        return chat

    @property
    def page(self) -> Page:
        """The Playwright page, for screenshots and tests."""
        return self._page

    def on_close(self, callback: Callable[[], Awaitable[None]]) -> None:
        """Run `callback` after the browser was closed, last one first."""
        self._on_close.append(callback)

    async def open(self, *, new_chat: bool = True) -> ChatLocation:
        if new_chat or not self._observer.state.composer:
            self._seen = 0
            await self._goto()
        state = await self._observer.wait(
            lambda page: page.ready or page.login, self._patience.composer, self._no_composer()
        )
        if state.login and not state.composer:
            raise NeedsUser(
                "login", f"{self._profile.title} asks you to log in; do so with --headed, then start again."
            )
        # A page takes a message before it has drawn its history; ours must not be counted from nothing then.
        late = "The earlier messages of this chat did not come back; start a new chat."
        state = await self._observer.wait(lambda page: page.users >= self._seen, self._patience.composer, late)
        return ChatLocation(state.url, await self._origin(), self._profile.name, self._profile.history)

    async def send(self, text: str) -> SentMessage:
        sent, self._wire = await self._sender.send(text)
        self._seen = sent.ordinal + 1
        return sent

    async def reply(self, sent: SentMessage, on_delta: DeltaHandler | None = None) -> ChatReply:
        if self._wire is None:
            raise ChatError("There is no message to wait for a reply to.")
        try:
            return await self._receiver.reply(sent, self._wire, on_delta)
        except ChatError:
            with suppress(ChatError):
                await self.stop()
            raise

    async def settle(self, sent: SentMessage) -> None:
        await self._receiver.settle(sent)

    async def stop(self) -> None:
        if self._observer.state.busy:
            await self._observer.ask("stop")

    async def close(self) -> None:
        await self._browser.close()
        while self._on_close:
            await self._on_close.pop()()

    async def _attach(self) -> None:
        channel = await Channel.attach(self._page)
        origins = self._profile.origins_for(self._url)
        taps = await Taps.install(channel, self._profile, origins)
        self._observer = await Observer.install(channel, self._profile, self._url)
        self._sender = Sender(channel, self._observer, taps, self._profile, origins, self._patience)
        self._receiver = Receiver(channel, self._observer, self._patience, origins)

    async def _goto(self) -> None:
        try:
            # By way of an empty page: an address that differs in its #fragment alone would not load anew.
            await self._page.goto("about:blank", wait_until="commit")
            await self._page.goto(self._url, wait_until="commit", timeout=limits.OPEN_TIMEOUT * 1000)
        except Error as error:
            raise ChatError(f"The chat page {self._url} cannot be reached ({_reason(error)}); is it running?") from None

    async def _origin(self) -> str:
        origin: str = await self._observer.ask("origin")
        if origin not in self._profile.origins_for(self._url):
            raise NeedsUser("login", f"{self._url} led to {origin}, which is not the chat; log in there with --headed.")
        return origin

    def _no_composer(self) -> str:
        return (
            f"No message box was found on {self._url} with the site profile {self._profile.name!r}; "
            "check the address, or choose another --site."
        )


def _reason(error: Error) -> str:
    first = error.message.splitlines()[0]
    return first.split("net::", 1)[1].split(" ", 1)[0] if "net::" in first else first
