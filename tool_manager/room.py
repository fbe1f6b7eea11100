"""What every built-in tool is given to work with."""

from __future__ import annotations

from dataclasses import dataclass

from tool_manager.disk import Disk
from tool_manager.files import FileBackend
from tool_manager.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Room:
    """The confined workspace, the port for whole files, and the pool for everything else that touches disk."""

    workspace: Workspace
    files: FileBackend
    disk: Disk
