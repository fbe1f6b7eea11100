"""Hard replies through a real chat page: each is shown, read back from every source, and judged as in a chat."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bridge.chat import BrowserChat, profiles
from bridge.chat.receiver import PLACEHOLDER
from bridge.conversation import Capture
from bridge.conversation.agreement import Judgement, judge
from bridge.demo import DemoServer
from bridge.protocol import ParsedReply, ResponseParser
from tests.pages.gradio_page import gradio_page
from tests.pages.hard_replies import Call, HardModel, HardReply
from tests.pages.scripted_openai import ScriptedOpenAI

Site = Literal["demo", "gradio"]

PIECES = 4
"""Chunks of one reply on Gradio, at most: it draws the whole reply anew for each, 217 KB of it as well."""
IN_ONE_CHAT = 14
"""Replies before a new chat is opened: Gradio sends the whole history again with every turn."""


_PARSER = ResponseParser("tool_call")


@dataclass(frozen=True, slots=True)
class Trip:
    """What came back of `sent`: the captures that the driver `trusted`, how a conversation judges them, and what else
    the page has `shown` (code blocks, rendered text), which the driver did not need."""

    sent: HardReply
    judgement: Judgement
    trusted: tuple[Capture, ...]
    shown: tuple[Capture, ...]

    @staticmethod
    def read(capture: Capture) -> ParsedReply:
        return _PARSER.parse(capture.text)


async def round_trip(site: Site, replies: Sequence[HardReply], profile_dir: Path) -> list[Trip]:
    """Ask for each reply once, all in one tab of one browser."""
    async with _page(site, replies) as url:
        chat = await BrowserChat.launch(profiles.load(site), url, profile_dir=profile_dir, headless=True)
        try:
            return [await _trip(chat, number, reply) for number, reply in enumerate(replies)]
        finally:
            await chat.close()


def first_call(reply: ParsedReply) -> Call | None:
    """The call that would run."""
    return (reply.calls[0].name, dict(reply.calls[0].args)) if reply.kind == "tool_calls" else None


@asynccontextmanager
async def _page(site: Site, replies: Sequence[HardReply]) -> AsyncIterator[str]:
    model = HardModel(replies)
    if site == "demo":
        async with DemoServer(model=model, delay=0) as server:
            yield server.url
    else:
        async with gradio_page(endpoint=ScriptedOpenAI(model=model, pieces=PIECES)) as (url, _):
            yield url


async def _trip(chat: BrowserChat, number: int, reply: HardReply) -> Trip:
    await chat.open(new_chat=number % IN_ONE_CHAT == 0)
    sent = await chat.send(f"Send reply {number}")
    got = await chat.reply(sent)
    await chat.settle(sent)
    shown = await chat._observer.ask("readReply", sent.ordinal)
    code = [] if PLACEHOLDER in shown["code"] else [Capture("code", shown["code"])]
    judgement = judge(_PARSER.parse, got.captures)
    return Trip(reply, judgement, got.captures, (*code, Capture("rendered", shown["rendered"])))
