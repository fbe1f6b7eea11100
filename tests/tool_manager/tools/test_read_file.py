from __future__ import annotations

import asyncio
import os
import threading
import tracemalloc
from typing import Any

import pytest

from tests.tool_manager.attacks import Site, call
from tool_manager import ToolManager, disk
from tool_manager.limits import MAX_FILE_SIZE, READ_BYTES, READ_LINE_CHARS, READ_LINES


async def read(manager: ToolManager, path: str, **span: Any) -> Any:
    result = await manager.execute(call("read_file", path=path, **span))
    return result.data if result.success else result.error


@pytest.mark.requirement("T27", "T32")
async def test_the_documents_example(manager: ToolManager, site: Site) -> None:
    text = '{\n  "name": "x",\n  "version": "1.0.0"\n}\n'
    (site.root / "package.json").write_text(text, "utf-8")
    assert await read(manager, "package.json") == {
        "path": "package.json",
        "content": text,
        "lines": 4,
        "size": len(text),
    }


@pytest.mark.requirement("T30")
async def test_errors(manager: ToolManager) -> None:
    assert await read(manager, "missing-file.txt") == "File not found: missing-file.txt"
    assert await read(manager, "") == 'Parameter "path" is required'
    assert await read(manager, "src") == "Path is a directory, not a file: src. Use list_files instead."
    assert "start_line is past its end" in await read(manager, "README.md", start_line=9)
    assert await read(manager, "README.md", start_line=3, end_line=2) == "end_line 2 comes before start_line 3."


async def test_a_range(manager: ToolManager, site: Site) -> None:
    (site.root / "x.txt").write_text("1\n2\n3\n4", "utf-8")
    data = await read(manager, "x.txt", start_line=2, end_line=3)
    assert (data["content"], data["lines"], data["start_line"], data["end_line"]) == ("2\n3\n", 2, 2, 3)
    assert "next" not in data
    assert (await read(manager, "x.txt", start_line=4.0))["content"] == "4"
    assert (await read(manager, "x.txt", end_line=100))["content"] == "1\n2\n3\n4"


@pytest.mark.requirement("T47")
async def test_following_next_gives_the_whole_file(manager: ToolManager, site: Site) -> None:
    lines = [f"line {number} " + "x" * (number % 120) + "\n" for number in range(READ_LINES * 2 + 17)]
    (site.root / "long.txt").write_text("".join(lines), "utf-8")
    got, args, calls = "", {"path": "long.txt"}, 0
    while args:
        result = await manager.execute(call("read_file", **args))
        assert result.data["lines"] <= READ_LINES and len(result.data["content"]) <= READ_BYTES
        got += result.data["content"]
        args = result.data.get("next", {}).get("args", {})
        calls += 1
    assert got == "".join(lines) and calls > 3


@pytest.mark.parametrize("extra", [0, 1])
async def test_exactly_the_line_limit_needs_no_next_call(manager: ToolManager, site: Site, extra: int) -> None:
    (site.root / "x.txt").write_text("a\n" * (READ_LINES + extra), "utf-8")
    data = await read(manager, "x.txt")
    expected = {"tool": "read_file", "args": {"path": "x.txt", "start_line": READ_LINES + 1}}
    assert data["lines"] == READ_LINES and data.get("next") == (expected if extra else None)


async def test_a_long_line_is_cut_and_said(manager: ToolManager, site: Site) -> None:
    (site.root / "x.txt").write_text("é" * READ_LINE_CHARS + "\n" + "é" * 1_000_000 + "\nend\n", "utf-8")
    data = await read(manager, "x.txt")
    assert data["content"] == "é" * READ_LINE_CHARS + "\n" + "é" * READ_LINE_CHARS + "…\nend\n"
    assert data["notes"] == ["Line 2 is longer than 2000 characters; the rest of it is left out."]


@pytest.mark.requirement("T41")
@pytest.mark.parametrize("extra", [0, 1])
async def test_the_size_limit_without_a_range(manager: ToolManager, site: Site, extra: int) -> None:
    (site.root / "big.txt").write_bytes(b"0123456789abcde\n" * (MAX_FILE_SIZE // 16) + b"x" * extra)
    answer = await read(manager, "big.txt")
    if extra:
        assert "10,485,761 bytes, the limit is 10,485,760" in answer
        assert '{"path": "big.txt", "start_line": 1, "end_line": 2000}' in answer
    else:
        assert answer["lines"] == READ_LINES
    assert (await read(manager, "big.txt", start_line=MAX_FILE_SIZE // 16))["content"].startswith("0123456789abcde\n")


@pytest.mark.requirement("T47")
async def test_a_range_of_a_huge_file_is_bounded_in_memory(manager: ToolManager, site: Site) -> None:
    with (site.root / "huge.txt").open("wb") as file:
        file.write(b"text\n" * 10_000)
        file.truncate(300_000_000)  # one line of 300 MB
        file.seek(0, 2)
        file.write(b"\nlast\n")
    tracemalloc.start()
    data = await read(manager, "huge.txt", start_line=10_002)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert data["content"] == "last\n" and peak < 20_000_000


@pytest.mark.parametrize(
    ("data", "binary"),
    [
        (b"a\0b", True),
        (b"\x01\x02\x03abc", True),
        (b"\x89PNG\r\n\x1a\n\xff\xfe\xfd\xfc", True),
        (b"", False),
        ("Grüße, мир".encode(), False),
        (("x" * 8191 + "é").encode(), False),
        (b"\x1b[31mred\x1b[0m\n", False),
    ],
)
async def test_binary_is_a_notice(manager: ToolManager, site: Site, data: bytes, binary: bool) -> None:
    (site.root / "x.bin").write_bytes(data)
    answer = await read(manager, "x.bin")
    assert answer.get("binary", False) is binary
    if binary:
        assert answer["content"] == f"Binary file ({len(data)} bytes); its content is not shown."


@pytest.mark.parametrize(
    ("raw", "content", "encoding"),
    [
        (b"\xef\xbb\xbfa\r\nb\r\n", "a\r\nb\r\n", {"encoding": "utf-8", "bom": True}),
        (b"na\xefve caf\xe9 and more plain text\n", "naïve café and more plain text\n", {"encoding": "latin-1"}),
        ("\ufeffgrün\n".encode("utf-16-le"), "grün\n", {"encoding": "utf-16-le", "bom": True}),
        ("\ufeffgrün\n".encode("utf-16-be"), "grün\n", {"encoding": "utf-16-be", "bom": True}),
        (b"a\rb\n", "a\rb\n", {}),
    ],
)
async def test_encodings(manager: ToolManager, site: Site, raw: bytes, content: str, encoding: dict[str, Any]) -> None:
    (site.root / "x.txt").write_bytes(raw)
    data = await read(manager, "x.txt")
    assert data["content"] == content
    assert {key: data[key] for key in encoding} == encoding
    assert ("notes" in data) == (encoding.get("encoding") == "latin-1")


@pytest.mark.requirement("T47")
async def test_a_file_without_end_is_given_up(
    manager: ToolManager, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site.root / "x.txt").write_text("a\nb\n", "utf-8")
    monkeypatch.setattr(disk, "DISK_SECONDS", 0.0)
    assert "longer than 0 s and was stopped; ask for less" in await read(manager, "x.txt", start_line=2)


@pytest.mark.requirement("T47")
async def test_a_cancelled_read_stops_reading(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing would wait for the thread, for ever."""
    (site.root / "x.txt").write_text("a\n", "utf-8")
    begun, real = threading.Event(), os.pread

    def endless(fd: int, size: int, offset: int) -> bytes:
        begun.set()
        return real(fd, size, 0)

    manager = ToolManager(site.root)
    monkeypatch.setattr(os, "pread", endless)
    reading = asyncio.create_task(read(manager, "x.txt", start_line=10**15))
    assert await asyncio.to_thread(begun.wait, 30)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    async with asyncio.timeout(15):  # before `DISK_SECONDS` would end it
        await manager.aclose()


@pytest.mark.requirement("T32")
@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"\xfe\xff\x00a\x00", b"\xff\xfea\x00\n\x00b"])
async def test_half_a_character_of_utf_16_is_never_lost_without_a_word(
    manager: ToolManager, site: Site, content: bytes
) -> None:
    (site.root / "odd.txt").write_bytes(content)
    data = await read(manager, "odd.txt")
    assert data["binary"] and data["content"].startswith(f"Binary file ({len(content)} bytes)")


@pytest.mark.requirement("T32")
async def test_half_a_pair_at_the_end_of_utf_16_is_shown_as_such(manager: ToolManager, site: Site) -> None:
    (site.root / "half.txt").write_bytes(b"\xff\xfea\x00\x00\xd8")
    assert (await read(manager, "half.txt"))["content"] == "a\ufffd"
