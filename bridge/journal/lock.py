"""One writer per journal: an advisory lock that dies with its holder."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from bridge.errors import JournalError


class WriterLock:
    """Held from construction to `release()`. Raises `JournalError` naming the holder's pid when it is taken (CX154)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise JournalError(f"Cannot lock the journal with {path}: {error.strerror}.") from error
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._handle, 20, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(self._handle)
            raise JournalError(_taken(holder, path)) from error
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, str(os.getpid()).encode("ascii"), 0)

    def release(self) -> None:
        """Let go. The file stays: removing it would let two writers lock two different files of the same name."""
        with contextlib.suppress(OSError):
            os.ftruncate(self._handle, 0)
            os.close(self._handle)


def _taken(holder: str, path: Path) -> str:
    if holder == str(os.getpid()):
        return f"This process has opened the journal in {path.parent} already; pass that journal on, or close it first."
    return (
        f"Another bridge (process {holder}) holds the journal in {path.parent}; wait until that tabferry command ends, "
        "or start tabferry serve, which any number of them can share."
    )
