from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.protocol.tagged.hops import budget, places

NEEDLE = "TOOL_ERROR:"
pieces = st.lists(st.sampled_from([NEEDLE, "TOOL", "L", "ERROR:", " ", "x" * 50]), max_size=120).map("".join)


@given(pieces, st.integers(0, 60), st.integers(0, 60))
def test_places_are_those_of_find(text: str, start: int, less: int) -> None:
    end = max(start, len(text) - less)
    found, at = [], text.find(NEEDLE, start, end)
    while at >= 0:
        found.append(at)
        at = text.find(NEEDLE, at + 1, end)
    assert list(places(text, NEEDLE, start, end)) == found


@pytest.mark.parametrize("needle", ["TOOL_RESULT:", "<results>", "abc"])
def test_after_many_near_misses_it_searches(needle: str) -> None:
    text = needle[1:] * (3 * budget(10_000)) + needle * 2
    first = text.index(needle)
    assert list(places(text, needle, 0, len(text))) == [first, first + len(needle)]
