"""`.gitignore` semantics over the workspace, each file read by descriptor."""

from __future__ import annotations

import os

from tool_manager.errors import ToolError, shown
from tool_manager.files import read_all
from tool_manager.ignore_file import IgnoreFile, parse
from tool_manager.limits import IGNORE_FILE_BYTES, IGNORE_RULES
from tool_manager.workspace import Workspace

Chain = tuple[tuple[str, IgnoreFile], ...]


class IgnoreRules:
    """The rules in force below `base` (canonical path), read once; make a new one for each call.

    `base` itself was asked for by name: if it is ignored, the rules above it do not count. `notes` says, once the paths
    were judged, which rules were too many or too long to be obeyed.
    """

    def __init__(self, workspace: Workspace, base: str) -> None:
        self.notes: list[str] = []
        self._workspace = workspace
        self._left = IGNORE_RULES
        self._chains: dict[str, Chain] = {}
        self._ignored: dict[str, bool] = {}
        chain: Chain = ()
        below = [] if base == "." else base.split("/")
        for depth in range(len(below) + 1):
            here = "/".join(below[:depth])
            chain = (*(() if _matches(chain, here, directory=True) else chain), *self._read(here))
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
        return _matches(self._chain(parent), path, directory=directory)

    def _chain(self, directory: str) -> Chain:
        chain = self._chains.get(directory)
        if chain is None:
            above = self._chain(directory.rpartition("/")[0])
            chain = self._chains[directory] = (*above, *self._read(directory))
        return chain

    def _read(self, directory: str) -> Chain:
        prefix = f"{directory}/" if directory else ""
        path = prefix + ".gitignore"
        try:
            fd, place = self._workspace.open_file(path)
        except ToolError:
            return ()
        try:
            if place.path != path:  # git does not follow a linked .gitignore either
                return ()
            if os.fstat(fd).st_size > IGNORE_FILE_BYTES:
                return self._note(f"{shown(path)} is longer than {IGNORE_FILE_BYTES:,} bytes and was not obeyed.")
            text = read_all(fd, IGNORE_FILE_BYTES).decode("utf-8", "replace")
        finally:
            os.close(fd)
        rules = parse(text, self._left)
        self._left -= rules.count
        if rules.dropped:
            self._note(f"Rules of {shown(path)} not obeyed, as too long or too many: {rules.dropped:,}.")
        return ((prefix, rules),) if rules.count else ()

    def _note(self, text: str) -> Chain:
        if len(self.notes) < 10:
            self.notes.append(text)
        return ()


def _matches(chain: Chain, path: str, *, directory: bool) -> bool:
    for prefix, rules in reversed(chain):
        verdict = rules.verdict(path.removeprefix(prefix), directory=directory)
        if verdict is not None:
            return verdict
    return False
