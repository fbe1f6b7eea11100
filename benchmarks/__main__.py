"""`make bench`: every number of `benchmarks/README.md`, in order."""

from __future__ import annotations

import subprocess
import sys

PARTS = ["overhead", "startup", "memory", "journal", "parser", "hard_replies"]

if __name__ == "__main__":
    for part in PARTS:
        print(f"\n## {part}\n", flush=True)
        subprocess.run([sys.executable, "-m", f"benchmarks.{part}"], check=True)
