"""The conversations of the demo on a real third-party page: Gradio's ChatInterface, a scripted endpoint behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bridge import LLMManager
from bridge.chat import BrowserChat, profiles
from bridge.demo.sample import CONVERSATIONS, copy_sample
from bridge.journal import Journal
from tests.pages.gradio_page import available, gradio_page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not available(), reason="Gradio is not set up: make pages-gradio"),
]


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[BrowserChat]:
    async with gradio_page() as (url, _):
        page = await BrowserChat.launch(profiles.load("gradio"), url, profile_dir=tmp_path / "profile", headless=True)
        yield page
        await page.close()


async def test_the_demo_conversations_run_on_gradio(chat: BrowserChat, tmp_path: Path) -> None:
    workspace = copy_sample(tmp_path / "workspace")
    journal = Journal.open(tmp_path / "state" / "journal.db")
    for demo in CONVERSATIONS:
        async with LLMManager(workspace, "gradio", chat=chat, journal=journal, approve=demo.approve) as llm:
            answer = await llm.call(demo.task)
            events = await journal.events(llm.session)
        assert demo.check(workspace, events, answer) is None
        replies = [event.data for event in events if event.type == "reply.done"]
        assert {(tuple(reply["sources"]), reply["trust"]) for reply in replies} == {(("cdp", "tee"), "full")}
    await journal.close()
