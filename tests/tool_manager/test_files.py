from __future__ import annotations

import asyncio
import errno
import os
import stat
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tool_manager.attacks import Site
from tool_manager import ChangedError, DiskFiles, ToolError, Workspace
from tool_manager.disk import Disk
from tool_manager.files import digest
from tool_manager.limits import MAX_FILE_SIZE


@pytest.fixture
async def files(site: Site) -> AsyncIterator[DiskFiles]:
    workspace, disk = Workspace(site.root), Disk()
    yield DiskFiles(workspace, disk)
    await disk.aclose()
    workspace.close()


def names(site: Site) -> list[str]:
    return sorted(str(path.relative_to(site.root)) for path in site.root.rglob("*"))


async def replace(files: DiskFiles, path: str, data: bytes) -> None:
    await files.write(path, data, expected=(await files.snapshot(path)).hash)


@pytest.mark.requirement("T39", "X7")
async def test_a_write_replaces_the_content_and_keeps_the_mode(files: DiskFiles, site: Site) -> None:
    target = site.root / "README.md"
    target.chmod(0o640)
    before = names(site)
    await replace(files, "README.md", b"\xef\xbb\xbfnew\r\n")
    assert target.read_bytes() == b"\xef\xbb\xbfnew\r\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert names(site) == before


async def test_a_hard_link_outside_is_left_alone(files: DiskFiles, site: Site) -> None:
    os.link(site.parent / "secret.txt", site.root / "hard.txt")
    before = site.outside()
    await replace(files, "hard.txt", b"new")
    assert site.outside() == before and (site.root / "hard.txt").read_bytes() == b"new"


async def test_a_link_inside_is_written_through(files: DiskFiles, site: Site) -> None:
    (site.root / "link.md").symlink_to("README.md")
    snapshot = await files.snapshot("link.md")
    assert snapshot.path == "README.md"
    await files.write(snapshot.path, b"new", expected=snapshot.hash)
    assert (site.root / "link.md").is_symlink() and (site.root / "README.md").read_bytes() == b"new"


@pytest.mark.parametrize("failing", ["write", "fsync", "rename"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
@pytest.mark.requirement("T39")
async def test_a_failing_disk_leaves_the_old_file_and_no_trace(
    files: DiskFiles, site: Site, monkeypatch: pytest.MonkeyPatch, failing: str, code: int
) -> None:
    def broken(*_args: Any, **_kwargs: Any) -> None:
        raise OSError(code, os.strerror(code))

    before, content = names(site), (site.root / "README.md").read_bytes()
    snapshot = await files.snapshot("README.md")
    with monkeypatch.context() as patch:
        patch.setattr(os, failing, broken)
        with pytest.raises(ToolError, match=r"^README\.md could not be used: the disk .*\.$"):
            await files.write("README.md", b"new", expected=snapshot.hash)
    assert names(site) == before and (site.root / "README.md").read_bytes() == content


@pytest.mark.parametrize("failing", ["write", "link"])
@pytest.mark.requirement("T39")
async def test_a_failing_disk_takes_new_directories_back(
    files: DiskFiles, site: Site, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def broken(*_args: Any, **_kwargs: Any) -> None:
        raise OSError(errno.ENOSPC, "full")

    before = names(site)
    with monkeypatch.context() as patch:
        patch.setattr(os, failing, broken)
        with pytest.raises(ToolError, match="the disk is full"):
            await files.write("new/deep/x.txt", b"new", expected=None)
    assert names(site) == before


async def test_a_disk_that_does_not_confirm_is_not_called_a_failure_to_write(
    files: DiskFiles, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def broken(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(errno.EIO, "io")
        real(fd)

    snapshot = await files.snapshot("README.md")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", broken)
        with pytest.raises(ToolError, match="was written, but the disk did not confirm it"):
            await files.write("README.md", b"new", expected=snapshot.hash)
    assert (site.root / "README.md").read_bytes() == b"new"


async def test_file_and_directory_are_synced(files: DiskFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bool] = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(stat.S_ISDIR(os.fstat(fd).st_mode)))
    await replace(files, "README.md", b"new")
    assert synced == [False, True]


async def test_without_hard_links_a_new_file_is_renamed_into_place(
    files: DiskFiles, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_args: Any, **_kwargs: Any) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(os, "link", unsupported)
    await files.write("new.txt", b"new", expected=None)
    assert (site.root / "new.txt").read_bytes() == b"new"


def edit(path: Path) -> None:
    path.write_text("someone else's", "utf-8")


def drop(path: Path) -> None:
    path.unlink()


def turn(path: Path) -> None:
    path.unlink()
    path.symlink_to("src/a.py")


@pytest.mark.parametrize("change", [edit, drop, turn])
@pytest.mark.requirement("T39")
async def test_a_file_that_changed_since_is_refused(
    files: DiskFiles, site: Site, change: Callable[[Path], None]
) -> None:
    snapshot = await files.snapshot("README.md")
    change(site.root / "README.md")
    other = (site.root / "src/a.py").read_bytes()
    with pytest.raises(ChangedError, match="changed after this call was prepared; nothing was written"):
        await files.write("README.md", b"new", expected=snapshot.hash)
    assert (site.root / "src/a.py").read_bytes() == other
    assert not list(site.root.glob(".*.tmp"))


async def test_a_file_that_appeared_since_is_refused(files: DiskFiles, site: Site) -> None:
    assert (await files.snapshot("new.txt")).hash is None
    edit(site.root / "new.txt")
    with pytest.raises(ChangedError):
        await files.write("new.txt", b"new", expected=None)
    assert (site.root / "new.txt").read_text("utf-8") == "someone else's"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("src", "Path is a directory"),
        ("ro.txt", "read-only"),
        ("x\x1b[31m.txt", "control characters"),
        ("x\u202e.txt", "control characters"),
        ("new/", "ends like a directory"),
        ("fifo", "Not a regular file"),
        ("big.txt", "File too large"),
    ],
)
async def test_what_cannot_be_written_is_said_before(files: DiskFiles, site: Site, path: str, message: str) -> None:
    (site.root / "ro.txt").touch(0o444)
    os.mkfifo(site.root / "fifo")
    with (site.root / "big.txt").open("wb") as big:
        big.truncate(MAX_FILE_SIZE + 1)
    async with asyncio.timeout(30):
        with pytest.raises(ToolError, match=message):
            await files.snapshot(path)


async def test_a_cancelled_write_ends_whole(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cancellation is delivered, but only when the file is either old or new."""
    workspace, disk = Workspace(site.root), Disk()
    files, begun, go_on = DiskFiles(workspace, disk), threading.Event(), threading.Event()
    real = os.fsync

    def slow(fd: int) -> None:
        begun.set()
        assert go_on.wait(30)
        real(fd)

    monkeypatch.setattr(os, "fsync", slow)
    writing = asyncio.create_task(replace(files, "README.md", b"new"))
    assert await asyncio.to_thread(begun.wait, 30)
    writing.cancel()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert (site.root / "README.md").read_bytes() == b"new" and not list(site.root.glob(".*.tmp"))
    await disk.aclose()
    workspace.close()


def test_digest_is_sha256() -> None:
    assert digest(b"").startswith("e3b0c44298fc1c14")
