"""Walk a directory by descriptor: sorted, .gitignore-aware, never through a link."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tool_manager.disk import Stop
from tool_manager.errors import PathError, shown
from tool_manager.ignore import IgnoreRules
from tool_manager.limits import LIST_DEPTH, LIST_SCAN
from tool_manager.workspace import DIRECTORY, Place, Workspace


@dataclass(slots=True)
class Listing:
    """`files` and links below a directory; `dirs` that lie at the depth limit; `complete` False when cut short.

    `notes` says what of the .gitignore files was not obeyed.
    """

    files: list[str] = field(default_factory=list)
    dirs: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    complete: bool = True


def walk(
    stop: Stop, workspace: Workspace, directory: str, *, depth: int | None, keep: Callable[[str], bool]
) -> Listing:
    """Canonical paths for which `keep(path below the directory)` holds; touches the disk until `stop` is over."""
    return workspace.use(directory, lambda place: _walk(stop, workspace, place, depth or LIST_DEPTH, keep))


def check_directory(place: Place) -> str:
    """Its canonical path; raises unless it is a directory."""
    if place.kind == "missing":
        raise PathError(f"Directory not found: {shown(place.given)}")
    if place.kind == "file":
        raise PathError(f"Path is a file, not a directory: {shown(place.given)}. Use read_file instead.")
    return place.path


def _walk(stop: Stop, workspace: Workspace, place: Place, depth: int, keep: Callable[[str], bool]) -> Listing:
    base = check_directory(place)
    listing, rules = Listing(), IgnoreRules(workspace, base)
    prefix = "" if base == "." else base + "/"
    entries = _entries(place.open_directory(), prefix, depth, rules, listing)
    for scanned, (path, is_directory, entered) in enumerate(entries):
        if scanned >= LIST_SCAN or stop.over():
            listing.complete = False
            break
        if not is_directory and keep(path[len(prefix) :]):
            listing.files.append(path)
        elif is_directory and not entered:
            listing.dirs.append(path)
    listing.files.sort()
    listing.notes = rules.notes
    return listing


def _entries(
    fd: int, prefix: str, depth: int, rules: IgnoreRules, listing: Listing
) -> Iterator[tuple[str, bool, bool]]:
    """(path, is a directory, is entered) beneath `fd`, which is closed at the end."""
    try:
        for name, is_directory in _scan(fd):
            path = prefix + name
            if _unprintable(name) or rules.ignored(path, directory=is_directory):
                continue
            yield path, is_directory, depth > 1
            if is_directory and depth > 1:
                try:
                    child = os.open(name, (DIRECTORY & ~getattr(os, "O_PATH", 0)) | os.O_RDONLY, dir_fd=fd)
                except OSError:
                    listing.complete = False  # unreadable, or swapped for a link just now
                    continue
                yield from _entries(child, path + "/", depth - 1, rules, listing)
    finally:
        os.close(fd)


def _scan(fd: int) -> list[tuple[str, bool]]:
    with os.scandir(fd) as entries:
        return sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)


def _unprintable(name: str) -> bool:
    """A name that is not valid UTF-8 cannot be written as JSON, so no call could ever name it."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
