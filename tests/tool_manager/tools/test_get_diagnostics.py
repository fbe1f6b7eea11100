from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.tool_manager.attacks import Site, call
from tool_manager import ToolManager, checkers
from tool_manager.limits import DIAGNOSTIC_FILE_BYTES


async def diagnose(manager: ToolManager, *file: str) -> Any:
    args = {"file": file[0]} if file else {}
    result = await manager.execute(call("get_diagnostics", **args))
    return result.data if result.success else result.error


def put(site: Site, **files: str | bytes) -> None:
    for name, data in files.items():
        name = name.replace("__", ".")
        (site.root / name).write_bytes(data.encode() if isinstance(data, str) else data)


@pytest.mark.requirement("T32")
async def test_all_files(manager: ToolManager, site: Site) -> None:
    put(site, bad__json='{\n "a": 1,\n}', bad__toml="a = 1\nb = \n", bad__py="def f(:\n", ok__py="x = 1\n")
    put(site, lint__py="import os\nprint(undefined)\n", x__txt="not checked")
    data = await diagnose(manager)
    found = {(item["file"], item["line"], item["severity"], item["code"]) for item in data["diagnostics"]}
    assert found == {
        ("bad.json", 3, "error", "syntax"),
        ("bad.toml", 2, "error", "syntax"),
        ("bad.py", 1, "error", "syntax"),
        ("lint.py", 1, "warning", "F401"),
        ("lint.py", 2, "error", "F821"),
    }
    assert data["count"] == 5
    assert data["checked"] == ["bad.json", "bad.py", "bad.toml", "lint.py", "ok.py", "src/a.py"]


@pytest.mark.requirement("T32")
async def test_one_file(manager: ToolManager, site: Site) -> None:
    assert await diagnose(manager, "src/a.py") == {"diagnostics": [], "count": 0, "checked": ["src/a.py"]}
    put(site, bad__py="x = (\n")
    (only,) = (await diagnose(manager, "bad.py"))["diagnostics"]
    assert only == {
        "file": "bad.py",
        "line": 1,
        "column": 5,
        "severity": "error",
        "code": "syntax",
        "message": "'(' was never closed",
    }


async def test_what_cannot_be_checked_is_said(manager: ToolManager, site: Site) -> None:
    put(site, tsconfig__json="{ // comment\n}", big__json=b" " * (DIAGNOSTIC_FILE_BYTES + 1))
    assert await diagnose(manager, "README.md") == (
        "No checker for README.md: only .json, .py, .pyi, .toml without comments can be checked here."
    )
    assert "No checker for tsconfig.json" in await diagnose(manager, "tsconfig.json")
    assert "was not checked" in await diagnose(manager, "big.json")
    assert await diagnose(manager, "nope.py") == "File not found: nope.py"
    assert (await diagnose(manager))["skipped"] == ["big.json"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.py", b"-" * 300_000 + b"1"),
        ("x.py", b"(" * 100_000),
        ("x.py", b"a\0b"),
        ("x.py", b"# coding: nonsense\n"),
        ("x.py", b"x = '\xff'\n"),
        ("x.json", b"[" * 500_000),
        ("x.json", b"\xff"),
        ("x.toml", b"a = " + b"[" * 100_000),
        ("x.json", b"1" * 10_000),
    ],
)
async def test_hostile_files_are_a_diagnostic(manager: ToolManager, site: Site, name: str, data: bytes) -> None:
    """Whatever it does to a parser, the bridge lives and the other files are checked."""
    (site.root / name).write_bytes(data)
    (site.root / "z.json").write_text("{", "utf-8")
    answer = await diagnose(manager)
    assert {item["file"] for item in answer["diagnostics"]} == {name, "z.json"}
    assert name in answer["checked"] and "z.json" in answer["checked"]


async def test_nothing_of_the_project_runs_or_configures(manager: ToolManager, site: Site) -> None:
    trap = f"open({str(site.root / 'ran')!r}, 'w').close()\n"
    for name in ("json.py", "sitecustomize.py", "tomllib.py", "src/base64.py"):
        (site.root / name).write_text(trap, "utf-8")
    (site.root / "ruff.toml").write_text('lint.select = ["ALL"]\n', "utf-8")
    assert (await diagnose(manager))["diagnostics"] == []
    assert not (site.root / "ran").exists()


async def test_secret_files_are_not_checked_unasked(manager: ToolManager, site: Site) -> None:
    (site.root / "secrets").mkdir()
    (site.root / "secrets/x.json").write_text("{CANARY", "utf-8")
    assert "looks like a secret" in await diagnose(manager, "secrets/x.json")
    assert "secrets/x.json" not in (await diagnose(manager))["checked"]


PARSER = """
import json, sys, time
for number, line in enumerate(sys.stdin):
    if "slow" in str(__import__("base64").b64decode(json.loads(line)["data"])):
        time.sleep(600)
    print(json.dumps([[1, 1, "found"]]), flush=True)
"""


async def test_a_slow_file_takes_nothing_from_the_others(
    manager: ToolManager, site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "parser.py").write_text(PARSER, "utf-8")
    monkeypatch.setattr(checkers, "_SCRIPT", tmp_path / "parser.py")
    monkeypatch.setattr(checkers, "DIAGNOSTIC_FILE_SECONDS", 1.0)
    put(site, a__json="{}", b__json='"slow"', c__toml="")
    (site.root / "src/a.py").unlink()
    found = {item["file"]: (item["severity"], item["message"]) for item in (await diagnose(manager))["diagnostics"]}
    assert found == {
        "a.json": ("error", "found"),
        "b.json": ("warning", "the parser took longer than 1 s and was stopped"),
        "c.toml": ("error", "found"),
    }


async def test_what_time_did_not_allow_is_named(
    manager: ToolManager, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkers, "DIAGNOSTIC_SECONDS", 0.0)
    put(site, a__json="{", b__json="{")
    found = [item for item in (await diagnose(manager))["diagnostics"] if item["code"] == "syntax"]
    assert [item["file"] for item in found] == ["a.json", "b.json", "src/a.py"]
    assert all("ask for this file alone" in item["message"] and item["severity"] == "warning" for item in found)


async def test_a_long_name_in_a_message_is_cut(manager: ToolManager, site: Site) -> None:
    name = "x" * 200_000
    put(site, a__py=f"def f({name}):\n    global {name}\n", b__json="{")
    found = {item["file"]: item["message"] for item in (await diagnose(manager))["diagnostics"]}
    assert set(found) == {"a.py", "b.json"} and found["a.py"].startswith("name 'xxx") and len(found["a.py"]) == 1000
