"""The main job in a real VS Code: palette, bridge, chat page, diff editor, approval, file on disk.

Run with `make test-editor`. Nothing here is scripted but the demo page's model, and the page says that it is.
`TABFERRY_SCREENSHOT=FILE` keeps a picture of the window at the moment of approval.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.editor.code_server import CodeServer
from tests.editor.traces import Traces, alive, until
from tests.editor.workbench import Workbench

FIX = "Fix the diagnostic in tools/report.py"
TARGET = "tools/report.py"
UNUSED = "import os"
QUESTION = "Tabferry asks: "
READ = "Read package.json and tell me the version"

pytestmark = pytest.mark.editor


@pytest.fixture
def before(workspace: Path) -> str:
    """What the file that the task is about holds at first."""
    return (workspace / TARGET).read_text(encoding="utf-8")


async def _ask(bench: Workbench, task: str) -> None:
    await bench.command("Tabferry: Ask...")
    await bench.answer("Ask Tabferry", task)


async def test_start_ask_approve_stop(workbench: Workbench, workspace: Path, traces: Traces, before: str) -> None:
    """An approved call changes the file that the diff showed; stopping ends the bridge and takes back its file."""
    await workbench.command("Tabferry: Start Bridge")
    await until(traces.bridges)
    await _ask(workbench, FIX)
    await workbench.status("Tabferry: needs you")
    await workbench.notification(QUESTION).wait_for()
    await workbench.diff(UNUSED, "def late")
    assert (workspace / TARGET).read_text(encoding="utf-8") == before
    if picture := os.environ.get("TABFERRY_SCREENSHOT"):
        await workbench.page.screenshot(path=picture)
    await workbench.press(QUESTION, "Approve")
    await workbench.status("Tabferry")
    assert (workspace / TARGET).read_text(encoding="utf-8") == before.replace(f"{UNUSED}\n", "")
    assert [event.data["by"] for event in traces.events("call.granted")][-2:] == ["vscode", "policy"]
    [done] = traces.events("session.task_done")
    assert "no diagnostics any more" in done.data["answer"]
    await workbench.no_diff()
    [bridge] = traces.bridges()
    await workbench.command("Tabferry: Stop Bridge")
    await until(lambda: not alive(bridge))
    assert traces.bridges() == []


async def test_deny_with_a_reason(workbench: Workbench, workspace: Path, traces: Traces, before: str) -> None:
    """Ask starts the bridge by itself; a denied call changes nothing, and the model reads why."""
    await _ask(workbench, FIX)
    await workbench.notification(QUESTION).wait_for()
    await workbench.command("Tabferry: Deny Pending Call...")
    await workbench.answer("Deny: why?", "leave that file alone")
    await workbench.status("Tabferry")
    [denied] = traces.events("call.denied")
    assert "leave that file alone" in denied.data["reason"]
    assert any("leave that file alone" in event.data["text"] for event in traces.events("prompt.sent"))
    assert (workspace / TARGET).read_text(encoding="utf-8") == before


async def test_cancel_while_a_call_waits(workbench: Workbench, workspace: Path, traces: Traces, before: str) -> None:
    """A cancelled task changes nothing and its question goes away; the next task runs."""
    await _ask(workbench, FIX)
    await workbench.notification(QUESTION).wait_for()
    await workbench.command("Tabferry: Cancel")
    await workbench.status("Tabferry")
    await workbench.no_diff()
    assert len(traces.events("session.task_cancelled")) == 1
    assert (workspace / TARGET).read_text(encoding="utf-8") == before
    await _ask(workbench, READ)
    await until(lambda: traces.events("session.task_done"))
    assert traces.events("session.task_failed") == []


async def test_a_live_bridge_is_used_and_left_running(
    running_bridge: int, workbench: Workbench, traces: Traces
) -> None:
    """A bridge that proves itself serves this window too; stopping lets go of it and does not end it."""
    await _ask(workbench, READ)
    await until(lambda: traces.events("session.task_done"))
    assert traces.bridges() == [running_bridge]
    await workbench.command("Tabferry: Stop Bridge")
    await workbench.status_hint("The bridge is not running")
    assert alive(running_bridge)


async def test_output_channel(workbench: Workbench, editor: CodeServer, traces: Traces) -> None:
    """The task, its call and the answer can be read in the output channel."""
    if not editor.writes_output:
        pytest.skip("this editor was installed without a C++ compiler, so its output panel stays empty")
    await _ask(workbench, READ)
    await until(lambda: traces.events("session.task_done"))
    [done] = traces.events("session.task_done")
    for line in ('• read_file {"path":"package.json"}', done.data["answer"], "= done"):
        await workbench.output(line)
