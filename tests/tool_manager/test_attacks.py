"""The sample attack cases through every tool that takes a path; other cases of the same kinds exist."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.tool_manager.attacks import (
    CANARY,
    Site,
    build,
    call,
    calls_for,
    cases,
    plant_links,
    racing,
    set_up,
    swap_for_link,
)
from tool_manager import ToolManager, ToolResult

ITERATIONS = 2_000
# A path that these groups refuse is refused for every tool; elsewhere another tool may use it rightly.
EVERYWHERE = {"dotdot", "dotdot-op", "absolute", "prefix", "procdev", "nul", "symlink"}


def named(row: dict[str, Any]) -> str:
    return f"{row['id']}-{row['op']}-{row['expect']}"


def clean(result: ToolResult) -> None:
    assert CANARY not in json.dumps(result.data)
    assert result.success or (result.error and "Traceback" not in result.error and "\n" not in result.error.strip())


@pytest.mark.requirement("T40", "T42", "T43", "X7")
@pytest.mark.parametrize("row", cases("path"), ids=named)
async def test_case(row: dict[str, Any], tmp_path: Path) -> None:
    site = build(tmp_path)
    root = set_up(site, row["setup"])
    before = site.outside()
    async with asyncio.timeout(30), ToolManager(root, approve="auto") as manager:
        first, *others = calls_for(row, site)
        await check(row, manager, first, site)
        for other in others:
            result = await manager.execute(other)
            clean(result)
            if row["expect"] == "deny" and row["group"] in EVERYWHERE:
                assert not result.success, other
    assert site.outside() == before


async def check(row: dict[str, Any], manager: ToolManager, call: Any, site: Site) -> None:
    prepared = await manager.prepare(call)
    if row["expect"] == "ask":
        assert prepared.decision == "ask", prepared
    if row["expect"] == "allow":
        async with ToolManager(manager.workspace.path, approve="edits") as careful:
            assert (await careful.prepare(call)).decision == "allow"
    result = await manager.execute(call)
    clean(result)
    match row["expect"]:
        case "deny" | "ask" | "no_hang" | "clean_error_or_ask":
            assert not result.success, result
        case "allow":
            assert result.success, result
        case "binary_notice":
            assert result.success and result.data["binary"] and "Binary" in result.data["content"]
        case "bounded":
            assert not result.success and "10,485,760" in str(result.error)
        case "contained" if result.success and call.name == "write_file":
            assert (site.root / result.data["path"]).is_file()


RACES = {
    "dir_to_symlink": lambda site: swap_for_link(site.root / "src", site.parent / "outside"),
    "file_to_symlink": lambda site: swap_for_link(site.root / "src/a.py", site.parent / "outside/secret.txt"),
    "tmp_name_planted": lambda site: plant_links(site.root / "src", site.parent / "outside/secret.txt"),
    "root_swapped": lambda site: swap_for_link(site.root, site.parent / "outside"),
}


@pytest.fixture
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A race is about names; waiting for the disk 4,000 times would only make it slow."""
    monkeypatch.setattr(os, "fsync", lambda fd: None)


@pytest.mark.requirement("T40", "X7")
@pytest.mark.parametrize("row", cases("path_race"), ids=named)
async def test_race(row: dict[str, Any], site: Site, unsynced: None) -> None:
    """A component is swapped for a link to outside while the tool works: it may fail, never leave."""
    path = site.fill(row["input"])
    write = row["op"] == "write"
    before = site.outside()
    can_succeed = (site.root / path).exists() and row["group"] != "tmp_name_planted"
    succeeded = 0
    async with ToolManager(site.root, approve="auto") as manager:
        with racing(RACES[row["group"]](site)):
            for number in range(ITERATIONS):
                args = {"path": path, "content": f"{number}\n"} if write else {"path": path}
                result = await manager.execute(call("write_file" if write else "read_file", **args))
                clean(result)
                succeeded += result.success
    assert site.outside() == before
    assert bool(succeeded) >= can_succeed


@pytest.mark.requirement("T40", "X7")
@pytest.mark.parametrize("tool", ["list_files", "search_code", "get_diagnostics", "write_new"])
async def test_race_of_a_directory(tool: str, site: Site, unsynced: None) -> None:
    args: dict[str, dict[str, Any]] = {
        "list_files": {"directory": "src"},
        "search_code": {"query": "CANARY", "options": {"directory": "src"}},
        "get_diagnostics": {"file": "src/bad.json"},
        "write_new": {"path": "src/deeper/new.txt", "content": "new\n"},
    }
    (site.parent / "outside/bad.json").write_text(f'{{"{CANARY}": }}', "utf-8")
    (site.parent / "outside/deeper").mkdir()
    before = site.outside()
    slow = tool in {"search_code", "get_diagnostics"}
    async with ToolManager(site.root, approve="auto") as manager:
        with racing(swap_for_link(site.root / "src", site.parent / "outside")):
            for _ in range(ITERATIONS // 10 if slow else ITERATIONS):
                result = await manager.execute(call("write_file" if tool == "write_new" else tool, **args[tool]))
                clean(result)
                assert "bad.json" not in json.dumps(result.data) and "secret.txt" not in json.dumps(result.data)
    assert site.outside() == before


async def test_strict_dotdot_refuses_any_parent_component(site: Site) -> None:
    async with ToolManager(site.root, strict_dotdot=True) as manager:
        result = await manager.execute(call("read_file", path="src/../README.md"))
        assert result.error and result.error.startswith("Path traversal not allowed")
        assert (await manager.execute(call("read_file", path="README.md"))).success
