"""What it costs to write down an event before it happens: `python -m benchmarks.journal`."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from bridge.journal import Journal

ROUNDS = 500
BURST = 1000
EVENT = {"tool": "read_file", "args": {"path": "src/app.py"}, "text": "x" * 1024}


async def one_by_one(journal: Journal) -> list[float]:
    """Milliseconds of each append that waits for its own commit."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        await journal.append("call.parsed", session="bench", data=EVENT)
        times.append((time.perf_counter() - start) * 1000)
    return times


async def together(journal: Journal) -> float:
    """Appends a second when many wait at once."""
    start = time.perf_counter()
    await asyncio.gather(*(journal.append("call.parsed", session="bench", data=EVENT) for _ in range(BURST)))
    return BURST / (time.perf_counter() - start)


async def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        journal = Journal.open(Path(directory) / "journal.db")
        times = await one_by_one(journal)
        rate = await together(journal)
        await journal.close()
    print(f"append, 1 KB, durable (ms): median {statistics.median(times):.2f}, p95 {sorted(times)[-ROUNDS // 20]:.2f}")
    print(f"appends a second, {BURST} at once: {rate:,.0f}")


if __name__ == "__main__":
    asyncio.run(main())
