"""Lines are found where a plain search finds them, whatever hops on the way."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.protocol.lineform.linefinder import LOOKS, LineFinder

PATTERN = re.compile(r"\n {0,3}\w+\(")


@given(st.text(alphabet="a(\n ", max_size=60), st.integers(0, 60))
def test_it_finds_what_a_search_finds(text: str, at: int) -> None:
    found = PATTERN.search(text, at)
    assert LineFinder(PATTERN, "(").find(text, at) == (found.start() + 1 if found else len(text) + 1)


@pytest.mark.parametrize("end", ["", "\n  f(x)", "\nf"])
def test_where_marks_are_many_the_pattern_goes_on(end: str) -> None:
    text = "(" * (LOOKS + 5) + end
    found = PATTERN.search(text)
    assert LineFinder(PATTERN, "(").find(text, 0) == (found.start() + 1 if found else len(text) + 1)


def test_a_stretch_is_searched_once() -> None:
    text, finder = "a\nb\nf(\nc\ng(", LineFinder(PATTERN, "(")
    assert [finder.find(text, at) for at in (0, 2, 3, 4, 9)] == [4, 4, 4, 9, len(text) + 1]
