"""The floor: a hand-written Playwright script for one known page, as quick as we could make it. FROZEN.

Do not tune this file to make Tabferry look better, nor slow it down: it is what every overhead is compared with. It
knows the page by heart, keeps no journal, asks nobody, confines nothing, and parses what the page shows. Per iteration:
the page pushes (raw CDP binding, MutationObserver) the moment it takes the next message; the script decodes the call,
reads the file, inserts the result, reads it back, presses Enter.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Page, async_playwright

from bridge.chat.browser import ensure_browser

WATCH = """
(page) => {
  let seen = 0;
  const look = () => {
    const bots = document.querySelectorAll(page.bot);
    const box = document.querySelector(page.box);
    if (bots.length === seen || !box || !document.querySelector(page.send) || document.querySelector(page.stop)) return;
    seen = bots.length;
    box.focus();
    const code = bots[seen - 1].querySelector("pre code");
    globalThis.floorReady(code ? code.textContent : "");
  };
  const everything = { subtree: true, childList: true, attributes: true, characterData: true };
  new MutationObserver(look).observe(document, everything);
}
"""

READ_BACK = """
(page) => {
  const box = document.querySelector(page.box);
  return page.field ? box.value : box.textContent;
}
"""


@dataclass(frozen=True)
class KnownPage:
    """CSS of one chat page; `field`: the composer is a textarea."""

    box: str
    send: str
    stop: str
    bot: str
    field: bool


DEMO = KnownPage(
    box="[role=textbox]",
    send="button[aria-label='Send message']",
    stop="button[aria-label='Stop generating']",
    bot="[data-message-author-role=assistant]",
    field=False,
)
GRADIO = KnownPage(
    box="textarea[data-testid=textbox]:not([disabled])",
    send="button[data-testid=submit-button]",
    stop="button[data-testid=stop-button]",
    bot="[data-testid=bot]",
    field=True,
)


async def run(url: str, known: KnownPage, task: str, workspace: Path) -> int:
    """Play `task` on the chat page at `url` to its end; how many calls were answered."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=ensure_browser(), args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        page = await browser.new_page(viewport={"width": 1280, "height": 900})
        await page.goto(url)
        await page.wait_for_selector(known.box)
        calls = await _converse(page, known, task, workspace)
        await browser.close()
        return calls


async def _converse(page: Page, known: KnownPage, task: str, workspace: Path) -> int:
    session = await page.context.new_cdp_session(page)
    ready: asyncio.Queue[str] = asyncio.Queue()
    session.on("Runtime.bindingCalled", lambda event: ready.put_nowait(event["payload"]))
    await session.send("Runtime.enable")
    await session.send("Runtime.addBinding", {"name": "floorReady"})
    names: dict[str, Any] = vars(known)
    await page.evaluate(WATCH, names)
    await page.focus(known.box)
    text, calls = task, 0
    while True:
        await session.send("Input.insertText", {"text": text})
        assert await page.evaluate(READ_BACK, names) == text
        await page.keyboard.press("Enter")
        block = await asyncio.wait_for(ready.get(), 120)
        if "<TOOL_CALL>" not in block:
            return calls
        calls += 1
        call = json.loads(block.partition("<TOOL_CALL>")[2].partition("</TOOL_CALL>")[0])
        content = (workspace / call["args"]["path"]).read_text(encoding="utf-8")
        result = {"success": True, "data": {"content": content, "lines": content.count("\n")}, "error": None}
        text = "TOOL_RESULT: " + json.dumps(result)
