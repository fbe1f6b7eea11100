from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bridge.demo.sample import CONVERSATIONS, Demo, copy_sample
from tests.demo.executor import Workspace, converse


@dataclass
class Event:
    type: str
    call: str | None = None
    data: dict[str, Any] = field(default_factory=dict)


class Disk(Workspace):
    """The fake tools on a folder, with the events that the journal would hold."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
        super().__init__({name: path.read_text(encoding="utf-8") for name, path in files.items()})
        self.events: list[Event] = []

    def run(self, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        call = str(len(self.calls))
        self.events.append(Event("call.parsed", call, {"tool": tool, "args": args}))
        outcome = super().run(tool, args)
        self.events.append(Event("call.done", call, {"success": outcome["success"]}))
        for name, text in self.files.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        return outcome


@pytest.mark.parametrize("demo", CONVERSATIONS, ids=lambda demo: demo.task)
class TestConversation:
    def test_is_proven_by_its_check(self, demo: Demo, tmp_path: Path) -> None:
        folder = copy_sample(tmp_path / "sample")
        workspace = Disk(folder)
        answer, _ = converse(workspace, demo.task)
        assert demo.check(folder, workspace.events, answer) is None

    def test_check_refuses_what_did_not_happen(self, demo: Demo, tmp_path: Path) -> None:
        folder = copy_sample(tmp_path / "sample")
        workspace = Disk(folder)
        answer, _ = converse(workspace, demo.task)
        assert demo.check(folder, workspace.events[:-1], answer) is not None
        assert demo.check(folder, [], answer) is not None
        assert demo.check(folder, workspace.events, "Done.") is not None

    def test_check_looks_at_the_disk(self, demo: Demo, tmp_path: Path) -> None:
        workspace = Disk(copy_sample(tmp_path / "sample"))
        answer, _ = converse(workspace, demo.task)
        fresh = copy_sample(tmp_path / "fresh")
        (fresh / "missing-file.txt").touch()
        (fresh / "src" / "more.ts").touch()
        package = fresh / "package.json"
        package.write_text(package.read_text(encoding="utf-8").replace("1.4.2", "9.9.9"), encoding="utf-8")
        assert demo.check(fresh, workspace.events, answer) is not None


def test_the_conversations_also_hold_one_after_another(tmp_path: Path) -> None:
    folder = copy_sample(tmp_path / "sample")
    for demo in CONVERSATIONS:
        workspace = Disk(folder)
        answer, _ = converse(workspace, demo.task)
        assert demo.check(folder, workspace.events, answer) is None


def test_copies_into_a_new_folder_only(tmp_path: Path) -> None:
    copy_sample(tmp_path / "sample")
    with pytest.raises(FileExistsError):
        copy_sample(tmp_path / "sample")
