"""The page in a real Chromium: what is typed arrives exactly, and every state shows as on the real sites."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from bridge.chat.launch import Browser
from bridge.demo import DemoServer, Faults

pytestmark = pytest.mark.browser

MARKDOWN = """## Head <b>line</b>

Some **bold** and `inline <i>` text,
on two lines.

- one
- two `three`

1. first

````json
<TOOL_CALL>
{"a": "```"}
</TOOL_CALL>
````

```
plain
"""

TEXTS = [
    "hello",
    "one\ntwo\n\n\tthree  \n",
    '  {"a": "\\n\\t"} <b>&amp;</b> `x` **y**  ',
    "nb\u00a0sp zero\u200bwidth é😀",
    "\n\nleading",
]


class Fixed:
    def __init__(self, text: str) -> None:
        self.text = text

    def reply(self, messages: Sequence[Mapping[str, str]]) -> str:
        return self.text


@asynccontextmanager
async def opened(tmp_path: Path, **options: Any) -> AsyncIterator[tuple[DemoServer, Page]]:
    """A demo server and a tab that shows it; fails on any error that the page logs."""
    async with asyncio.timeout(120), DemoServer(**options) as server:
        browser = await Browser.launch(tmp_path / "profile", headless=True)
        try:
            page = await browser.page()
            errors: list[str] = []
            page.on("pageerror", lambda error: errors.append(str(error)))
            await page.goto(server.url)
            yield server, page
            assert errors == []
        finally:
            await browser.close()


async def say(page: Page, text: str) -> None:
    await page.get_by_role("textbox", name="Message").click()
    await page.keyboard.insert_text(text)
    await page.keyboard.press("Enter")


def reply(page: Page) -> Any:
    return page.locator("[data-message-author-role=assistant]").last


async def test_what_is_typed_arrives_exactly_and_shows_as_typed(tmp_path: Path) -> None:
    async with opened(tmp_path, model=Fixed("ok"), delay=0) as (server, page):
        for number, text in enumerate(TEXTS):
            await say(page, text)
            await expect(page.get_by_label("Copy message")).to_have_count(number + 1)
            assert server.log[number].text == text
            assert await page.locator("[data-message-author-role=user]").last.text_content() == text
        await expect(page).to_have_url(f"{server.url}c/{server.log[0].conversation}")
        await page.reload()
        await expect(page.locator("[data-message-author-role=user]")).to_have_count(len(TEXTS))
        await expect(page.locator(".conversations a")).to_have_count(1)


async def test_renders_markdown_as_it_streams_and_copies_it_raw(tmp_path: Path) -> None:
    async with opened(tmp_path, model=Fixed(MARKDOWN), delay=0) as (server, page):
        await page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.url)
        await say(page, "go")
        await page.get_by_label("Copy message").click()
        await expect(page.locator(".actions .copy path")).to_have_attribute("d", "m5 13 4 4L19 7")
        assert await page.evaluate("navigator.clipboard.readText()") == MARKDOWN
        assert await reply(page).locator("h4").text_content() == "Head <b>line</b>"
        assert await reply(page).locator("p").first.text_content() == "Some bold and inline <i> text,\non two lines."
        assert await reply(page).locator("li").all_text_contents() == ["one", "two three", "first"]
        code = await reply(page).locator("pre code").all_text_contents()
        assert code == ['<TOOL_CALL>\n{"a": "```"}\n</TOOL_CALL>', "plain"]
        streamed = await reply(page).locator(".markdown").inner_html()
        await page.reload()
        assert await reply(page).locator(".markdown").inner_html() == streamed


async def test_send_becomes_stop_and_stop_ends_the_reply(tmp_path: Path) -> None:
    async with opened(tmp_path, model=Fixed("more and more. "), faults=Faults("endless", count=1)) as (server, page):
        send, stop = page.get_by_label("Send message"), page.get_by_label("Stop generating")
        await expect(send).to_be_disabled()
        await say(page, "go")
        await expect(stop).to_be_visible()
        await expect(send).to_have_count(0)
        await expect(reply(page)).to_contain_text("more and more.")
        await expect(page.get_by_label("Copy message")).to_have_count(0)
        await stop.click()
        await expect(page.get_by_label("Copy message")).to_have_count(1)
        await expect(send).to_be_visible()
        await say(page, "again")
        await expect(page.get_by_label("Copy message")).to_have_count(2)
        assert [exchange.ended for exchange in server.log] == ["stopped", "done"]
        assert await page.locator("[role=alert]").count() == 0


async def test_says_so_when_the_reply_breaks_off_or_the_server_is_gone(tmp_path: Path) -> None:
    faults = Faults("drop", count=1)
    async with opened(tmp_path, model=Fixed("a reply that breaks off"), delay=0, faults=faults) as (server, page):
        await say(page, "one")
        await expect(page.locator("[role=alert]")).to_be_visible()
        await server.__aexit__(None, None, None)
        await say(page, "two")
        await expect(page.locator("[role=alert]")).to_have_text(
            "The chat server cannot be reached. Is it still running?"
        )


async def test_new_chat_leaves_the_old_one_in_the_list(tmp_path: Path) -> None:
    async with opened(tmp_path, model=Fixed("ok"), delay=0) as (server, page):
        await say(page, "first")
        await expect(page.get_by_label("Copy message")).to_have_count(1)
        await page.get_by_role("link", name="New chat").click()
        await expect(page).to_have_url(server.url)
        await expect(page.locator("[data-message-id]")).to_have_count(0)
        await say(page, "second")
        await expect(page.locator(".conversations a")).to_have_text(["second", "first"])
        await page.get_by_role("link", name="first").click()
        await expect(page.locator("[data-message-author-role=user]")).to_have_text(["first"])
        assert server.log[0].conversation != server.log[1].conversation
