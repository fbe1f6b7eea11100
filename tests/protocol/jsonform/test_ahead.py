from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.protocol.jsonform.ahead import Ahead

PATTERNS = ("ab*", "c", "d+", "x")


class Counted:
    """A finder that counts the characters it was shown up to its match."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.seen = re.compile(pattern), 0

    def search(self, data: str, at: int) -> re.Match[str] | None:
        found = self.pattern.search(data, at)
        self.seen += (found.end() if found else len(data)) - at
        return found


@given(st.text("abcde ", max_size=40), st.sets(st.sampled_from(PATTERNS), min_size=1))
def test_the_nearest_is_that_of_one_expression(text: str, patterns: set[str]) -> None:
    ahead, finders, either, at = Ahead(), [Counted(each) for each in patterns], re.compile("|".join(patterns)), 0
    while expected := either.search(text, at):
        found = ahead.nearest(finders, text, at)
        assert found is not None
        assert found.span() == expected.span()
        at = found.end()
    assert ahead.nearest(finders, text, at) is None


@pytest.mark.requirement("T16")
def test_no_stretch_is_searched_twice() -> None:
    text, ahead, finders = "c" * 500 + "x", Ahead(), [Counted(each) for each in PATTERNS]
    for at in range(len(text)):
        ahead.nearest(finders, text, at)
    assert sum(finder.seen for finder in finders) <= len(PATTERNS) * len(text)


def test_other_data_is_searched_anew() -> None:
    ahead, finder = Ahead(), Counted("c")
    assert ahead.nearest([finder], "ab", 0) is None
    found = ahead.nearest([finder], "bc", 0)
    assert found is not None
    assert found.start() == 1
