"""Overhead per tool iteration: last byte of the model's reply leaves the endpoint → first byte of the next message.

`read_file` of 1 KB, on the demo page and on Gradio, Tabferry beside the frozen floor of `benchmarks/floor.py`, in turn.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks import floor
from benchmarks.machine import machine, spread
from bridge import LLMManager
from bridge.agent import GuardLimits
from bridge.chat import BrowserChat, profiles
from bridge.demo import DemoServer
from bridge.journal import Journal

UNGUARDED = GuardLimits(iterations=10_000, identical_calls=10_000)
"""The guards against loops would end a benchmark that asks for one file again and again; all others stay."""

CHUNK_DELAY = 0.005
"""Seconds between two chunks of a reply: a model streams; a reply written at once would overtake its own tap."""

GOAL_MS = {"demo": 40, "gradio": 60}


@dataclass
class Target:
    """A running chat page: its URL, its floor, and the endpoint's log of (received_ns, replied_ns)."""

    site: str
    url: str
    known: floor.KnownPage
    log: Callable[[], Sequence[Any]]


@asynccontextmanager
async def demo() -> AsyncIterator[Target]:
    async with DemoServer(delay=CHUNK_DELAY) as server:
        yield Target("demo", server.url, floor.DEMO, lambda: server.log)


@asynccontextmanager
async def gradio() -> AsyncIterator[Target]:
    from tests.pages.gradio_page import gradio_page

    async with gradio_page(delay=CHUNK_DELAY) as (url, log):
        yield Target("gradio", url, floor.GRADIO, lambda: log)


async def ours(target: Target, task: str, workspace: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal.open(Path(folder) / "state" / "journal.db")
        chat = await BrowserChat.launch(
            profiles.load(target.site), target.url, profile_dir=Path(folder) / "profile", headless=True
        )
        try:
            async with LLMManager(workspace, target.site, chat=chat, journal=journal, bounds=UNGUARDED) as llm:
                await llm.call(task)
        finally:
            await chat.close()
            await journal.close()


async def measure(target: Target, side: str, iterations: int, workspace: Path) -> list[float]:
    task = f"Bench: read data.txt {iterations} times"
    before = len(target.log())
    if side == "floor":
        await floor.run(target.url, target.known, task, workspace)
    else:
        await ours(target, task, workspace)
    log = target.log()[before:]
    if len(log) != iterations + 1:
        raise SystemExit(f"{target.site}/{side}: {len(log)} messages reached the endpoint, expected {iterations + 1}.")
    gaps = [(after.received_ns - reply.replied_ns) / 1e6 for reply, after in pairwise(log)]
    return gaps[1:]  # the first also pays for what is loaded once


async def compare(target: Target, iterations: int, rounds: int, workspace: Path) -> None:
    figures: dict[str, list[float]] = {"floor": [], "ours": []}
    for _ in range(rounds):
        for side in figures:
            figures[side] += await measure(target, side, iterations, workspace)
    over = statistics.median(figures["ours"]) - statistics.median(figures["floor"])
    goal = GOAL_MS[target.site]
    verdict = "met" if over <= goal else "MISSED"
    row = [target.site, spread(figures["floor"]), spread(figures["ours"]), f"{over:+.1f}", f"+{goal}", verdict]
    print(f"| {' | '.join(row)} |")


async def main(iterations: int, rounds: int, sites: Sequence[str]) -> None:
    print(f"{machine()}; {rounds} x {iterations} iterations a side, ms, median (min-max)\n")
    print("| page | floor | Tabferry | over the floor | goal | |\n|---|---|---|---|---|---|")
    pages = {"demo": demo, "gradio": gradio}
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder)
        (workspace / "data.txt").write_text("".join(f"line {n:03} of the file\n" for n in range(47))[:1024], "utf-8")
        for site in sites:
            async with pages[site]() as target:
                await compare(target, iterations, rounds, workspace)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("sites", nargs="*", default=["demo", "gradio"])
    chosen = parser.parse_args()
    asyncio.run(main(chosen.iterations, chosen.rounds, chosen.sites))
