"""What a person does in the editor's window, as Playwright steps with generous bounds."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Locator, Page, async_playwright, expect

BOUND_MS = 180_000
"""The workbench took up to 50 s to be ready on a loaded machine; the bound only has to end a hang."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"


class Workbench:
    def __init__(self, page: Page) -> None:
        self.page = page

    async def ready(self) -> None:
        """The extension is active once its status bar item is there."""
        await self.page.locator(".monaco-workbench").wait_for(timeout=BOUND_MS)
        await self.status("Tabferry")

    async def command(self, title: str) -> None:
        """Run a command from the palette by its exact title."""
        box = self.page.locator(".quick-input-widget input").first
        row = self.page.locator(".quick-input-list .monaco-list-row", has_text=title).first
        await self.page.locator(".monaco-workbench").focus()
        await self.page.keyboard.press("F1")
        await box.wait_for(state="visible", timeout=BOUND_MS)
        await box.fill(f">{title}")
        await row.wait_for(state="visible", timeout=BOUND_MS)
        await row.click()

    async def answer(self, title: str, text: str) -> None:
        """Type into the input box that asks `title`, and press Enter."""
        widget = self.page.locator(".quick-input-widget", has_text=title)
        await widget.wait_for(state="visible", timeout=BOUND_MS)
        await widget.locator("input").first.fill(text)
        await self.page.keyboard.press("Enter")

    async def status(self, text: str) -> None:
        """Wait until the status bar item says exactly `text` (of an idle bridge: "Tabferry")."""
        item = self.page.locator(".statusbar-item").get_by_text(text, exact=True)
        await item.wait_for(state="visible", timeout=BOUND_MS)

    async def status_hint(self, text: str) -> None:
        """Wait until the status bar item's tooltip contains `text`."""
        await self.page.locator(f'.statusbar-item [aria-label*="{text}"]').first.wait_for(timeout=BOUND_MS)

    def notification(self, text: str) -> Locator:
        return self.page.locator(".notifications-toasts .notification-list-item", has_text=text).first

    async def press(self, text: str, button: str) -> None:
        """Press a button of the notification that contains `text`."""
        choice = self.notification(text).get_by_role("button", name=button, exact=True)
        await choice.click(timeout=BOUND_MS)

    async def diff(self, before: str, after: str) -> None:
        """Wait until a diff editor shows both texts."""
        editor = self.page.locator(".monaco-diff-editor")
        await expect(editor.locator(".view-lines").filter(has_text=before).first).to_be_attached(timeout=BOUND_MS)
        await expect(editor.locator(".view-lines").filter(has_text=after).first).to_be_attached(timeout=BOUND_MS)

    async def no_diff(self) -> None:
        """Wait until no diff editor is open any more."""
        await expect(self.page.locator(".monaco-diff-editor")).to_have_count(0, timeout=BOUND_MS)

    async def output(self, text: str) -> None:
        """Wait until the output panel shows `text` in its last lines; those above are not on the page."""
        lines = self.page.locator(".output-view .view-lines")
        await expect(lines).to_contain_text(text, timeout=BOUND_MS)


@asynccontextmanager
async def open_workbench(url: str, last_look: Path) -> AsyncIterator[Workbench]:
    """The editor at `url` in a headless browser, ready for commands; `last_look` gets a picture of how it ended."""
    async with async_playwright() as playwright:
        arguments = ["--disable-quic", "--disable-background-networking", "--no-first-run", "--disable-dev-shm-usage"]
        arguments += [OFFLINE] + (["--no-sandbox"] if os.geteuid() == 0 else [])
        browser = await playwright.chromium.launch(executable_path=find_browser(), args=arguments)
        page = await browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(BOUND_MS)
        await page.goto(url, timeout=BOUND_MS)
        bench = Workbench(page)
        try:
            await bench.ready()
            yield bench
        finally:
            await page.screenshot(path=last_look)
            await browser.close()


def find_browser() -> Path | None:
    """An installed Chromium; None lets Playwright look for its own."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    return Path(found) if found else None
