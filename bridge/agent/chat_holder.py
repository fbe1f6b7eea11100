"""Who holds the chat tab: opened when first needed, replaced when it has died."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable

from bridge.agent.choices import Choices
from bridge.conversation import ChatPort
from bridge.errors import ChatError, TabferryError
from bridge.journal import paths

ChatFactory = Callable[[Choices], Awaitable[ChatPort]]
"""Makes the chat that the choices name; raises `UsageError` or `ChatError`."""


class ChatHolder:
    """One chat port. A port that was passed in (`lent`) is neither replaced nor closed here."""

    def __init__(self, factory: ChatFactory, lent: ChatPort | None = None) -> None:
        self._factory = factory
        self._port = lent
        self._lent = lent is not None
        self._choices: tuple[str, str | None, bool] | None = None

    @property
    def port(self) -> ChatPort | None:
        return self._port

    async def fresh(self, choices: Choices) -> ChatPort:
        """A new chat on the page that `choices` name; a page that does not come back is opened anew, once."""
        key = (choices.site, choices.url, choices.headless)
        if self._port is not None and (self._lent or key == self._choices):
            try:
                await self._port.open(new_chat=True)
                return self._port
            except ChatError:
                if self._lent:
                    raise
        await self.close()
        self._port, self._choices = await self._factory(choices), key
        await self._port.open(new_chat=True)
        return self._port

    async def close(self) -> None:
        """Let the page go; one that is dead already is gone all the same."""
        if self._port is not None and not self._lent:
            port, self._port = self._port, None
            with contextlib.suppress(TabferryError):
                await port.close()


async def launch(choices: Choices) -> ChatPort:
    """The factory for real use: a browser on the user's own Tabferry profile."""
    from bridge.chat import open_chat

    folder = paths.private_dir(paths.profile_dir("default"))
    return await open_chat(site=choices.site, url=choices.url, headless=choices.headless, profile_dir=folder)
