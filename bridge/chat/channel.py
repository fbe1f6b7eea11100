"""The raw DevTools connection to one page: bounded calls, typed failures, and one place that knows the page is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from playwright.async_api import CDPSession, Error, Page

from bridge.chat import limits
from bridge.errors import ChatError

T = TypeVar("T")


class Channel:
    """CDP to `page`. After a crash or a close every wait ends with the same `ChatError`."""

    def __init__(self, page: Page, session: CDPSession) -> None:
        self._session = session
        self._gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        page.on("crash", lambda _: self._lose("The chat page crashed; nothing more was sent. Start the task again."))
        page.on("close", lambda _: self._lose("The chat page was closed; nothing more was sent. Start the task again."))

    @classmethod
    async def attach(cls, page: Page) -> Channel:
        return cls(page, await page.context.new_cdp_session(page))

    def on(self, event: str, handler: Callable[[dict[str, Any]], None]) -> None:
        self._session.on(event, handler)

    async def send(self, method: str, timeout: float = limits.CDP_TIMEOUT, **params: Any) -> dict[str, Any]:
        """One CDP command; raises `ChatError` when the browser refuses it, does not answer, or the page is gone."""
        try:
            answer = await self.bounded(
                self._session.send(method, params), timeout, f"The browser did not answer {method}."
            )
        except Error as error:
            if self._gone.done():
                self._gone.result()
            raise ChatError(f"The browser refused {method}: {error.message.splitlines()[0]}.") from None
        return dict(answer or {})

    async def bounded(self, awaitable: Awaitable[T], timeout: float, late: str) -> T:
        """`awaitable`, unless the page goes first or `timeout` seconds pass (`ChatError(late)`)."""
        task = asyncio.ensure_future(awaitable)
        both: set[asyncio.Future[Any]] = {task, self._gone}
        try:
            await asyncio.wait(both, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            if self._gone.done():
                self._gone.result()
            raise ChatError(late)
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            elif not task.cancelled():
                task.exception()

    def _lose(self, sentence: str) -> None:
        if not self._gone.done():
            self._gone.set_exception(ChatError(sentence))
            self._gone.exception()  # nobody may be waiting; that is not an error of the program
