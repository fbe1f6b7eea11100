"""A real Chromium on the real demo page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from bridge.chat import BrowserChat, Patience, SiteProfile, profiles
from bridge.demo import DemoServer

HASTY = Patience(composer=5, ready=20, land=5, accept=5, busy=0.5)
"""For pages that are at hand on this machine; long enough for a busy one, short enough for a test."""

Start: TypeAlias = Callable[..., Awaitable[BrowserChat]]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """`await start(url, profile=…, patience=…)`: a chat that is closed when the test ends."""
    running: list[BrowserChat] = []

    async def launch(url: str, *, profile: SiteProfile | None = None, patience: Patience = HASTY) -> BrowserChat:
        chat = await BrowserChat.launch(
            profile or profiles.load("demo"), url, profile_dir=tmp_path / "profile", headless=True, patience=patience
        )
        running.append(chat)
        return chat

    yield launch
    for chat in running:
        await chat.close()


class Echo:
    """A model that says the message back in a fence, so that one reply shows what was typed."""

    def reply(self, messages: list[dict[str, str]]) -> str:
        return f"You said:\n\n`````text\n{messages[-1]['content']}\n`````\n"


@pytest.fixture
async def echo() -> AsyncIterator[DemoServer]:
    async with DemoServer(model=Echo(), delay=0) as server:
        yield server
