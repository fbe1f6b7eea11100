"""`tabferry sessions` and `tabferry inspect` on a recorded journal."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bridge.cli.main import app
from bridge.journal import Event, Journal, paths
from bridge.relay import Announcement


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TABFERRY_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("TABFERRY_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path / "state"


@pytest.fixture
async def recorded(tmp_path: Path) -> AsyncIterator[list[Event]]:
    """Two sessions of two workspaces; the journal stays open, as while a bridge runs."""
    journal = Journal.open(paths.journal_path())
    for name, workspace in (("s_aaa", tmp_path / "one"), ("s_abb", tmp_path / "two")):
        data = {"workspace": str(workspace), "site": "demo", "title": f"Title of {name}\x1b[31m"}
        await journal.append("session.started", session=name, data=data)
        await journal.append("state", session=name, data={"state": "done"})
        await journal.append("session.task_done", session=name, data={"answer": f"The answer of {name}\x1b[31m"})
    yield await journal.events()
    await journal.close()


async def tabferry(*args: str) -> tuple[int, str, str]:
    result = await asyncio.to_thread(CliRunner().invoke, app, args)
    return result.exit_code, result.stdout, result.stderr


async def test_list_shows_every_session(recorded: list[Event]) -> None:
    code, out, _ = await tabferry("sessions", "list")
    assert code == 0
    assert out.index("s_abb") < out.index("s_aaa")
    assert "Title of s_aaa" in out
    assert "\x1b[31m" not in out


async def test_list_as_json_lines(recorded: list[Event], tmp_path: Path) -> None:
    code, out, err = await tabferry("sessions", "list", "--json", "--workspace", str(tmp_path / "one"))
    (row,) = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert (row["session"], row["workspace"], row["state"]) == ("s_aaa", str(tmp_path / "one"), "done")
    _, out, _ = await tabferry("sessions", "list", "--json", "--limit", "1")
    assert len(out.splitlines()) == 1


async def test_an_empty_list_says_so(tmp_path: Path) -> None:
    code, out, err = await tabferry("sessions", "list", "--json")
    assert (code, out) == (0, "")
    assert "No session has been recorded" in err
    assert not (tmp_path / "state").exists()


async def test_show_prints_the_transcript(recorded: list[Event]) -> None:
    code, out, _ = await tabferry("sessions", "show", "s_aa")
    assert code == 0
    assert "The answer of s_aaa" in out
    assert "s_abb" not in out
    assert "\x1b[31m" not in out


async def test_show_as_json_lines_is_the_record(recorded: list[Event]) -> None:
    _, out, _ = await tabferry("sessions", "show", "s_abb", "--json")
    expected = [event.as_dict() for event in recorded if event.session == "s_abb"]
    assert [json.loads(line) for line in out.splitlines()] == expected


@pytest.mark.parametrize(("text", "sentence"), [("s_x", "no session 's_x'"), ("s_a", "Several sessions")])
@pytest.mark.parametrize("command", [("sessions", "show"), ("inspect", "--no-open")])
async def test_a_wrong_id_is_bad_usage(
    text: str, sentence: str, command: tuple[str, ...], recorded: list[Event]
) -> None:
    code, out, err = await tabferry(*command, text)
    assert (code, out) == (2, "")
    assert sentence in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("command", [("sessions", "show", "s"), ("inspect", "--no-open")])
async def test_without_a_journal_there_is_one_sentence(command: tuple[str, ...]) -> None:
    code, _, err = await tabferry(*command)
    assert code == 1
    assert "There is no journal at" in err


@pytest.mark.parametrize("command", ["sessions list", "sessions show", "inspect", "serve"])
async def test_help_has_an_example(command: str) -> None:
    code, out, _ = await tabferry(*command.split(), "--help")
    assert code == 0
    assert f"Example: tabferry {command}" in out


async def test_inspect_serves_a_recording_read_only(recorded: list[Event], tmp_path: Path) -> None:
    """Beside a journal that another process writes; ends with 130 on Ctrl-C."""
    command = [sys.executable, "-m", "bridge", "inspect", "s_aa", "--no-open", "--json"]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, env={**os.environ})
    assert process.stdout is not None
    async with asyncio.timeout(60):
        url = json.loads(await process.stdout.readline())["url"]
        address, _, fragment = url.partition("#code=")
        code, _, session = fragment.partition("&session=")
        announced = Announcement(address.replace("http:", "ws:"), process.pid, code, "unknown", "")
        assert session == "s_aaa"
        seen = await watched(announced)
        process.send_signal(signal.SIGINT)
        assert await process.wait() == 130
    assert seen == [event.seq for event in recorded if event.session == "s_aaa"]


async def watched(announced: Announcement) -> list[int]:
    """What a page sees: it knows no server key, so it does not check the proof."""
    from websockets.asyncio.client import connect

    hello = {"client": {"name": "page", "version": "1"}, "nonce": "n" * 16, "last": {"journal_id": "", "seq": 0}}
    protocols = ["tabferry.v1", f"token.{announced.token}"]
    async with connect(announced.url, subprotocols=protocols, proxy=None) as socket:  # type: ignore[arg-type]
        await socket.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}))
        assert json.loads(await socket.recv())["result"]["role"] == "viewer"
        await socket.send(json.dumps({"jsonrpc": "2.0", "id": 2, "method": "task/start", "params": {"task": "x"}}))
        messages = [json.loads(await socket.recv()) for _ in range(4)]
    assert [each["error"]["code"] for each in messages if "error" in each] == [-32001]
    return [each["params"]["seq"] for each in messages if "params" in each]
