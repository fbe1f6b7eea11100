from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from tests.tool_manager.attacks import Site, call
from tool_manager import ToolManager, Workspace, disk, ripgrep
from tool_manager.limits import SEARCH_LINE_CHARS
from tool_manager.ripgrep import Hit, Hits, Query, fingerprint
from tool_manager.tools import search_code


async def search(manager: ToolManager, query: str, **options: Any) -> Any:
    result = await manager.execute(call("search_code", query=query, options=options))
    return result.data if result.success else result.error


def places(data: Any) -> list[tuple[str, int]]:
    return [(match["file"], match["line"]) for match in data["matches"]]


@pytest.fixture
def code(site: Site) -> Site:
    files = {
        "src/b.py": "one\ntwo (x)\nthree\nTWO\n",
        "src/c.ts": "two\n",
        "sub/.env": "two\n",
        "secrets/two.txt": "two\n",
        ".hidden/d.txt": "two\n",
        "build/e.txt": "two\n",
        "sub/gen/f.txt": "two\n",
        ".gitignore": "build/\n/sub/gen/\n",
        ".git/two": "two\n",
    }
    for name, text in files.items():
        (site.root / name).parent.mkdir(parents=True, exist_ok=True)
        (site.root / name).write_text(text, "utf-8")
    (site.root / "src/bin").write_bytes(b"two\n\0\ntwo\n")
    (site.root / "link").symlink_to("../outside")
    return site


@pytest.mark.requirement("T32")
async def test_literal_sorted_and_without_secrets_ignored_binary(manager: ToolManager, code: Site) -> None:
    data = await search(manager, "two")
    assert places(data) == [(".hidden/d.txt", 1), ("src/b.py", 2), ("src/b.py", 4), ("src/c.ts", 1)]
    assert data["matches"][1] == {"file": "src/b.py", "line": 2, "column": 1, "text": "two (x)"}
    assert places(await search(manager, "(x)")) == [("src/b.py", 2)]
    assert await search(manager, "CANARY") == {"matches": [], "count": 0}


async def test_options(manager: ToolManager, code: Site) -> None:
    assert places(await search(manager, "two", case=False, directory="src")) == [
        ("src/b.py", 2),
        ("src/b.py", 4),
        ("src/c.ts", 1),
    ]
    assert places(await search(manager, r"^t\w+$", regex=True, case=True)) == [
        (".hidden/d.txt", 1),
        ("src/b.py", 3),
        ("src/c.ts", 1),
    ]
    assert places(await search(manager, "two", glob="*.ts")) == [("src/c.ts", 1)]
    assert places(await search(manager, "two", glob="b.*", directory="src", case=True)) == [("src/b.py", 2)]
    assert places(await search(manager, "two", glob="src/*.{py,ts}", case=True)) == [("src/b.py", 2), ("src/c.ts", 1)]
    context = (await search(manager, "two", directory="src/b.py", context=1))["matches"][0]
    assert (context["before"], context["after"]) == (["one"], ["three"])


async def test_a_glob_cannot_uncover_what_is_left_out(manager: ToolManager, code: Site) -> None:
    for glob in ("**/*", "build/*", "sub/**", ".env", "!*.py", "secrets/*"):
        found = {match["file"] for match in (await search(manager, "two", glob=glob))["matches"]}
        assert not found & {"build/e.txt", "sub/.env", "secrets/two.txt", "sub/gen/f.txt", ".git/two"}
    assert await search(manager, "two", directory="sub") == {"matches": [], "count": 0}


async def test_errors(manager: ToolManager, code: Site) -> None:
    assert await search(manager, "h(", regex=True) == "The pattern cannot be searched for: unclosed group."
    assert "must be one line" in await search(manager, "a\nb")
    assert "must be one line" in await search(manager, "\ud800")
    assert await search(manager, "x", directory="nope") == "Directory not found: nope"
    assert "not satisfy minLength" in await search(manager, "")
    assert (await search(manager, "--files", directory="src"))["count"] == 0
    assert (await search(manager, "-e", directory="src"))["count"] == 0


async def test_a_named_secret_file_asks(manager: ToolManager, code: Site) -> None:
    assert "looks like a secret" in await search(manager, "two", directory="sub/.env")


async def test_pages(manager: ToolManager, site: Site) -> None:
    (site.root / "many.txt").write_text("hit\n" * 25, "utf-8")
    lines: list[int] = []
    args: Any = {"query": "hit", "options": {"limit": 10}}
    while args:
        data = (await manager.execute(call("search_code", **args))).data
        lines += [match["line"] for match in data["matches"]]
        args = data.get("next", {}).get("args")
    assert lines == list(range(1, 26))


async def test_long_lines_keep_the_match_in_sight(
    manager: ToolManager, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site.root / "long.txt").write_text("é" * 5_000 + "needle" + "x" * 5_000, "utf-8")
    match = (await search(manager, "needle"))["matches"][0]
    assert "needle" in match["text"] and len(match["text"]) == SEARCH_LINE_CHARS + 2 and match["column"] == 5_001
    monkeypatch.setattr(ripgrep, "SEARCH_RECORD_BYTES", 1_000)
    data = await search(manager, "needle")
    assert data["count"] == 0 and data["skipped"] == "1 matching lines are too long to return."


def claim(path: str, line: int, offset: int, raw: bytes) -> Hit:
    return Hit(path, line, offset, len(raw), fingerprint(raw), 0)


async def test_what_ripgrep_claims_is_read_again(
    manager: ToolManager, code: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = [
        claim("src/b.py", 2, 4, b"two (x)\n"),  # true
        claim("src/b.py", 2, 4, b"CANARY-x\n"),  # not what stands there
        claim("src/b.py", 2, 5, b"wo (x)\n"),  # no start of a line
        claim("link/secret.txt", 1, 0, b"CANARY-7f3a91"),
        claim("../secret.txt", 1, 0, b"CANARY-7f3a91"),
        claim("sub/.env", 1, 0, b"two\n"),
        claim("gone.txt", 1, 0, b"two\n"),
    ]

    async def lying(*_args: object) -> Hits:
        return Hits(claims)

    monkeypatch.setattr(search_code, "search", lying)
    assert places(await search(manager, "two")) == [("src/b.py", 2)]


async def test_too_many_hits_and_too_long_a_search_say_so(
    manager: ToolManager, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site.root / "many.txt").write_text("hit\n" * 50, "utf-8")
    monkeypatch.setattr(ripgrep, "SEARCH_COLLECT", 20)
    assert "cut short" in (await search(manager, "hit"))["incomplete"]
    monkeypatch.setattr(ripgrep, "SEARCH_SECONDS", 0)
    assert "cut short" in (await search(manager, "hit"))["incomplete"]


@pytest.mark.parametrize(
    ("query", "options", "found"),
    [
        ("departure", {}, 2),
        ("Departure", {}, 1),
        ("departure", {"case": True}, 1),
        ("Departure", {"case": False}, 2),
        (r"\bdeparture\S*", {"regex": True}, 1),
        (r"departure\W", {"regex": True}, 2),
    ],
)
async def test_capitals_count_when_the_query_has_some(
    manager: ToolManager, site: Site, query: str, options: dict[str, Any], found: int
) -> None:
    (site.root / "ferry.ts").write_text("realDeparture(f)\ndeparture(f)\n", encoding="utf-8")
    assert len(places(await search(manager, query, **options, directory="ferry.ts"))) == found


@pytest.mark.requirement("T47")
async def test_long_lines_do_not_pile_up_in_memory(site: Site) -> None:
    (site.root / "long.txt").write_text(("hit" + "x" * 500_000 + "\n") * 60, "utf-8")
    workspace = Workspace(site.root)
    tracemalloc.start()
    found = await ripgrep.search(workspace, Query("hit", "."))
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    workspace.close()
    assert len(found.hits) == 60 and kept < 1_000_000 and peak < 15_000_000


async def test_reading_the_hits_again_is_bounded_in_time(
    manager: ToolManager, code: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk.Stop, "over", lambda _: True)
    data = await search(manager, "two")
    assert (data["count"], data["next"]["args"]["options"]["offset"]) == (0, 0)


async def test_what_read_file_calls_binary_is_no_match(manager: ToolManager, site: Site) -> None:
    (site.root / "noise").write_bytes(bytes(range(128, 256)) * 4 + b"\nneedle\n")
    (site.root / "text").write_text("needle\n", "utf-8")
    assert places(await search(manager, "needle")) == [("text", 1)]
