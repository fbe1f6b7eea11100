"""The driver's eyes in the page: an observer in an isolated world that pushes what changed and answers questions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from bridge.chat import limits
from bridge.chat.channel import Channel
from bridge.chat.profiles import SiteProfile
from bridge.errors import ChatError

WORLD = "tabferry"
BINDING = "tabferryPush"


@dataclass(frozen=True, slots=True)
class PageState:
    """What the page looks like now.

    `ready`: it takes a message; `busy`: it is writing; `users`: how many bubbles of the user it shows.
    """

    url: str = ""
    composer: bool = False
    busy: bool = False
    ready: bool = False
    users: int = 0
    login: bool = False
    alert: str = ""


class Observer:
    """`state` is what was pushed last; `wait` wakes on each push; `ask` calls a function of observer.js."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._context: int | None = None
        self._frame = ""
        self._changed = asyncio.Event()
        self.state = PageState()

    @classmethod
    async def install(cls, channel: Channel, profile: SiteProfile, url: str) -> Observer:
        """Put observer.js into the page that is there now and into every one that follows."""
        observer = cls(channel)
        channel.on("Runtime.executionContextCreated", observer._created)
        channel.on("Runtime.executionContextsCleared", observer._cleared)
        channel.on("Runtime.executionContextDestroyed", observer._destroyed)
        channel.on("Runtime.bindingCalled", observer._pushed)
        tree = await channel.send("Page.getFrameTree")
        observer._frame = tree["frameTree"]["frame"]["id"]
        await channel.send("Page.enable")
        await channel.send("Runtime.addBinding", name=BINDING, executionContextName=WORLD)
        await channel.send("Runtime.enable")
        await channel.send(
            "Page.addScriptToEvaluateOnNewDocument", source=_script(profile, url), worldName=WORLD, runImmediately=True
        )
        return observer

    async def ask(self, name: str, *args: Any, timeout: float = limits.CDP_TIMEOUT) -> Any:
        """`tabferry.NAME(...args)` of observer.js, promises awaited; raises `ChatError` when the page cannot answer."""
        context = await self._ready_context()
        answer = await self._channel.send(
            "Runtime.callFunctionOn",
            timeout,
            functionDeclaration=f"(...args) => tabferry.{name}(...args)",
            arguments=[{"value": arg} for arg in args],
            executionContextId=context,
            returnByValue=True,
            awaitPromise=True,
        )
        if "exceptionDetails" in answer:
            raise ChatError(f"Looking at the chat page failed in {name}: {answer['exceptionDetails'].get('text', '')}.")
        return answer["result"].get("value")

    async def wait(self, holds: Callable[[PageState], bool], timeout: float, late: str) -> PageState:
        """The first pushed state that `holds`; raises `ChatError(late)` after `timeout` seconds."""
        await self._channel.bounded(self._until(holds), timeout, late)
        return self.state

    async def _until(self, holds: Callable[[PageState], bool]) -> None:
        while not holds(self.state):
            self._changed.clear()
            await self._changed.wait()

    async def _ready_context(self) -> int:
        while self._context is None:
            await self.wait(lambda _: self._context is not None, limits.CDP_TIMEOUT, "The chat page did not load.")
        return self._context

    def _created(self, event: dict[str, Any]) -> None:
        context = event["context"]
        if context["name"] == WORLD and context.get("auxData", {}).get("frameId") == self._frame:
            self._context = context["id"]
            self._changed.set()

    def _destroyed(self, event: dict[str, Any]) -> None:
        if event.get("executionContextId") == self._context:
            self._cleared({})

    def _cleared(self, _: dict[str, Any]) -> None:
        self._context = None
        self.state = PageState()

    def _pushed(self, event: dict[str, Any]) -> None:
        if event["name"] == BINDING and event["executionContextId"] == self._context:
            self.state = PageState(**json.loads(event["payload"]))
            self._changed.set()


def _script(profile: SiteProfile, url: str) -> str:
    config = {
        "binding": BINDING,
        "origins": profile.origins_for(url),
        "composer": profile.composer.find,
        "send": profile.controls.send,
        "stop": profile.controls.stop,
        "login": profile.controls.login,
        "alert": profile.controls.alert,
        "user": profile.messages.user,
        "assistant": profile.messages.assistant,
        "id": profile.messages.id,
    }
    source = (files("bridge.chat") / "observer.js").read_text("utf-8")
    return f"({source})({json.dumps(config)})"
