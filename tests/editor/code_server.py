"""A private VS Code server: own home, own settings, a free port, ended with its process group."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

START_SECONDS = 180
"""A loaded machine needed 10 s to answer; the bound only has to end a hang."""

GOODBYE_SECONDS = 30
"""An editor gives its extensions some five seconds; the bound only has to end a hang."""

QUIET: dict[str, Any] = {
    "workbench.startupEditor": "none",
    "workbench.enableExperiments": False,
    "telemetry.telemetryLevel": "off",
    "extensions.autoUpdate": False,
    "extensions.autoCheckUpdates": False,
    "extensions.ignoreRecommendations": True,
    "update.mode": "none",
    "files.autoSave": "off",
    "git.enabled": False,
    "chat.disableAIFeatures": True,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
}


class CodeServer:
    """`install` is the folder that `scripts/editor.sh` made; everything written at run time stays under `home`.

    `settings` are the user's, machine-scoped ones included.
    """

    def __init__(self, install: Path, home: Path, settings: dict[str, Any]) -> None:
        self.home = home
        self._node = install / "bin" / "node"
        root = install / "code-server" / "node_modules" / "code-server"
        self._entry = root / "out" / "node" / "entry.js"
        logger = root / "lib" / "vscode" / "node_modules" / "@vscode" / "spdlog" / "build" / "Release" / "spdlog.node"
        self.writes_output = logger.exists()
        (home / "run").mkdir(mode=0o700, parents=True)
        (home / "config.yaml").write_text("bind-addr: 127.0.0.1:0\nauth: none\ncert: false\n", encoding="utf-8")
        for place in ("User", "Machine"):
            (home / "data" / place).mkdir(parents=True)
            text = json.dumps(QUIET | settings, indent=1)
            (home / "data" / place / "settings.json").write_text(text, encoding="utf-8")

    async def install(self, vsix: Path) -> None:
        """Install an extension package; raises RuntimeError with the editor's output when it refuses."""
        process = await self._spawn("--install-extension", str(vsix), "--force")
        async with asyncio.timeout(START_SECONDS):
            output, _ = await process.communicate()
        if process.returncode != 0:
            raise RuntimeError(output.decode(errors="replace"))

    @asynccontextmanager
    async def running(self, workspace: Path) -> AsyncIterator[str]:
        """Serve `workspace`; yields the page's URL."""
        flags = ["--bind-addr", "127.0.0.1:0", "--auth", "none", "--disable-telemetry", "--disable-update-check"]
        flags += ["--disable-workspace-trust", "--disable-getting-started-override"]
        process = await self._spawn(*flags, str(workspace))
        log = asyncio.Event()
        lines: list[str] = []
        reader = asyncio.create_task(_collect(process, lines, log))
        try:
            async with asyncio.timeout(START_SECONDS):
                address = await _address(lines, log)
            yield f"{address}/?folder={workspace}"
        finally:
            await _end(process)
            await reader

    async def _spawn(self, *arguments: str) -> Process:
        folders = ["--user-data-dir", str(self.home / "data"), "--extensions-dir", str(self.home / "extensions")]
        return await asyncio.create_subprocess_exec(
            str(self._node), str(self._entry), "--config", str(self.home / "config.yaml"), *folders, *arguments,
            env=self.environment(), stdout=PIPE, stderr=STDOUT, start_new_session=True,
        )  # fmt: skip

    def environment(self) -> dict[str, str]:
        """What the editor and the bridges of its user run with."""
        home = self.home
        own = {"HOME": home, "XDG_CONFIG_HOME": home / "config", "XDG_DATA_HOME": home / "share"}
        own |= {"XDG_STATE_HOME": home / "state", "XDG_CACHE_HOME": home / "cache", "XDG_RUNTIME_DIR": home / "run"}
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("TABFERRY_")}
        return inherited | {name: str(path) for name, path in own.items()}


async def _collect(process: Process, lines: list[str], changed: asyncio.Event) -> None:
    assert process.stdout is not None
    async for line in process.stdout:
        lines.append(line.decode(errors="replace"))
        changed.set()
    lines.append("(ended)")
    changed.set()


async def _address(lines: list[str], changed: asyncio.Event) -> str:
    while True:
        text = "".join(lines)
        if found := re.search(r"HTTP server listening on (http://127\.0\.0\.1:\d+)", text):
            return found[1]
        if lines and lines[-1] == "(ended)":
            raise RuntimeError(f"code-server ended: {text}")
        changed.clear()
        await changed.wait()


async def _end(process: Process) -> None:
    """Let the editor and then its extensions say goodbye; then end what is left of its process group."""
    with contextlib.suppress(ProcessLookupError, TimeoutError):
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(GOODBYE_SECONDS):
            await process.wait()
            while True:  # the extension host outlives the server by a second or two
                os.killpg(process.pid, 0)
                await asyncio.sleep(0.05)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
