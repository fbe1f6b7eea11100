"""`FileBackend`, the port for file contents (disk now, editor later), and `DiskFiles`, its atomic disk form."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol

from tool_manager.disk import Disk
from tool_manager.errors import ChangedError, PathError, ToolError, os_sentence, shown
from tool_manager.limits import MAX_FILE_SIZE
from tool_manager.workspace import READ, Place, Workspace, check_new_file, check_regular

_NO_HARD_LINKS: Final = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A file as it is now: canonical `path`, the `names` that policy judges, `data` (None: there is no such file)."""

    path: str
    names: tuple[str, ...]
    data: bytes | None

    @property
    def hash(self) -> str | None:
        return None if self.data is None else digest(self.data)


class FileBackend(Protocol):
    """Whole files, up to `MAX_FILE_SIZE` (T41). Both methods raise `ToolError` with one sentence."""

    async def snapshot(self, path: str) -> Snapshot:
        """What a write to `path` would replace; refuses what could not be written (directory, read-only, link out)."""

    async def write(self, path: str, data: bytes, *, expected: str | None) -> None:
        """Replace `path` if its SHA-256 still is `expected` (None: it must not exist), else raise `ChangedError`."""


class DiskFiles:
    """Atomic writes by descriptor: old content or new content, never a mixture, never outside (T39, T40)."""

    def __init__(self, workspace: Workspace, disk: Disk) -> None:
        self._workspace, self._disk = workspace, disk

    async def snapshot(self, path: str) -> Snapshot:
        return await self._disk.run(self._workspace.use, path, _snapshot)

    async def write(self, path: str, data: bytes, *, expected: str | None) -> None:
        def action(place: Place) -> None:
            if place.path != path:  # `path` is canonical: a link that appeared since was never judged by policy
                raise ChangedError(path)
            _replace(place, data, expected)

        await self._disk.finish(self._workspace.use, path, action)


def digest(data: bytes) -> str:
    """SHA-256 in hex, as the journal records it."""
    return hashlib.sha256(data).hexdigest()


def too_large(path: str, size: int) -> ToolError:
    """T41 as a sentence."""
    return ToolError(f"File too large: {shown(path)} would be {size:,} bytes; the limit is {MAX_FILE_SIZE:,} bytes.")


def _snapshot(place: Place) -> Snapshot:
    if place.kind == "missing":
        check_new_file(place)
        return Snapshot(place.path, place.names, None)
    fd = place.open_file()
    try:
        info = os.fstat(fd)
        if not info.st_mode & stat.S_IWUSR:
            raise ToolError(f"{shown(place.path)} is read-only (its owner may not write it); it was left alone.")
        if info.st_size > MAX_FILE_SIZE:
            raise too_large(place.path, info.st_size)
        return Snapshot(place.path, place.names, read_all(fd, MAX_FILE_SIZE))
    finally:
        os.close(fd)


def read_all(fd: int, limit: int) -> bytes:
    """At most `limit` bytes from the start of `fd`."""
    pieces, size = [], 0
    while size < limit and (piece := os.pread(fd, min(1 << 20, limit - size), size)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _replace(place: Place, data: bytes, expected: str | None) -> None:
    if place.kind == "directory":
        raise IsADirectoryError(errno.EISDIR, "is a directory")
    made: list[tuple[int, str]] = []
    try:
        if place.kind == "missing":
            check_new_file(place)
            made = place.make_parents()
        _write_beside(place, data, expected)
    except BaseException as error:
        for parent, name in reversed(made):  # only those that are still empty go away again
            with suppress(OSError):
                os.rmdir(name, dir_fd=parent)
        if isinstance(error, OSError):
            raise os_sentence(error, place.given) from error
        raise


def _write_beside(place: Place, data: bytes, expected: str | None) -> None:
    """Same directory, so that the rename is atomic; an unpredictable name, so that nobody can plant a link there."""
    directory = place.directory
    temp = f".{secrets.token_hex(12)}.tmp"
    mode = 0o666 if expected is None else 0o600  # the copy of a private file is private from its first byte
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=directory)
    try:
        _fill(fd, data)
        info = _still(place, expected)
        if info is not None:
            _keep_owner(fd, info)
        os.fsync(fd)
        _publish(place, temp, new=info is None)
        if not os.path.samestat(os.fstat(fd), place.lstat()):
            raise ChangedError(place.path)  # somebody put another file in place of ours
    finally:
        os.close(fd)
        with suppress(FileNotFoundError):
            os.unlink(temp, dir_fd=directory)
    _sync(place)


def _fill(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _still(place: Place, expected: str | None) -> os.stat_result | None:
    """The file that will be replaced, if it still is what was approved; None when none is expected."""
    try:
        fd = os.open(place.name, READ, dir_fd=place.directory)
    except FileNotFoundError:
        if expected is not None:
            raise ChangedError(place.path) from None
        return None
    except OSError as error:
        raise ChangedError(place.path) from error  # a link or something else took its place
    try:
        info = os.fstat(fd)
        check_regular(info, place.path)
        if digest(read_all(fd, MAX_FILE_SIZE + 1)) != expected:
            raise ChangedError(place.path)
        if not info.st_mode & stat.S_IWUSR:
            raise PathError(f"{shown(place.path)} is read-only (its owner may not write it); it was left alone.")
        return info
    finally:
        os.close(fd)


def _keep_owner(fd: int, info: os.stat_result) -> None:
    mine = os.fstat(fd)
    if (mine.st_uid, mine.st_gid) != (info.st_uid, info.st_gid):
        with suppress(PermissionError):  # only root can give a file away; anyone else owns what they write
            os.fchown(fd, info.st_uid, info.st_gid)
    os.fchmod(fd, info.st_mode & 0o777)


def _publish(place: Place, temp: str, *, new: bool) -> None:
    directory, name = place.directory, place.name
    if new:
        try:  # link() refuses an existing name, which rename() would replace unseen
            os.link(temp, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
            return
        except FileExistsError:
            raise ChangedError(place.path) from None
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
    os.rename(temp, name, src_dir_fd=directory, dst_dir_fd=directory)


def _sync(place: Place) -> None:
    try:
        fd = place.open_directory()
    except PermissionError:
        return  # a directory that may be written but not read cannot be synced
    try:
        os.fsync(fd)
    except OSError as error:
        # The rename is done: claiming failure would be false, claiming durability as well.
        raise ToolError(f"{shown(place.path)} was written, but the disk did not confirm it; check the disk.") from error
    finally:
        os.close(fd)
