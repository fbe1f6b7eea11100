"""What survives real chat pages: every hard reply is drawn by the page, and the call read back is the call sent."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.pages.gradio_page import available
from tests.pages.hard_replies import HARD_REPLIES, HardReply
from tests.pages.round_trip import Trip, first_call, round_trip

pytestmark = pytest.mark.browser

NO_GRADIO = pytest.mark.skipif(not available(), reason="Gradio is not set up: make pages-gradio")


@pytest.fixture(scope="module", params=["demo", pytest.param("gradio", marks=NO_GRADIO)])
def trips(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trip]:
    """The whole set through one page, by name."""
    profile: Path = tmp_path_factory.mktemp(request.param) / "profile"
    return {trip.sent.name: trip for trip in asyncio.run(round_trip(request.param, HARD_REPLIES, profile))}


@pytest.mark.requirement("T1", "T2", "T3", "T7", "X19")
@pytest.mark.parametrize("reply", HARD_REPLIES, ids=lambda reply: str(reply.name))
def test_the_call_read_back_is_the_call_sent(trips: dict[str, Trip], reply: HardReply) -> None:
    trip = trips[reply.name]
    assert first_call(trip.judgement.reply) == reply.call
    assert (trip.judgement.trust, trip.judgement.doubt) == ("full", None)
    readings = {capture.source: first_call(trip.read(capture)) for capture in trip.trusted}
    assert readings == {"cdp": reply.call, "tee": reply.call}


def test_rendered_text_loses_calls_that_the_tap_does_not(trips: dict[str, Trip]) -> None:
    """Why the page's own text runs nothing: some calls are damaged there, and still look whole."""
    shown = [
        (trip, first_call(trip.read(capture)))
        for trip in trips.values()
        for capture in trip.shown
        if capture.source == "rendered"
    ]
    assert [trip.sent.name for trip, call in shown if call not in (None, trip.sent.call)]
