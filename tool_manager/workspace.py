"""Confinement by descriptor (design, decision 5; X7): every path is walked from an open root, one component at a time.

Nothing here checks a string and opens it later. Each component is opened relative to the descriptor of its parent
with O_NOFOLLOW; a symbolic link is read and its target walked in turn, inside the root or not at all. What another
process swaps meanwhile can therefore make a call fail, never leave the workspace.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
import unicodedata
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Self, TypeVar

from tool_manager.errors import MissingError, OutsideError, PathError, os_sentence, shown
from tool_manager.limits import LINK_STEPS

Kind = Literal["file", "directory", "missing"]
T = TypeVar("T")

# macOS has no O_PATH; there a directory must be readable to be walked.
DIRECTORY: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a FIFO must not wait for a writer.
READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_RACES: Final = {errno.ELOOP, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENXIO}
_ATTEMPTS: Final = 3  # a component swapped between walk and open is walked again, not for ever
_BIDI: Final = frozenset("\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class Place:
    """Where a path leads, held open; use as a context manager.

    `path` is canonical (after links) and relative to the workspace, or absolute in the temporary root. `names` are
    all spellings passed on the way, for policy to judge. `kind` is "file" for anything that is no directory.
    """

    def __init__(self, path: str, given: str, names: tuple[str, ...], kind: Kind, fds: list[int], tail: list[str]):
        self.path, self.given, self.names, self.kind = path, given, names, kind
        self._fds, self._tail = fds, tail

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what the walk opened; the root itself (first in the list) belongs to the workspace."""
        while len(self._fds) > 1:
            os.close(self._fds.pop())

    @property
    def directory(self) -> int:
        """The directory itself, else the deepest directory that exists above it."""
        return self._fds[-1]

    @property
    def name(self) -> str:
        """The last component; empty for a directory."""
        return self._tail[-1] if self._tail else ""

    def lstat(self) -> os.stat_result:
        return os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)

    def open_file(self) -> int:
        """A descriptor for reading a regular file; raises OSError, or `PathError` for anything else."""
        if self.kind == "directory":
            raise IsADirectoryError(errno.EISDIR, "is a directory")
        if self.kind == "missing":
            raise FileNotFoundError(errno.ENOENT, "missing")
        check_regular(self.lstat(), self.given)  # before opening: opening a device can have effects of its own
        fd = os.open(self.name, READ, dir_fd=self.directory)
        try:
            check_regular(os.fstat(fd), self.given)
        except BaseException:
            os.close(fd)
            raise
        return fd

    def open_directory(self) -> int:
        """A descriptor that can be listed and synced (an O_PATH one cannot)."""
        return os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.directory)

    def make_parents(self) -> list[tuple[int, str]]:
        """Create the missing directories above a missing file; returns (parent, name) of each, outermost first."""
        made: list[tuple[int, str]] = []
        while len(self._tail) > 1:
            name, parent = self._tail[0], self.directory
            try:
                os.mkdir(name, 0o777, dir_fd=parent)
                made.append((parent, name))
            except FileExistsError:
                pass  # somebody was quicker; the open below decides whether it is a directory
            self._fds.append(os.open(name, DIRECTORY, dir_fd=parent))
            del self._tail[0]
        return made


@dataclass(frozen=True, slots=True)
class Root:
    """An allowed directory (T42), held open. `aliases` are its absolute spellings, split into components."""

    fd: int
    path: str
    aliases: tuple[tuple[str, ...], ...]
    main: bool


class Workspace:
    """`root` and a private temporary directory: the only places where tools read and write (T42).

    `strict_dotdot` refuses any `..` component, as document 003 does. Raises `PathError` when `root` is missing or no
    directory. All methods touch the disk: call them from a worker thread.
    """

    def __init__(self, root: str | os.PathLike[str], *, strict_dotdot: bool = False) -> None:
        given = str(Path(root).absolute())
        try:
            self.path = Path(os.path.realpath(given, strict=True))
            main = _open_root(str(self.path), given, main=True)
        except OSError as error:
            raise PathError(f"Workspace {shown(given)} is missing or not a directory.") from error
        self.temp = Path(os.path.realpath(tempfile.mkdtemp(prefix="tabferry-")))  # 0700 by mkdtemp
        self.roots = (main, _open_root(str(self.temp), str(self.temp), main=False))
        self._strict = strict_dotdot
        self.close = weakref.finalize(self, _close, [root.fd for root in self.roots], str(self.temp))

    @property
    def fd(self) -> int:
        return self.roots[0].fd

    def locate(self, path: str) -> Place:
        """Walk `path`; raises `OutsideError` or `PathError`. What does not exist yet is `kind == "missing"`."""
        root, parts = self._begin(path)
        if self._strict and ".." in parts:
            raise OutsideError(path)
        try:
            return _Walk(self, root, path, parts).run()
        except OSError as error:
            raise os_sentence(error, path) from error

    def use(self, path: str, action: Callable[[Place], T]) -> T:
        """`action(place)`, walked again when a component was swapped in between; OSErrors become sentences."""
        for attempt in range(_ATTEMPTS):
            with self.locate(path) as place:
                try:
                    return action(place)
                except OSError as error:
                    swapped = error.errno in _RACES and place.kind == "file"
                    if not swapped or attempt == _ATTEMPTS - 1:
                        raise os_sentence(error, path) from error
        raise AssertionError("unreachable")

    def open_file(self, path: str) -> tuple[int, Place]:
        """A descriptor of a regular file (yours to close) and the place, already closed; its names stay readable."""
        return self.use(path, lambda place: (place.open_file(), place))

    def root_of(self, absolute: tuple[str, ...]) -> tuple[Root, list[str]] | None:
        """The root that an absolute path begins with, and the rest."""
        for root in self.roots:
            for alias in root.aliases:
                if absolute[: len(alias)] == alias:
                    return root, list(absolute[len(alias) :])
        return None

    def _begin(self, path: str) -> tuple[Root, list[str]]:
        if "\0" in path:
            raise PathError(f"A path cannot contain a NUL character: {shown(path)}")
        if not path:
            raise PathError('The path is empty; use "." for the workspace itself.')
        try:
            os.fsencode(path)
        except UnicodeEncodeError:
            raise PathError(f"The path is not valid Unicode: {shown(path)}") from None
        if not path.startswith("/"):
            return self.roots[0], split(path)
        inside = self.root_of(tuple(split(path)))
        if inside is None:
            raise OutsideError(path)
        return inside


class _Walk:
    """One walk: a stack of open directories, the components still to come, and the spellings met."""

    def __init__(self, workspace: Workspace, root: Root, given: str, parts: list[str]) -> None:
        self.workspace, self.root, self.given = workspace, root, given
        self.rest = parts[::-1]
        self.fds, self.path = [root.fd], list[str]()
        self.tail: list[str] = []
        self.kind: Kind = "directory"
        self.names = [] if ".." in parts else [self._join(parts)]
        self.steps = 0

    def run(self) -> Place:
        try:
            while self.rest:
                self._step(self.rest.pop())
        except BaseException:
            self._reset(self.root)
            raise
        path = self._join([*self.path, *self.tail])
        return Place(path, self.given, tuple(dict.fromkeys([*self.names, path])), self.kind, self.fds, self.tail)

    def _join(self, parts: list[str]) -> str:
        inside = "/".join(part for part in parts if part != ".")
        return (inside or ".") if self.root.main else f"{self.root.path}/{inside}".rstrip("/")

    def _step(self, part: str) -> None:
        if self.kind == "file":
            raise NotADirectoryError(errno.ENOTDIR, "a file is used as a directory")
        if part == "..":
            self._up()
        elif self.kind == "missing":
            self.tail += [part] if part != "." else []
        elif part != ".":
            self._enter(part)

    def _up(self) -> None:
        if self.kind == "missing":  # the kernel would say ENOENT; a path that leaves says so first
            depth = len(self.path) + len(self.tail)
            for part in ["..", *self.rest[::-1]]:
                depth += (part not in {".", ".."}) - (part == "..")
                if depth < 0:
                    raise OutsideError(self.given)
            raise MissingError(shown(self.given))
        if len(self.fds) == 1:
            raise OutsideError(self.given)
        os.close(self.fds.pop())
        self.path.pop()

    def _enter(self, part: str) -> None:
        try:
            self.fds.append(os.open(part, DIRECTORY, dir_fd=self.fds[-1]))
            self.path.append(part)
        except FileNotFoundError:
            self.kind = "missing"
            self.tail.append(part)
        except OSError as error:
            if error.errno not in {errno.ENOTDIR, errno.ELOOP}:
                raise
            self._leaf(part)

    def _leaf(self, part: str) -> None:
        self.steps += 1
        if self.steps > LINK_STEPS:
            raise OSError(errno.ELOOP, "too many links")
        try:
            target = os.readlink(part, dir_fd=self.fds[-1])
        except FileNotFoundError:
            self.rest.append(part)  # removed just now: look again
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            self.kind = "file"
            self.tail.append(part)
        else:
            self._follow(part, target)

    def _follow(self, part: str, target: str) -> None:
        if ".." not in self.rest:
            self.names.append(self._join([*self.path, part, *self.rest[::-1]]))
        parts = split(target)
        if target.startswith("/"):
            inside = self.workspace.root_of(tuple(parts))
            if inside is None:
                raise OutsideError(self.given)
            root, parts = inside
            self._reset(root)
        self.rest.extend(parts[::-1])

    def _reset(self, root: Root) -> None:
        while len(self.fds) > 1:
            os.close(self.fds.pop())
        self.root, self.fds, self.path = root, [root.fd], []


def split(path: str) -> list[str]:
    """Components of `path`; a trailing slash becomes a last `.`, which only a directory can satisfy."""
    parts = [part for part in path.split("/") if part]
    return [*parts, "."] if path.endswith("/") and parts else parts


def check_regular(info: os.stat_result, path: str) -> None:
    """Raise unless it is a regular file: a FIFO, socket or device could block, or never end."""
    if stat.S_ISDIR(info.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a directory")
    if stat.S_ISLNK(info.st_mode):
        raise OSError(errno.ELOOP, "became a link")
    if not stat.S_ISREG(info.st_mode):
        raise PathError(f"Not a regular file (a pipe, socket or device): {shown(path)}")


def check_new_file(place: Place) -> None:
    """Refuse control and direction-changing characters in what is to be created: they poison logs and diffs."""
    if any(unicodedata.category(char) == "Cc" or char in _BIDI for char in place.path):
        raise PathError(f"A new file's name cannot contain control characters: {shown(place.given)}")
    if place.given.endswith(("/", "/.")):
        raise PathError(f"Not a file name: {shown(place.given)} ends like a directory.")


def _open_root(path: str, given: str, *, main: bool) -> Root:
    aliases = dict.fromkeys(tuple(split(spelling)) for spelling in (path, given))
    return Root(os.open(path, DIRECTORY), path, tuple(aliases), main)


def _close(fds: list[int], temp: str) -> None:
    for fd in fds:
        with suppress(OSError):
            os.close(fd)
    shutil.rmtree(temp, ignore_errors=True)
