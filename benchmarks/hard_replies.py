"""How many calls of the hard replies each way of reading a chat page recovers: `python -m benchmarks.hard_replies`."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bridge.conversation.port import Source
from tests.pages.gradio_page import available
from tests.pages.hard_replies import HARD_REPLIES
from tests.pages.round_trip import Site, Trip, first_call, round_trip

SOURCES: tuple[Source, ...] = ("cdp", "tee", "code", "rendered")


def row(site: str, trips: Sequence[Trip], source: Source) -> str:
    """Calls that came back equal, calls that parse and are not what was sent (which nobody would notice), and replies
    that came back to the character."""
    readings = [
        (trip.sent, capture.text, first_call(trip.read(capture)))
        for trip in trips
        for capture in (*trip.trusted, *trip.shown)
        if capture.source == source
    ]
    calls = sum(trip.sent.call is not None for trip in trips)
    equal = sum(call is not None and call == sent.call for sent, _, call in readings)
    wrong = sum(call not in (None, sent.call) for sent, _, call in readings)
    exact = sum(text == sent.text for sent, text, _ in readings)
    return f"| {site} | {source} | {equal} of {calls} | {wrong} | {exact} of {len(trips)} |"


async def main() -> None:
    print("| page | source | calls equal to what was sent | calls that parse and are wrong | exact replies |")
    print("|---|---|---|---|---|")
    sites: list[Site] = ["demo", "gradio"] if available() else ["demo"]
    for site in sites:
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            trips = await round_trip(site, HARD_REPLIES, Path(folder) / "profile")
        for source in SOURCES:
            print(row(site, trips, source))
        print(f"{site}: {len(trips)} replies in {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    asyncio.run(main())
