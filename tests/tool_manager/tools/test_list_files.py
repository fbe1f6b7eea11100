from __future__ import annotations

from typing import Any

import pytest

from tests.tool_manager.attacks import Site, call
from tool_manager import OutsideError, PathError, ToolManager, disk, ignore
from tool_manager.globs import compile_glob
from tool_manager.limits import LIST_FILES


async def listed(manager: ToolManager, directory: str = ".", **args: Any) -> Any:
    result = await manager.execute(call("list_files", directory=directory, **args))
    return result.data if result.success else result.error


@pytest.mark.requirement("T32")
async def test_all_files_sorted_without_git(manager: ToolManager, site: Site) -> None:
    data = await listed(manager)
    assert data["files"] == [".env", "README.md", "src/a.py", "sub/deep/x.txt"]
    assert (data["count"], data["total"]) == (4, 4) and "next" not in data
    assert (await listed(manager, str(site.root / "src")))["files"] == ["src/a.py"]


async def test_errors(manager: ToolManager) -> None:
    assert await listed(manager, "nope") == "Directory not found: nope"
    assert await listed(manager, "README.md") == "Path is a file, not a directory: README.md. Use read_file instead."
    assert "at any depth" not in await listed(manager, pattern="{a")
    assert str(await listed(manager, pattern="sub/../../x")).startswith("Path traversal not allowed")
    assert str(await listed(manager, pattern="/etc/*")).startswith("Path traversal not allowed")
    assert str(await listed(manager, pattern="{../outside/*,x}")).startswith("Path traversal not allowed")


async def test_ignored_files_are_left_out(manager: ToolManager, site: Site) -> None:
    for name in ("build/x.o", "a.log", "keep.log", "sub/a.tmp", "sub/deep/only.txt", "pkg/build.txt"):
        (site.root / name).parent.mkdir(exist_ok=True)
        (site.root / name).write_text("x", "utf-8")
    (site.root / ".gitignore").write_text("build/\n*.log\n!keep.log\n[bad\n", "utf-8")
    (site.root / "sub/.gitignore").write_text("*.tmp\n/deep/only.txt\n", "utf-8")
    files = (await listed(manager))["files"]
    assert "keep.log" in files and "pkg/build.txt" in files and "sub/deep/x.txt" in files
    assert not {"build/x.o", "a.log", "sub/a.tmp", "sub/deep/only.txt"} & set(files)
    assert (await listed(manager, "sub/deep"))["files"] == ["sub/deep/x.txt"]
    assert (await listed(manager, "build"))["files"] == ["build/x.o"]  # asked for by name


async def test_a_linked_ignore_file_is_not_followed(manager: ToolManager, site: Site) -> None:
    (site.parent / "rules").write_text("*\n", "utf-8")
    (site.root / ".gitignore").symlink_to("../rules")
    assert "src/a.py" in (await listed(manager))["files"]


async def test_links_and_odd_names_are_listed_and_not_followed(manager: ToolManager, site: Site) -> None:
    (site.root / "out").symlink_to("../outside")
    (site.root / "new\nline\x1b.txt").write_text("x", "utf-8")
    (site.root / "bad\udcff.txt").write_text("x", "utf-8")  # cannot be said in JSON
    files = (await listed(manager))["files"]
    assert "out" in files and "new\nline\x1b.txt" in files
    assert not [name for name in files if "secret" in name or "bad" in name]
    assert str(await listed(manager, "out")).startswith("Path traversal not allowed")


async def test_depth_names_what_it_did_not_enter(manager: ToolManager) -> None:
    data = await listed(manager, depth=1)
    assert (data["files"], data["dirs"]) == ([".env", "README.md"], ["src", "sub"])


async def test_pages_follow_next(manager: ToolManager, site: Site) -> None:
    (site.root / "many").mkdir()
    for number in range(LIST_FILES + 5):
        (site.root / f"many/{number:05}.txt").touch()
    first = await listed(manager, "many", pattern="*.txt")
    assert first["count"] == LIST_FILES and first["total"] == LIST_FILES + 5
    assert first["next"]["args"] == {"directory": "many", "pattern": "*.txt", "offset": LIST_FILES}
    second = (await manager.execute(call("list_files", **first["next"]["args"]))).data
    assert second["files"][-1] == f"many/{LIST_FILES + 4:05}.txt" and second["count"] == 5 and "next" not in second


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("**/*.ts", "a.ts", True),
        ("**/*.ts", "x/y/a.ts", True),
        ("*.ts", "x/y/a.ts", True),
        ("x/*.ts", "x/a.ts", True),
        ("x/*.ts", "x/y/a.ts", False),
        ("x/**", "x/y/a.ts", True),
        ("x/**/a.ts", "x/a.ts", True),
        ("./x/*.ts", "x/a.ts", True),
        ("*.{ts,tsx}", "a.tsx", True),
        ("*.{ts,tsx}", "a.js", False),
        ("a?.py", "ab.py", True),
        ("[!a]b", "cb", True),
        ("[!a]b", "ab", False),
        ("[a-c]", "b", True),
        (r"\*.py", "*.py", True),
        (r"\*.py", "a.py", False),
        ("a.py", "aXpy", False),
        ("!a", "!a", True),
        ("x..y", "x..y", True),
        ("a[", "a[", True),
        ("{a,{b,c}d}/x", "cd/x", True),
        ("{a,{b,c}d}/x", "d/x", False),
        ("{**/a,b}/c", "x/a/c", True),
        (r"\{a,b}", "{a,b}", True),
        ("[{]a", "{a", True),
        ("{*,*}" * 12 + "b", "ab", True),
        ("{*,*}" * 12 + "b", "a" * 200, False),
    ],
)
def test_globs(glob: str, path: str, matches: bool) -> None:
    assert compile_glob(glob).matches(path) is matches


@pytest.mark.parametrize("glob", ["", "a\0", "x" * 2_000, "{a,b", "[z-a]", "{a,b}" * 12])
def test_bad_globs(glob: str) -> None:
    with pytest.raises(PathError, match="glob"):
        compile_glob(glob)


@pytest.mark.parametrize("glob", ["../x", "a/../b", "{..,a}/x", "{a,/etc}/x", "{a,.}{x,.}/y", r"\../x", "~/x"])
def test_globs_that_lead_outside(glob: str) -> None:
    with pytest.raises(OutsideError):
        compile_glob(glob)


async def test_rules_that_are_not_obeyed_are_named(
    manager: ToolManager, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ignore, "IGNORE_RULES", 2)
    (site.root / ".gitignore").write_text("*.md\nx\ny\n", "utf-8")
    (site.root / "src/.gitignore").write_text("a.py\n", "utf-8")
    data = await listed(manager)
    assert data["notes"] == [
        "Rules of .gitignore not obeyed, as too long or too many: 1.",
        "Rules of src/.gitignore not obeyed, as too long or too many: 1.",
    ]
    assert "src/a.py" in data["files"] and "README.md" not in data["files"]
    monkeypatch.setattr(ignore, "IGNORE_FILE_BYTES", 4)
    assert (await listed(manager))["notes"][0] == ".gitignore is longer than 4 bytes and was not obeyed."


async def test_a_walk_is_bounded_in_time(manager: ToolManager, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "DISK_SECONDS", 0.0)
    data = await listed(manager)
    assert data["files"] == [] and "Not everything" in data["incomplete"]
