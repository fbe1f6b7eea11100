"""`.gitignore` semantics over the workspace, each file read by descriptor."""

from __future__ import annotations

import os

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from tool_manager.errors import ToolError
from tool_manager.files import read_all
from tool_manager.limits import IGNORE_FILE_BYTES
from tool_manager.workspace import Workspace

Chain = tuple[tuple[str, GitIgnoreSpec], ...]


class IgnoreRules:
    """The rules in force below `base` (canonical path), read once; make a new one for each call.

    `base` itself was asked for by name: if it is ignored, the rules above it do not count.
    """

    def __init__(self, workspace: Workspace, base: str) -> None:
        self._workspace = workspace
        self._chains: dict[str, Chain] = {}
        self._ignored: dict[str, bool] = {}
        chain: Chain = ()
        below = [] if base == "." else base.split("/")
        for depth in range(len(below) + 1):
            here = "/".join(below[:depth])
            chain = (*(() if self._matches(chain, here + "/") else chain), *self._read(here))
        self._base = "" if base == "." else base
        self._chains[self._base] = chain

    def ignored(self, path: str, *, directory: bool = False) -> bool:
        """Whether git would ignore `path`, a file or directory below the base (".git" always is)."""
        if path == self._base or path == "":
            return False
        known = self._ignored.get(path) if directory else None
        if known is None:
            known = self._judge(path, directory)
            if directory:
                self._ignored[path] = known
        return known

    def _judge(self, path: str, directory: bool) -> bool:
        parent, _, name = path.rpartition("/")
        if name.casefold() == ".git" or self.ignored(parent, directory=True):
            return True
        return self._matches(self._chain(parent), path + "/" if directory else path)

    def _matches(self, chain: Chain, path: str) -> bool:
        for prefix, spec in reversed(chain):
            verdict = spec.check_file(path.removeprefix(prefix)).include
            if verdict is not None:
                return verdict
        return False

    def _chain(self, directory: str) -> Chain:
        chain = self._chains.get(directory)
        if chain is None:
            above = self._chain(directory.rpartition("/")[0])
            chain = self._chains[directory] = (*above, *self._read(directory))
        return chain

    def _read(self, directory: str) -> Chain:
        prefix = f"{directory}/" if directory else ""
        try:
            fd, place = self._workspace.open_file(prefix + ".gitignore")
        except ToolError:
            return ()
        try:
            # git does not follow a linked .gitignore either
            if place.path != prefix + ".gitignore" or os.fstat(fd).st_size > IGNORE_FILE_BYTES:
                return ()
            text = read_all(fd, IGNORE_FILE_BYTES).decode("utf-8", "replace")
        finally:
            os.close(fd)
        return ((prefix, GitIgnoreSpec([rule for line in text.splitlines() for rule in _rules(line)])),)


def _rules(line: str) -> list[GitIgnoreSpecPattern]:
    try:
        return list(GitIgnoreSpec.from_lines([line]).patterns)
    except ValueError:
        return []  # one bad line must not switch the others off
