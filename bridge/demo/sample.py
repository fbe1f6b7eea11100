"""The sample workspace and the conversations that `tabferry demo` holds about it, with the proof that each happened."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal, Protocol


class StepEvent(Protocol):
    """What a check reads of a journal event: `call.parsed` has `tool` and `args` in its data, `call.done` `success`."""

    @property
    def type(self) -> str: ...
    @property
    def call(self) -> str | None: ...
    @property
    def data(self) -> Mapping[str, Any]: ...


Check = Callable[[Path, Sequence[StepEvent], str], str | None]
"""Workspace after the task, the task's events in order, the answer; `None` when all is proven, else what is not."""


@dataclass(frozen=True, slots=True)
class Demo:
    """One conversation of the demo: its task, the approve mode it runs with, and its check."""

    task: str
    approve: Literal["ask", "edits"]
    check: Check


def copy_sample(dest: Path) -> Path:
    """Copy the sample workspace to the new folder `dest` and return it; raises `FileExistsError` when it exists."""
    with resources.as_file(resources.files("bridge.demo") / "workspace") as source:
        shutil.copytree(source, dest, ignore=shutil.ignore_patterns("__pycache__"))
    return dest


def steps(events: Sequence[StepEvent]) -> list[tuple[str, str, bool]]:
    """The calls that ran, in order: tool, its file or pattern or query, and whether it succeeded."""
    parsed = {event.call: event.data for event in events if event.type == "call.parsed"}
    done = [event for event in events if event.type == "call.done" and event.call in parsed]
    return [(parsed[e.call]["tool"], _subject(parsed[e.call]["args"]), e.data.get("success") is True) for e in done]


def _subject(args: Mapping[str, Any]) -> str:
    return str(next((args[key] for key in ("path", "file", "pattern", "query") if key in args), ""))


def _expect(events: Sequence[StepEvent], wanted: list[tuple[str, str, bool]]) -> str | None:
    ran = steps(events)
    return None if ran == wanted else f"the calls that ran are {ran}, expected {wanted}"


def _says(answer: str, *needed: str) -> str | None:
    missing = [text for text in needed if text not in answer]
    return f"the answer does not say {missing}: {answer!r}" if missing else None


def check_version(workspace: Path, events: Sequence[StepEvent], answer: str) -> str | None:
    version = json.loads((workspace / "package.json").read_text(encoding="utf-8"))["version"]
    return _expect(events, [("read_file", "package.json", True)]) or _says(
        answer, f"version in package.json is {version}"
    )


def check_count(workspace: Path, events: Sequence[StepEvent], answer: str) -> str | None:
    files = [path.relative_to(workspace).as_posix() for path in workspace.rglob("*.ts")]
    return _expect(events, [("list_files", "**/*.ts", True)]) or _says(answer, f"{len(files)} TypeScript files", *files)


def check_missing(workspace: Path, events: Sequence[StepEvent], answer: str) -> str | None:
    if (workspace / "missing-file.txt").exists():
        return "missing-file.txt exists, although nothing should have made it"
    return _expect(events, [("read_file", "missing-file.txt", False)]) or _says(answer, "the file does not exist")


def check_rename(workspace: Path, events: Sequence[StepEvent], answer: str) -> str | None:
    """Every use in the sample is renamed on disk, nothing else changed, and each file was read, written, read again."""
    wanted = [("search_code", "realDeparture", True)]
    with resources.as_file(resources.files("bridge.demo") / "workspace") as source:
        for original in sorted(source.rglob("*.ts")):
            text = original.read_text(encoding="utf-8")
            name = original.relative_to(source).as_posix()
            if (workspace / name).read_text(encoding="utf-8") != text.replace("realDeparture", "departureTime"):
                return f"{name} does not hold what the rename should have left"
            if "realDeparture" in text:
                wanted += [("read_file", name, True), ("write_file", name, True), ("read_file", name, True)]
    return _expect(events, wanted) or _says(answer, "`departureTime` on line", "0 old uses left")


def check_fix(workspace: Path, events: Sequence[StepEvent], answer: str) -> str | None:
    """The unused import is gone from the file, and it alone."""
    name = "tools/report.py"
    original = (resources.files("bridge.demo") / "workspace" / name).read_text(encoding="utf-8")
    if (workspace / name).read_text(encoding="utf-8") != original.replace("import os\n", ""):
        return f"{name} does not hold what the fix should have left"
    order = ["get_diagnostics", "read_file", "write_file", "get_diagnostics"]
    return _expect(events, [(tool, name, True) for tool in order]) or _says(answer, "no diagnostics any more", "F401")


CONVERSATIONS: tuple[Demo, ...] = (
    Demo("Read package.json and tell me the version", "ask", check_version),
    Demo("Find all TypeScript files and count them", "ask", check_count),
    Demo("Read missing-file.txt", "ask", check_missing),
    Demo("Replace every use of `realDeparture` by `departureTime`", "edits", check_rename),
    Demo("Fix the diagnostic in tools/report.py", "edits", check_fix),
)
"""The demo, in order, on one fresh copy of the sample."""
