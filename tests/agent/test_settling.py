"""A journal that a killed process left, and the next one that opens it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bridge.agent import Bridge, LLMManager
from bridge.agent.settling import current_hashes, settle
from bridge.journal import Journal, paths
from bridge.relay.service import TaskRequest
from tests.agent.scripted import ScriptedChat, types

ENDED = ["call.done", "session.task_failed"]


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


async def left(path: Path, workspace: Path, session: str = "s_1") -> None:
    """A journal as a bridge leaves it that was killed between an intent and its write."""
    journal = Journal.open(path)
    await journal.append("session.started", session=session, data={"workspace": str(workspace)})
    await journal.append("session.task_started", session=session, task="t_1", data={"task": "Go"})
    data = {"tool": "write_file", "effect": "write", "before": {"f": None}, "after": {"f": digest(b"new")}}
    await journal.append("call.started", session=session, task="t_1", call="c_0", data=data)
    await journal.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "journal.db"


async def test_the_bridge_settles_what_it_finds_once(path: Path, workspace: Path) -> None:
    await left(path, workspace)
    journal = Journal.open(path)
    bridge = Bridge(journal)
    await bridge.start()
    await bridge.start()
    assert (await types(journal))[3:] == ENDED
    [row] = await journal.sessions()
    assert row.state == "failed"
    done, failed = (await journal.events())[3:]
    assert (done.call, done.data["settled"], done.data["success"]) == ("c_0", "not_done", False)
    assert (failed.task, failed.data["kind"]) == ("t_1", "Interrupted")
    await bridge.close()
    await journal.close()


async def test_a_task_makes_the_bridge_settle_first(path: Path, workspace: Path) -> None:
    await left(path, workspace)
    (workspace / "f").write_bytes(b"new")
    journal = Journal.open(path)

    async def factory(_: Any) -> ScriptedChat:
        return ScriptedChat()

    bridge = Bridge(journal, chat_factory=factory)
    await bridge.start_task(workspace, TaskRequest("Go on"))
    assert (await types(journal))[3:7] == ["file.changed", *ENDED, "session.started"]
    await bridge.close()
    await journal.close()


async def test_the_manager_settles_its_own_journal_only(
    path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "journal_path", lambda: path)
    await left(path, workspace)
    journal = Journal.open(path)
    async with LLMManager(workspace, chat=ScriptedChat(), journal=journal) as llm:
        await llm.call("Go")
    assert not set(ENDED) & set(await types(journal))
    await journal.close()
    async with LLMManager(workspace, chat=ScriptedChat()) as llm:
        assert (await types(llm.journal))[-2:] == ENDED


async def test_what_this_process_does_is_let_alone(path: Path, workspace: Path) -> None:
    await left(path, workspace)
    journal = Journal.open(path)
    for type in ("session.started", "session.task_started"):
        await journal.append(type, session="s_mine", task="t_mine", data={"workspace": str(workspace)})
    await settle(journal)
    assert [event.session for event in (await journal.events())[5:]] == ["s_1", "s_1"]
    await journal.close()


async def test_a_workspace_that_is_gone_leaves_it_unknown(path: Path, tmp_path: Path) -> None:
    await left(path, tmp_path / "gone")
    journal = Journal.open(path)
    await settle(journal)
    assert (await journal.events())[3].data["settled"] == "unknown"
    await journal.close()


def _absent(file: Path) -> None:
    pass


def _pipe(file: Path) -> None:
    os.mkfifo(file)


def _link_out(file: Path) -> None:
    outside = file.parent.parent / "outside"
    outside.write_bytes(b"secret")
    file.symlink_to(outside)


def _link_in(file: Path) -> None:
    file.symlink_to("package.json")


@pytest.mark.requirement("T40")
@pytest.mark.parametrize(
    ("make", "known"),
    [
        (_absent, {"f": None}),
        (lambda file: file.write_bytes(b"data"), {"f": digest(b"data")}),
        (Path.mkdir, {}),
        (_pipe, {}),
        (_link_out, {}),
        (_link_in, {}),
    ],
)
def test_only_what_a_tool_could_have_written_is_read(
    make: Callable[[Path], Any], known: dict[str, str | None], workspace: Path
) -> None:
    make(workspace / "f")
    assert current_hashes(str(workspace), ["f", "../outside", "/etc/passwd", "f\0"]) == known
