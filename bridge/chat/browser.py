"""Finding, and where need be installing, the one thing we cannot ship: a Chromium."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

from bridge.errors import UsageError

log = logging.getLogger(__name__)

NAMES = (
    "google-chrome",
    "google-chrome-stable",
    "chromium",
    "chromium-browser",
    "microsoft-edge",
    "microsoft-edge-stable",
)
MAC_APPS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
MISSING = (
    "No Chrome, Chromium or Edge was found and none could be installed; "
    "install one (or run `playwright install chromium`), or set TABFERRY_BROWSER to its path."
)


def find_browser() -> Path | None:
    """The browser to launch: `TABFERRY_BROWSER`, else an installed one, else Playwright's own download; None if none.

    Raises `UsageError` when `TABFERRY_BROWSER` names something that is not an executable file.
    """
    named = os.environ.get("TABFERRY_BROWSER")
    if named:
        path = Path(named)
        if path.is_absolute() and path.is_file() and os.access(path, os.X_OK):
            return path
        raise UsageError(f"TABFERRY_BROWSER is {named!r}, which is not the absolute path of an executable file.")
    return _installed() or _downloaded()


def ensure_browser() -> Path:
    """`find_browser`, installing Chromium first where there is none.

    Tries `playwright install chromium`, then, as root on Debian or Ubuntu, `apt-get install chromium`.
    Raises `UsageError` with one sentence when nothing helped.
    """
    found = find_browser()
    if found:
        return found
    log.warning("No browser found; trying to install Chromium.")
    for command in _installers():
        if _run(command):
            found = find_browser()
            if found:
                return found
    raise UsageError(MISSING)


def _installed() -> Path | None:
    # An entry like "." or "bin" in PATH would let the repository we work on supply the browser.
    search = os.pathsep.join(p for p in os.environ.get("PATH", "").split(os.pathsep) if Path(p).is_absolute())
    candidates = [shutil.which(name, path=search) for name in NAMES]
    if sys.platform == "darwin":
        candidates += [app for app in MAC_APPS if os.access(app, os.X_OK)]
    return next((Path(found) for found in candidates if found), None)


def _downloaded() -> Path | None:
    root = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    default = Path.home() / ("Library/Caches/ms-playwright" if sys.platform == "darwin" else ".cache/ms-playwright")
    folder = Path(root) if root and root != "0" else default
    patterns = ("chromium-*/chrome-linux*/chrome", "chromium-*/chrome-mac*/*.app/Contents/MacOS/*")
    found = [path for pattern in patterns for path in sorted(folder.glob(pattern)) if os.access(path, os.X_OK)]
    return found[-1] if found else None


def _installers() -> list[list[list[str]]]:
    ways = [[[sys.executable, "-P", "-m", "playwright", "install", "chromium"]]]
    apt = shutil.which("apt-get", path="/usr/bin:/bin")
    if apt and os.geteuid() == 0:
        ways.append([[apt, "update", "-q"], [apt, "install", "-y", "-q", "--no-install-recommends", "chromium"]])
    return ways


def _run(commands: list[list[str]]) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in commands:
        log.warning("Running: %s", " ".join(command))
        try:
            done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=900)
        except (OSError, subprocess.TimeoutExpired) as error:
            log.warning("That did not work: %s", error)
            return False
        if done.returncode != 0:
            return False
    return True


def sandbox_refused(message: str) -> bool:
    """Whether a failed launch failed because this kernel gives unprivileged users no sandbox."""
    return any(sign in message for sign in ("No usable sandbox", "setuid sandbox", "Operation not permitted"))


def main() -> None:
    """For the Makefile: print the browser that will be used, after installing one if need be."""
    logging.basicConfig(format="%(message)s")
    try:
        print(ensure_browser())
    except UsageError as error:
        sys.exit(str(error))
