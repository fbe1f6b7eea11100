from __future__ import annotations

import pytest

from bridge.protocol.tags import THINKING, TagSet, name_of

TAGS = TagSet(("<X>", "</X>"), opening=THINKING, closing=("think",))


@pytest.mark.requirement("T5")
@pytest.mark.requirement("X19")
@pytest.mark.parametrize(
    "tag", ["<X>", "</X>", "<think>", "<ThinKing>", "</THINK >", "<think a='b'>", f"<think {'a' * 64}>"]
)
@pytest.mark.parametrize("before", ["", "< <x> <think/> <thinker> </thinking> <X >", "<" * 2000])
def test_a_tag_is_found_and_held_back_until_it_is_whole(tag: str, before: str) -> None:
    found = TAGS.search(f"{before}{tag} after", 0)
    assert found is not None
    assert (found[0], found.start()) == (tag, len(before))
    for end in range(1, len(tag)):
        assert TAGS.search(f"{before}{tag[:end]}", 0) is None
        assert TAGS.unfinished(f"{before}{tag[:end]}", 0) == tag[:end]


@pytest.mark.parametrize(
    "text", ["<x", "<X ", "<thinks", "</thinking", "<think<", "<t>", "", "a", f"<think {'a' * 65}", "</x"]
)
def test_what_cannot_become_a_tag_is_not_held_back(text: str) -> None:
    assert TAGS.unfinished(text, 0) in ("", "<")
    assert (TAGS.unfinished(text, 0) == "<") is text.endswith("<")


def test_names_are_lower_case() -> None:
    assert [name_of(tag) for tag in ("<THINK >", "</Thinking>", "<think a>")] == ["think", "thinking", "think"]
