from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tool_manager.attacks import Site, build
from tool_manager import ToolManager


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return build(tmp_path)


@pytest.fixture
async def manager(site: Site) -> AsyncIterator[ToolManager]:
    """Everything runs unasked but the always-ask set."""
    async with ToolManager(site.root, approve="auto") as manager:
        yield manager
