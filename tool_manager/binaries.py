"""Where the programs that came with our wheels are; never PATH, never the current folder."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from tool_manager.errors import ToolError


@cache
def find(distribution: str, program: str) -> str:
    """The absolute path of `program` as installed by `distribution`; raises `ToolError` saying what to install."""
    for candidate in _candidates(distribution, program):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate.resolve())
    raise ToolError(f"The program {program} is missing; reinstall the package {distribution}.")


def _candidates(distribution: str, program: str) -> Iterator[Path]:
    try:
        recorded = files(distribution) or []
    except PackageNotFoundError:
        recorded = []
    yield from (Path(str(item.locate())) for item in recorded if item.name == program)
    yield Path(sysconfig.get_path("scripts")) / program
