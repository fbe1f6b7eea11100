from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.protocol.tagged.hops import HOPS, Finder, places

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
    text = needle[1:] * (3 * HOPS) + needle * 2
    first = text.index(needle)
    assert list(places(text, needle, 0, len(text))) == [first, first + len(needle)]


@given(
    st.lists(st.sampled_from(["<a>", "<", "<b", "a>", " ", "x" * 3000]), max_size=60).map("".join), st.integers(0, 9)
)
def test_a_finder_finds_what_the_expression_finds(text: str, at: int) -> None:
    expected = re.compile("<a>").search(text, at)
    found = Finder("<", "<a>").search(text, at)
    assert (found and found.span()) == (expected and expected.span())


@pytest.mark.requirement("T16")
def test_many_near_misses_cost_few_looks() -> None:
    text = Counted("<b" * 100_000 + "<a>")
    found = Finder("<", "<a>").search(text, 0)
    assert found is not None
    assert found.start() == 200_000
    assert text.looks <= 2 * HOPS


class Counted(str):
    """Counts how often it is searched by hand."""

    looks = 0

    def find(self, *args: Any) -> int:
        self.looks += 1
        return super().find(*args)
