"""Memory of the bridge's Python process after a task on the demo page; beside it that of the browser and its driver.

Proportional set size (PSS, Linux): pages shared between processes are counted once.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.machine import machine
from bridge import LLMManager
from bridge.chat import open_chat
from bridge.demo.sample import copy_sample
from bridge.journal import Journal

GOAL_MB = 120


def field(pid: int, file: str, name: str) -> float:
    """A `NAME: N kB` line of /proc/PID/FILE, in MB."""
    for line in Path(f"/proc/{pid}/{file}").read_text("ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    return 0.0


def children(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text("ascii").split()):
            yield child
            yield from children(child)


def name(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text("ascii").strip()


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder) / "workspace"
        copy_sample(workspace)
        journal = Journal.open(Path(folder) / "state" / "journal.db")
        chat = await open_chat(profile_dir=Path(folder) / "profile")
        async with LLMManager(workspace, chat=chat, journal=journal) as llm:
            await llm.call("Read package.json and tell me the version")
            report()
        await chat.close()
        await journal.close()


def report() -> None:
    own = os.getpid()
    rss, peak = field(own, "status", "VmRSS"), field(own, "status", "VmHWM")
    others: dict[str, float] = {}
    for pid in children(own):
        kind = "driver (Node.js)" if name(pid).startswith(("node", "MainThread")) else "browser"
        others[kind] = others.get(kind, 0.0) + field(pid, "smaps_rollup", "Pss")
    print(f"{machine()}; MB after one task on the demo page (the process also runs the demo page's server)\n")
    print("| process | MB | goal | |\n|---|---|---|---|")
    verdict = "met" if peak <= GOAL_MB else "MISSED"
    print(f"| bridge (Python), resident | {rss:.0f} (peak {peak:.0f}) | {GOAL_MB} | {verdict} |")
    for kind, size in sorted(others.items()):
        print(f"| {kind}, PSS | {size:.0f} | | |")


if __name__ == "__main__":
    asyncio.run(main())
