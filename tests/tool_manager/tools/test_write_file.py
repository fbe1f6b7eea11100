from __future__ import annotations

from typing import Any

import pytest

from tests.tool_manager.attacks import Site, call
from tool_manager import ToolManager
from tool_manager.diff import unified
from tool_manager.limits import DIFF_CHARS, MAX_FILE_SIZE


async def write(manager: ToolManager, path: str, content: str) -> Any:
    result = await manager.execute(call("write_file", path=path, content=content))
    return result.data if result.success else result.error


@pytest.mark.requirement("T32")
async def test_a_new_file_in_new_directories(manager: ToolManager, site: Site) -> None:
    assert await write(manager, "new/deep/x.txt", "a\r\nb") == {
        "path": "new/deep/x.txt",
        "bytes": 4,
        "lines": 2,
        "created": True,
    }
    assert (site.root / "new/deep/x.txt").read_bytes() == b"a\r\nb"
    assert (await write(manager, "new/deep/x.txt", ""))["created"] is False


@pytest.mark.requirement("T41")
@pytest.mark.parametrize("extra", [0, 1])
async def test_the_size_limit(manager: ToolManager, site: Site, extra: int) -> None:
    answer = await write(manager, "big.txt", "é" * (MAX_FILE_SIZE // 2) + "x" * extra)
    if extra:
        assert answer == "File too large: big.txt would be 10,485,761 bytes; the limit is 10,485,760 bytes."
        assert not (site.root / "big.txt").exists()
    else:
        assert answer["bytes"] == MAX_FILE_SIZE


async def test_half_a_surrogate_pair_is_refused(manager: ToolManager, site: Site) -> None:
    assert "surrogate" in await write(manager, "x.txt", "\ud800")
    assert not (site.root / "x.txt").exists()


def test_a_diff_shows_line_ends_and_a_missing_last_one() -> None:
    diff = unified("x", b"a\r\nb\n", b"a\nb")
    assert diff == "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\r\n-b\n+a\n+b\n\\ No newline at end of file\n"


def test_a_diff_of_a_new_a_binary_and_an_unchanged_file() -> None:
    assert unified("x", None, b"a\n") == "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n"
    assert unified("x", b"\xff", b"a\n").endswith("Binary content: 1 bytes become 2 bytes.\n")
    assert unified("x", b"a\n", b"a\n") == "--- a/x\n+++ b/x\n"


def test_line_numbers_count_from_the_start_of_the_file() -> None:
    old = [f"{number}\n" for number in range(100)]
    new = [*old[:50], "changed\n", *old[51:]]
    assert "@@ -48,7 +48,7 @@" in unified("x", "".join(old).encode(), "".join(new).encode())


def test_a_huge_diff_is_bounded() -> None:
    new = "".join(f"{number}\n" for number in range(100_000)).encode()
    diff = unified("x", b"old\n" * 100_000, new)
    longer = unified("x", b"old\n", new * 2)
    assert longer.endswith("Too long to compare: 4 bytes become 1,177,780 bytes.\n")
    assert len(diff) < DIFF_CHARS + 500 and "more lines of this diff are not shown" in diff
