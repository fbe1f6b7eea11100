"""Makes the README's picture of the demo page in mid-conversation: `make screenshots`."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from bridge import LLMManager
from bridge.chat import BrowserChat, profiles
from bridge.demo import DemoServer
from bridge.demo.sample import copy_sample
from bridge.journal import Journal

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
TASK = "Fix the diagnostic in tools/report.py"
AFTER_CALLS = 2
"""The picture is taken when so many calls are done: enough to see both directions, not yet the end."""


async def demo_page() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        journal = Journal.open(folder / "state" / "journal.db")
        async with DemoServer() as server:
            chat = await BrowserChat.launch(profiles.load("demo"), server.url, profile_dir=folder / "p", headless=True)
            async with LLMManager(
                copy_sample(folder / "workspace"), chat=chat, journal=journal, approve="edits"
            ) as llm:
                running = asyncio.create_task(llm.call(TASK))
                done = 0
                async for event in llm.events():
                    done += event.type == "call.delivered"
                    if done == AFTER_CALLS:
                        break
                await chat.page.locator("[data-message-author-role=assistant]").nth(AFTER_CALLS).wait_for()
                await chat.page.screenshot(path=IMAGES / "demo.png")
                await running
            await chat.close()
        await journal.close()


if __name__ == "__main__":
    IMAGES.mkdir(parents=True, exist_ok=True)
    asyncio.run(demo_page())
    print(IMAGES / "demo.png")
