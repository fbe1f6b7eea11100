from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import expect

from bridge.chat.launch import Browser
from tests.pages.gradio_page import available, gradio_page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not available(), reason="Gradio's environment is not there; make it with `make pages-gradio`"),
]


async def test_the_page_passes_messages_to_the_endpoint_and_shows_the_reply(tmp_path: Path) -> None:
    async with asyncio.timeout(240), gradio_page() as (url, log):
        browser = await Browser.launch(tmp_path / "profile", headless=True)
        try:
            page = await browser.page()
            await page.goto(url)
            await page.get_by_test_id("textbox").fill("Read package.json and tell me the version")
            await page.get_by_test_id("textbox").press("Enter")
            await expect(page.locator("[data-testid=bot] pre code")).to_contain_text('"path": "package.json"')
            await expect(page.locator("[data-testid=textbox]:not([disabled])")).to_be_visible()
        finally:
            await browser.close()
    assert [exchange.text for exchange in log] == ["Read package.json and tell me the version"]
    assert log[0].replied_ns > log[0].received_ns


async def test_says_why_the_page_does_not_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit('no gradio today')", encoding="utf-8")
    monkeypatch.setattr("tests.pages.gradio_page.APP", broken)
    with pytest.raises(RuntimeError, match="no gradio today"):
        async with gradio_page():
            raise AssertionError("it started")
