"""Drives of a real VS Code.

They run only when named (`drive_editor.py` is no `test_*.py`), and only where `TABFERRY_EDITOR` names the folder that
`scripts/editor.sh` made.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bridge.demo.sample import copy_sample
from tests.editor.code_server import CodeServer
from tests.editor.traces import Traces, alive, until
from tests.editor.workbench import Workbench, open_workbench

EXTENSION = Path(__file__).resolve().parents[2] / "extension" / "tabferry.vsix"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A fresh copy of the sample workspace."""
    return copy_sample(tmp_path / "workspace")


@pytest.fixture
def editor(tmp_path: Path) -> CodeServer:
    """A fresh editor whose bridge runs on this interpreter, on the demo page."""
    if "TABFERRY_EDITOR" not in os.environ:
        pytest.skip("needs a real editor: make test-editor")
    settings = {"tabferry.executable": sys.executable, "tabferry.site": "demo"}
    return CodeServer(Path(os.environ["TABFERRY_EDITOR"]).resolve(), tmp_path / "editor", settings)


@pytest.fixture
def traces(editor: CodeServer) -> Traces:
    return Traces(editor.home)


@pytest.fixture
async def workbench(editor: CodeServer, workspace: Path, tmp_path: Path, traces: Traces) -> AsyncIterator[Workbench]:
    """The editor's window with the packaged extension, showing the workspace. Its bridge has to end with it."""
    await editor.install(EXTENSION)
    async with editor.running(workspace) as url, open_workbench(url, tmp_path / "last.png") as bench:
        before = traces.bridges()
        yield bench
        started = [pid for pid in traces.bridges() if pid not in before]
    await until(lambda: not any(map(alive, started)))


@pytest.fixture
async def running_bridge(editor: CodeServer, tmp_path: Path, traces: Traces) -> AsyncIterator[int]:
    """A bridge of the same user that was there before the editor, in another workspace; its process id."""
    command = [sys.executable, "-P", "-m", "bridge", "serve", "--workspace", str(tmp_path)]
    process = await asyncio.create_subprocess_exec(*command, env=editor.environment())
    try:
        await until(traces.bridges)
        yield process.pid
    finally:
        process.terminate()
        await process.wait()
