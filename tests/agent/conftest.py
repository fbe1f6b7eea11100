"""A workspace with one file, and a journal beside it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.agent.scripted import LoggedJournal


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "package.json").write_text('{"name": "my-app", "version": "1.0.0"}\n', encoding="utf-8")
    return root


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[LoggedJournal]:
    opened = LoggedJournal.at(tmp_path)
    yield opened
    await opened.close()
