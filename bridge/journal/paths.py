"""Where Tabferry keeps what it remembers: private directories only, created private, never made private afterwards."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from pathlib import Path

import platformdirs

from bridge.errors import UsageError

APP = "tabferry"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def state_dir() -> Path:
    """The user's state directory, or `TABFERRY_STATE_DIR`. Not created here."""
    return _chosen("TABFERRY_STATE_DIR") or Path(platformdirs.user_state_dir(APP))


def runtime_dir() -> Path:
    """Where a live bridge is announced: `TABFERRY_RUNTIME_DIR`, the user's runtime directory, else inside the state.

    A runtime directory is used only when the system really made one: the shared temporary directory is predictable.
    """
    chosen = _chosen("TABFERRY_RUNTIME_DIR")
    if chosen:
        return chosen
    system = os.environ.get("XDG_RUNTIME_DIR")
    if system and "TABFERRY_STATE_DIR" not in os.environ and _is_private(Path(system)):
        return Path(system) / APP
    return state_dir() / "run"


def journal_path() -> Path:
    """The journal's database file."""
    return state_dir() / "journal.db"


def profile_dir(name: str) -> Path:
    """The browser profile `name` (letters, digits, `.`, `_`, `-`); raises `UsageError` for any other name."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not a profile name: use up to 64 letters, digits, dots, dashes and underscores.")
    return state_dir() / "profiles" / name


def private_dir(path: Path) -> Path:
    """Make `path` (and missing parents) as 0700, or check that it is: a real directory, ours, closed to others.

    Raises `UsageError` with one sentence otherwise.
    """
    try:
        _make(path)
        _check_private(path)
    except OSError as error:
        raise UsageError(f"Cannot use the directory {path}: {error.strerror or error}.") from error
    return path


def _make(path: Path) -> None:
    missing = [path, *path.parents]
    missing = [each for each in missing if not os.path.lexists(each)]
    for each in reversed(missing):
        with contextlib.suppress(FileExistsError):
            each.mkdir(0o700)


def _check_private(path: Path) -> None:
    if path.is_symlink():
        raise UsageError(f"{path} is a symbolic link; Tabferry keeps its files only in a real directory of yours.")
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        info = os.fstat(handle)
    finally:
        os.close(handle)
    if info.st_uid != os.geteuid():
        raise UsageError(f"{path} belongs to another user; choose a directory of your own.")
    if stat.S_IMODE(info.st_mode) & 0o077:
        raise UsageError(f"{path} is open to other users; run: chmod 700 {path}")


def _is_private(path: Path) -> bool:
    try:
        _check_private(path)
    except (UsageError, OSError):
        return False
    return True


def _chosen(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value).expanduser().absolute() if value else None
