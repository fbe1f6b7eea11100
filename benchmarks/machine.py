"""What the numbers were measured on, and how numbers are told."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Sequence


def machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def spread(values: Sequence[float]) -> str:
    """`median (min-max)` with one decimal."""
    return f"{statistics.median(values):.1f} ({min(values):.1f}-{max(values):.1f})"
