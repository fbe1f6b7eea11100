"""The inspector page: served only to ourselves, alive under its own strict policy."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from bridge.relay import Relay
from bridge.relay.page import html, policy
from tests.relay.harness import FakeService, plain, raw


async def test_the_page_is_served_with_a_strict_policy(relay: Relay) -> None:
    status, answer = await raw(relay.port, plain(f"Host: localhost:{relay.port}"))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert (status, body) == (200, html())
    headers = dict(line.split(": ", 1) for line in head.decode("ascii").split("\r\n")[1:])
    rules = dict(rule.strip().split(" ", 1) for rule in headers["Content-Security-Policy"].split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["connect-src"] == f"ws://localhost:{relay.port}/"
    assert rules["script-src"].startswith("'sha256-")
    assert rules["style-src"].startswith("'sha256-")
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert (headers["X-Content-Type-Options"], headers["Referrer-Policy"]) == ("nosniff", "no-referrer")
    assert (headers["Cache-Control"], headers["Content-Type"]) == ("no-store", "text/html; charset=utf-8")


def test_the_page_asks_nobody_else_for_anything() -> None:
    text = html().decode("utf-8")
    assert not re.search(r"(src|href)=|https?://|@import|url\(|innerHTML|eval\(|style=", text)
    assert text.count("<script>") == text.count("<style>") == 1
    assert "127.0.0.1:9" in policy("127.0.0.1:9")


@pytest.mark.parametrize("target", ["/x", "/index.html", "//", "/?code=1", "/../etc/passwd", "http://127.0.0.1/"])
async def test_there_is_only_one_page(target: str, relay: Relay) -> None:
    assert (await raw(relay.port, plain(f"Host: 127.0.0.1:{relay.port}", target=target)))[0] == 404


async def test_the_page_is_not_for_strangers(relay: Relay) -> None:
    assert (await raw(relay.port, plain("Host: evil.example")))[0] == 421
    assert (await raw(relay.port, plain(f"Host: 127.0.0.1:{relay.port}", "Origin: http://evil.example")))[0] == 403
    for method in ("POST", "HEAD", "OPTIONS"):
        status, _ = await raw(relay.port, plain(f"Host: 127.0.0.1:{relay.port}", method=method))
        assert status in (0, 400, 405)


ROOT = ["--no-sandbox"] if os.geteuid() == 0 else []
HOSTILE = "<img src=x onerror=document.title='owned'>\u202e"


@pytest.mark.browser
async def test_the_page_in_a_real_browser(relay: Relay, service: FakeService, workspace: Path) -> None:
    """Recorded and live events, a filter, hostile text inert, nothing asked outside, no policy broken."""
    from playwright.async_api import async_playwright

    from bridge.chat.browser import find_browser

    await service.session(workspace, "s1")
    url = await relay.inspector_url(workspace)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_browser(), args=ROOT)
        page = await browser.new_page()
        problems: list[str] = []
        requests: list[str] = []
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        await page.goto(url)
        rows = page.locator("tbody tr")
        await rows.nth(0).wait_for()
        await service.journal.append("call.done", session="s1", call="call_7", data={"text": HOSTILE})
        await rows.nth(1).wait_for()
        assert "\\u202e" in await rows.nth(1).inner_text()
        assert await page.title() == "Tabferry inspector"
        assert "code=" not in page.url
        await page.get_by_role("searchbox").fill("CALL_7")
        await page.get_by_text("1 of 2 events").wait_for()
        assert await page.locator("#status").get_attribute("class") == "live"
        await page.reload()
        await page.get_by_text("open this page with: tabferry inspect").wait_for()
        await browser.close()
    assert problems == []
    assert {address.partition("#")[0] for address in requests} == {url.partition("#")[0]}
