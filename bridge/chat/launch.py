"""Starting the browser on Tabferry's own profile folder, over a pipe, openly automated."""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import suppress
from pathlib import Path

from playwright.async_api import BrowserContext, Error, Page, Playwright, async_playwright

from bridge.chat import limits
from bridge.chat.browser import ensure_browser, sandbox_refused
from bridge.errors import ChatError

log = logging.getLogger(__name__)


class Browser:
    """One browser on one profile folder; `page` is its tab. Close it with `close()`."""

    def __init__(self, playwright: Playwright, context: BrowserContext) -> None:
        self._playwright = playwright
        self.context = context

    @classmethod
    async def launch(cls, profile_dir: Path, *, headless: bool) -> Browser:
        """Raises `UsageError` when there is no browser, `ChatError` when it does not start."""
        executable = await asyncio.to_thread(ensure_browser)
        await asyncio.to_thread(profile_dir.mkdir, mode=0o700, parents=True, exist_ok=True)
        playwright = await async_playwright().start()
        try:
            context = await _launch(playwright, executable, profile_dir, headless)
        except Error as error:
            await playwright.stop()
            raise ChatError(_why(error, executable, profile_dir)) from None
        return cls(playwright, context)

    async def page(self) -> Page:
        """The tab that a persistent context opens by itself, else a new one."""
        free = [page for page in self.context.pages if page.url == "about:blank"]
        return free[0] if free else await self.context.new_page()

    async def close(self) -> None:
        with suppress(Error):
            await self.context.close()
        await self._playwright.stop()


async def _launch(playwright: Playwright, executable: Path, profile_dir: Path, headless: bool) -> BrowserContext:
    if os.geteuid() == 0:
        log.info("Running as root: the browser's own sandbox is off (--no-sandbox).")
        return await _start(playwright, executable, profile_dir, headless, sandbox=False)
    try:
        return await _start(playwright, executable, profile_dir, headless, sandbox=True)
    except Error as error:
        if not sandbox_refused(error.message):
            raise
        log.warning("This kernel gives the browser no sandbox; it runs with --no-sandbox.")
        return await _start(playwright, executable, profile_dir, headless, sandbox=False)


async def _start(
    playwright: Playwright, executable: Path, profile_dir: Path, headless: bool, *, sandbox: bool
) -> BrowserContext:
    return await playwright.chromium.launch_persistent_context(
        profile_dir,
        executable_path=executable,
        headless=headless,
        chromium_sandbox=sandbox,
        viewport={"width": limits.VIEWPORT_WIDTH, "height": limits.VIEWPORT_HEIGHT} if headless else None,
        no_viewport=None if headless else True,
        # The tap sees no worker's traffic, so a page must not hide its requests behind one.
        service_workers="block",
        handle_sigint=False,
        handle_sigterm=False,
        handle_sighup=False,
        args=["--disable-dev-shm-usage", "--disable-quic", "--no-first-run"],
    )


def _why(error: Error, executable: Path, profile_dir: Path) -> str:
    if "SingletonLock" in error.message or "ProcessSingleton" in error.message or "already in use" in error.message:
        return f"Another browser is using the profile {profile_dir}; close it and try again."
    if "Missing X server" in error.message or "$DISPLAY" in error.message:
        return "There is no display for a visible browser; start it hidden (without --headed), or set DISPLAY."
    first = error.message.splitlines()[0].removeprefix("BrowserType.launch_persistent_context: ")
    return f"The browser {executable} did not start ({first}); check that it runs by itself, or set TABFERRY_BROWSER."
