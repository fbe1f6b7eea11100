from __future__ import annotations

from pathlib import Path

import pytest

from bridge.chat import browser
from bridge.errors import UsageError


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TABFERRY_BROWSER", raising=False)
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "none"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(browser, "MAC_APPS", ())


def test_the_named_browser_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program(tmp_path / "bin/chromium")
    mine = program(tmp_path / "mine")
    monkeypatch.setenv("TABFERRY_BROWSER", str(mine))
    assert browser.find_browser() == mine


@pytest.mark.parametrize("named", ["chromium", "/nowhere/chromium"])
def test_a_named_browser_must_be_an_absolute_executable(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABFERRY_BROWSER", named)
    with pytest.raises(UsageError, match="TABFERRY_BROWSER"):
        browser.find_browser()


def test_finds_an_installed_one(tmp_path: Path) -> None:
    installed = program(tmp_path / "bin/chromium")
    assert browser.find_browser() == installed


def test_a_repository_cannot_supply_the_browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program(tmp_path / "repo/chromium")
    monkeypatch.chdir(tmp_path / "repo")
    monkeypatch.setenv("PATH", f".::{tmp_path / 'bin'}")
    assert browser.find_browser() is None


def test_finds_what_playwright_downloaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program(tmp_path / "pw/chromium-1000/chrome-linux/chrome")
    newest = program(tmp_path / "pw/chromium-1200/chrome-linux/chrome")
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "pw"))
    assert browser.find_browser() == newest


def test_installs_in_order_and_stops_when_one_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tried: list[str] = []

    def run(commands: list[list[str]]) -> bool:
        tried.append(" ".join(commands[-1][-2:]))
        if "apt-get" in commands[-1][0]:
            program(tmp_path / "bin/chromium")
        return "apt-get" in commands[-1][0]

    ways = [[["python", "-m", "playwright", "install", "chromium"]], [["/usr/bin/apt-get", "install", "chromium"]]]
    monkeypatch.setattr(browser, "_installers", lambda: ways)
    monkeypatch.setattr(browser, "_run", run)
    assert browser.ensure_browser() == tmp_path / "bin/chromium"
    assert tried == ["install chromium", "install chromium"]


def test_says_what_to_do_when_nothing_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "_installers", list)
    with pytest.raises(UsageError, match=r"install one .* or set TABFERRY_BROWSER"):
        browser.ensure_browser()
