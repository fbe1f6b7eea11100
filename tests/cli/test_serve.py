"""`tabferry serve` as a real process: announced, connected to, ended."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bridge.journal.lock import WriterLock
from bridge.journal.paths import private_dir
from bridge.relay import Announcement, RelayClient, RelayError, find_live

SECONDS = 60
"""A generous bound: a Python process on a busy machine takes seconds to import everything."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh machine: every directory of ours below the test's own."""
    for name in [name for name in os.environ if name.startswith(("TABFERRY_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TABFERRY_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "ws").mkdir()
    return tmp_path


async def start(*args: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "bridge", "serve", *args, stdout=pipe, stderr=pipe, stdin=asyncio.subprocess.DEVNULL
    )


async def finished(*args: str) -> tuple[int | None, str, str]:
    process = await start(*args)
    async with asyncio.timeout(SECONDS):
        out, err = await process.communicate()
    return process.returncode, out.decode("utf-8"), err.decode("utf-8")


def announcements(home: Path) -> list[str]:
    return [path.name for path in (home / "state" / "run").iterdir()]


@asynccontextmanager
async def running(workspace: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, Announcement]]:
    process = await start("--announce", "--workspace", str(workspace))
    assert process.stdout is not None
    try:
        async with asyncio.timeout(SECONDS):
            line = (await process.stdout.readline()).decode("ascii")
        assert set(json.loads(line)) == {"url", "token", "server_key", "pid", "version"}
        yield process, Announcement.from_json(line)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_an_announced_bridge_is_used_and_ended(home: Path) -> None:
    """The announced token controls its workspace; SIGTERM ends it cleanly and takes the announcement back."""
    async with running(home / "ws") as (process, announced):
        assert announced.pid == process.pid
        async with await RelayClient.connect(announced, name="test") as client:
            assert (client.initialized.role, client.initialized.workspace) == ("controller", str(home / "ws"))
            names = {tool["name"] for tool in (await client.call("tools/list"))["tools"]}
            assert {"read_file", "write_file"} <= names
            with pytest.raises(RelayError):
                await client.call("task/start", {"task": "x", "site": "nowhere"})
        # A second one is a client of the first (CX154); without --announce it has nothing to do.
        (home / "other").mkdir()
        code, out, _ = await finished("--announce", "--workspace", str(home / "other"))
        second = Announcement.from_json(out)
        assert (code, second.url, second.pid) == (0, announced.url, announced.pid)
        assert second.token != announced.token
        async with await RelayClient.connect(second) as client:
            assert client.initialized.workspace == str(home / "other")
        code, out, err = await finished("--workspace", str(home / "ws"))
        assert (code, out) == (2, "")
        assert f"process {process.pid}" in err
        assert len(err.splitlines()) == 1
        process.terminate()
        async with asyncio.timeout(SECONDS):
            assert await process.wait() == 0
    assert await find_live(home / "state" / "run") is None
    assert announcements(home) == []


async def test_shutdown_by_a_client_that_found_it(home: Path) -> None:
    async with running(home / "ws") as (process, _):
        found = await find_live(home / "state" / "run")
        assert found is not None
        async with await RelayClient.connect(found) as client:
            assert await client.call("shutdown") == {}
        async with asyncio.timeout(SECONDS):
            assert await process.wait() == 0
    assert announcements(home) == []


async def test_a_bridge_that_nobody_needs_ends(home: Path) -> None:
    async with asyncio.timeout(SECONDS):
        code, _, err = await finished("--workspace", str(home / "ws"), "--idle-minutes", "0.001")
    assert (code, announcements(home)) == (0, [])
    assert "The bridge is ready" in err


async def test_ctrl_c_while_a_client_is_connected(home: Path) -> None:
    async with running(home / "ws") as (process, announced):
        async with await RelayClient.connect(announced) as client:
            process.send_signal(signal.SIGINT)
            async with asyncio.timeout(SECONDS):
                assert [each async for each in client] == []
                assert await process.wait() == 130
        assert process.stderr is not None
        assert b"Traceback" not in await process.stderr.read()


async def test_a_killed_bridge_is_replaced(home: Path) -> None:
    async with running(home / "ws") as (process, _):
        process.kill()
        await process.wait()
    async with running(home / "ws") as (process, announced):
        async with await RelayClient.connect(announced) as client:
            assert client.initialized.role == "controller"
        assert len(announcements(home)) == 1


@pytest.mark.parametrize(
    ("args", "code", "sentence"),
    [
        (("--workspace", "missing"), 2, "missing"),
        (("--approve", "always"), 2, "--approve"),
        (("--dialect", "assistant_api"), 2, "never runs tools"),
        (("--team", "a"), 2, "There is no team 'a'"),
    ],
)
async def test_bad_usage_is_one_sentence(args: tuple[str, ...], code: int, sentence: str, home: Path) -> None:
    returned, out, err = await finished("--announce", *args)
    assert (returned, out) == (code, "")
    assert sentence in err
    assert len(err.splitlines()) == 1


async def test_a_journal_held_by_somebody_else_is_one_sentence(home: Path) -> None:
    lock = WriterLock(private_dir(home / "state") / "journal.lock")
    code, out, err = await finished("--workspace", str(home / "ws"))
    lock.release()
    assert (code, out) == (1, "")
    assert f"process {os.getpid()}" in err
    assert len(err.splitlines()) == 1
