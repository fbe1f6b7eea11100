"""How a command finds a live bridge: one private file per bridge, believed only after its proof."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import stat
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bridge.errors import UsageError
from bridge.journal import paths

log = logging.getLogger(__name__)

_MAX_FILE = 16 * 1024  # an announcement has some 250 bytes


@dataclass(frozen=True, slots=True)
class Announcement:
    """`{"url", "pid", "token", "server_key", "version"}`: where a bridge is and what opens it."""

    url: str
    pid: int
    token: str = field(repr=False)
    server_key: str = field(repr=False)
    version: str

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Announcement:
        """Raises `ValueError` unless it is an object with these keys, of these types, on loopback."""
        data = json.loads(text)
        if not isinstance(data, dict) or not isinstance(data.get("pid"), int):
            raise ValueError("not an announcement")
        texts = [data.get(key) for key in ("url", "token", "server_key", "version")]
        url, token, server_key, version = (value if isinstance(value, str) else "" for value in texts)
        if not url.startswith(("ws://127.0.0.1:", "ws://[::1]:")) or not token or not server_key:
            raise ValueError("not an announcement of a loopback bridge")
        return cls(url, data["pid"], token, server_key, version)


class Discovery:
    """This bridge's own file in `directory` (made 0700; refused with `UsageError` when it is not private)."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = directory / f"bridge-{os.getpid()}-{secrets.token_hex(4)}.json"
        self._inode: int | None = None

    def write(self, announcement: Announcement) -> None:
        """Create the file whole: written under a random name as 0600, then renamed in."""
        paths.private_dir(self._directory)
        draft = self._directory / f".{secrets.token_hex(8)}.tmp"
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(announcement.to_json())
                file.flush()
                self._inode = os.fstat(file.fileno()).st_ino
            draft.rename(self._path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise

    def remove(self) -> None:
        """Take the file back, if it is still ours."""
        if self._inode is not None:
            _remove(self._path, self._inode)


class Stale(Exception):
    """The bridge of an announcement is certainly gone: its port is closed, or somebody else answers there."""


Verify = Callable[[Announcement], Awaitable[None]]
"""Checks that a bridge answers and proves itself; raises `Stale`, or `TimeoutError` when it cannot tell."""


async def find_live(directory: Path | None = None, *, verify: Verify | None = None) -> Announcement | None:
    """The announcement of a live bridge that proved itself, newest first; None when there is none.

    Files of bridges that are gone are removed, by handshake and not by pid: pids are used again (LX090). Raises
    `UsageError` when the directory is not private.
    """
    from bridge.relay.client import verify_bridge

    for path in _candidates(directory or paths.runtime_dir()):
        found = _read(path)
        if found is None:
            continue
        announcement, inode = found
        try:
            await (verify or verify_bridge)(announcement)
        except Stale:
            _remove(path, inode)
        except TimeoutError:
            log.warning("the bridge of process %d does not answer", announcement.pid)
        else:
            return announcement
    return None


def _candidates(directory: Path) -> list[Path]:
    if not os.path.lexists(directory):
        return []
    return sorted(paths.private_dir(directory).glob("bridge-*.json"), key=_age)


def _read(path: Path) -> tuple[Announcement, int] | None:
    """The announcement in `path` with its inode; None (and a warning) for a file that is not private or not one."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), encoding="utf-8") as file:
            info = os.fstat(file.fileno())
            _check_file(path, info)
            return Announcement.from_json(file.read(_MAX_FILE)), info.st_ino
    except (OSError, ValueError, UsageError) as error:
        log.warning("ignored the discovery file %s: %s", path.name, error)
        return None


def _check_file(path: Path, info: os.stat_result) -> None:
    private = stat.S_ISREG(info.st_mode) and info.st_uid == os.geteuid() and not stat.S_IMODE(info.st_mode) & 0o077
    if not private:
        raise UsageError(f"{path} is not a private file of yours")


def _remove(path: Path, inode: int) -> None:
    with contextlib.suppress(OSError):
        if path.lstat().st_ino == inode:
            path.unlink()


def _age(path: Path) -> float:
    try:
        return -path.lstat().st_mtime
    except OSError:
        return 0.0
