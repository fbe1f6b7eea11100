"""Finding a live bridge: private files only, believed only after the proof, stale ones removed."""

# ruff: noqa: ASYNC240 (what is tested is what lies on the disk)
from __future__ import annotations

import asyncio
import json
import os
import stat
from collections.abc import AsyncIterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from websockets.asyncio.server import Server, ServerConnection, serve

from bridge.errors import UsageError
from bridge.relay import Announcement, Relay, RelayClient, RelayClosed, find_live
from bridge.relay.discovery import Discovery, Stale


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return tmp_path / "run"


async def test_a_live_bridge_is_found(relay: Relay, run: Path) -> None:
    found = await find_live(run)
    assert found is not None
    assert (found.url, found.pid, found.version) == (relay.url, os.getpid(), "1.2.3")
    (file,) = run.iterdir()
    assert set(json.loads(file.read_text(encoding="utf-8"))) == {"url", "pid", "token", "server_key", "version"}
    assert (stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(run.stat().st_mode)) == (0o600, 0o700)
    assert found.token not in repr(found)


async def test_nothing_is_found_where_nothing_is(run: Path) -> None:
    assert await find_live(run) is None
    assert not run.exists()


async def test_a_dead_bridge_is_removed_although_its_pid_lives(run: Path) -> None:
    """LX090: the pid is ours, so it runs; the bridge does not."""
    closed = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = closed.sockets[0].getsockname()[1]
    closed.close()
    await closed.wait_closed()
    Discovery(run).write(Announcement(f"ws://127.0.0.1:{port}/", os.getpid(), "t", "k", "1"))
    assert await find_live(run) is None
    assert list(run.iterdir()) == []


@pytest.fixture
async def impostor() -> AsyncIterator[Server]:
    """Another program on a port that a bridge once had: it lets everybody in and answers everything."""

    async def answer(socket: ServerConnection) -> None:
        async for frame in socket:
            told = {"version": "1", "proof": "0" * 64, "journal_id": "j", "seq": 0, "role": "controller"}
            told |= {"workspace": "/w", "viewer": None, "sessions": [], "approvals": []}
            await socket.send(json.dumps({"jsonrpc": "2.0", "id": json.loads(frame)["id"], "result": told}))

    async with serve(answer, "127.0.0.1", 0) as server:
        yield server


async def test_who_cannot_prove_itself_is_not_obeyed(impostor: Server, run: Path) -> None:
    port = next(iter(impostor.sockets)).getsockname()[1]
    claimed = Announcement(f"ws://127.0.0.1:{port}/", os.getpid(), "t", "k", "1")
    with pytest.raises(RelayClosed, match="another program"):
        await RelayClient.connect(claimed)
    Discovery(run).write(claimed)
    assert await find_live(run) is None
    assert list(run.iterdir()) == []


async def test_a_program_that_speaks_no_http_is_no_bridge(run: Path) -> None:
    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 hello\r\n")
        writer.close()

    server = await asyncio.start_server(babble, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    Discovery(run).write(Announcement(f"ws://127.0.0.1:{port}/", 1, "t", "k", "1"))
    assert await find_live(run) is None
    server.close()


async def test_a_bridge_that_does_not_answer_in_time_is_kept(run: Path) -> None:
    async def silent(announcement: Announcement) -> None:
        raise TimeoutError

    Discovery(run).write(Announcement("ws://127.0.0.1:1/", 1, "t", "k", "1"))
    assert await find_live(run, verify=silent) is None
    assert len(list(run.iterdir())) == 1


async def test_a_live_bridge_is_found_behind_dead_ones(relay: Relay, run: Path) -> None:
    for port in (1, 2):
        Discovery(run).write(Announcement(f"ws://127.0.0.1:{port}/", 1, "t", "k", "1"))
    found = await find_live(run)
    assert found is not None
    assert found.url == relay.url


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
async def test_a_file_that_others_can_read_is_ignored(mode: int, relay: Relay, run: Path) -> None:
    """LX087."""
    (file,) = run.iterdir()
    file.chmod(mode)
    assert await find_live(run) is None
    assert file.exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"pid": 1}',
        "\0",
        '{"url": "ws://evil.example/", "pid": 1, "token": "t", "server_key": "k", "version": "1"}',
        '{"url": "ws://127.0.0.1.evil.example:1/", "pid": 1, "token": "t", "server_key": "k", "version": "1"}',
        '{"url": "ws://127.0.0.1:1/", "pid": "1", "token": "t", "server_key": "k", "version": "1"}',
        '{"url": "ws://127.0.0.1:1/", "pid": 1, "token": "", "server_key": "k", "version": "1"}',
    ],
)
async def test_files_that_are_no_announcement_are_ignored(text: str, run: Path) -> None:
    run.mkdir(mode=0o700)
    file = run / "bridge-1.json"
    file.touch(mode=0o600)
    file.write_text(text, encoding="utf-8")
    assert await find_live(run, verify=never) is None


async def never(announcement: Announcement) -> None:
    raise AssertionError("nobody may be asked")


async def test_links_and_pipes_are_ignored(relay: Relay, run: Path, tmp_path: Path) -> None:
    (file,) = run.iterdir()
    file.rename(tmp_path / "moved.json")
    file.symlink_to(tmp_path / "moved.json")
    os.mkfifo(run / "bridge-2.json", 0o600)
    assert await find_live(run, verify=never) is None


async def test_a_directory_that_is_not_private_is_refused(run: Path, tmp_path: Path) -> None:
    run.mkdir(mode=0o700)
    run.chmod(0o755)
    announcement = Announcement("ws://127.0.0.1:1/", 1, "t", "k", "1")
    with pytest.raises(UsageError, match="chmod 700"):
        await find_live(run)
    with pytest.raises(UsageError, match="chmod 700"):
        Discovery(run).write(announcement)
    run.chmod(0o700)
    (tmp_path / "link").symlink_to(run)
    with pytest.raises(UsageError, match="symbolic link"):
        Discovery(tmp_path / "link").write(announcement)
    assert list(run.iterdir()) == []


def test_only_our_own_file_is_removed(run: Path) -> None:
    discovery = Discovery(run)
    discovery.remove()
    discovery.write(Announcement("ws://127.0.0.1:1/", 1, "t", "k", "1"))
    (file,) = run.iterdir()
    file.rename(run / "kept.json")
    file.touch(mode=0o600)
    discovery.remove()
    assert file.exists()


async def test_verification_of_a_wrong_token(relay: Relay, run: Path) -> None:
    from bridge.relay.client import verify_bridge

    found = await find_live(run)
    assert found is not None
    with pytest.raises(Stale):
        await verify_bridge(replace(found, token="wrong"))
    with pytest.raises(Stale, match="another program"):
        await verify_bridge(replace(found, server_key="wrong"))
    assert Announcement.from_json(found.to_json()) == found
    assert asdict(found)["token"] == found.token
