"""A real server with a fake service behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bridge.journal import Journal
from bridge.relay import Announcement, Relay, RelayClient
from tests.relay.harness import FakeService


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[FakeService]:
    journal = Journal.open(tmp_path / "state" / "journal.db")
    yield FakeService(journal)
    await journal.close()


@pytest.fixture
async def relay(service: FakeService, tmp_path: Path) -> AsyncIterator[Relay]:
    async with Relay(service, version="1.2.3", runtime_dir=tmp_path / "run") as relay:
        yield relay


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    path = tmp_path / "ws"
    path.mkdir()
    return path.resolve()


@pytest.fixture
def other(tmp_path: Path) -> Path:
    path = tmp_path / "other"
    path.mkdir()
    return path.resolve()


@pytest.fixture
async def bridge(relay: Relay, workspace: Path) -> Announcement:
    """What a controller of `workspace` connects with."""
    return await relay.announcement(workspace)


@pytest.fixture
async def client(bridge: Announcement) -> AsyncIterator[RelayClient]:
    async with await RelayClient.connect(bridge, name="tests") as client:
        yield client
