"""Tags of any shape, whole and in pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.protocol.xmlform.xmltags import TagScanner, whole_tag

PARTS = [
    "<tool",
    "</tool",
    "<arguments",
    "<arg",
    " ",
    "\n",
    "name",
    "=",
    '"a"',
    "'b'",
    '"',
    "'",
    "/",
    ">",
    "x",
    "-",
    "<",
    "“",
]


def scanned(head: str, text: str, size: int) -> tuple[str, str]:
    """How far `text` is a tag that begins with `head`, read in pieces of `size`."""
    scanner = TagScanner(head)
    verdict, at = "more", len(head)
    while verdict == "more" and at < len(text):
        chunk = text[at : at + size]
        end, verdict = scanner.scan(chunk, 0)
        at += end
    return scanner.source, verdict


@pytest.mark.requirement("A24")
@given(st.sampled_from(PARTS[:4]), st.lists(st.sampled_from(PARTS), max_size=10).map("".join))
def test_a_tag_in_pieces_is_the_same_tag(head: str, rest: str) -> None:
    text = head + rest
    source, verdict = scanned(head, text, len(text))
    assert scanned(head, text, 1) == (source, verdict)
    assert text.startswith(source)
    found = whole_tag(text, 0)
    assert (found is not None) is (verdict == "tag")
    assert found is None or found.source == source


@pytest.mark.parametrize(
    ("source", "name", "attributes", "closing", "empty", "single"),
    [
        ('<tool name="a">', "tool", {"name": "a"}, False, False, False),
        ("<arg\nname = 'a&lt;b' x=\"it's\" />", "arg", {"name": "a<b", "x": "it's"}, False, True, True),
        ('<arg name="it\'s">', "arg", {"name": "it's"}, False, False, False),
        ("</arguments >", "arguments", {}, True, False, False),
        ("<item/>", "item", {}, False, True, False),
    ],
)
def test_what_a_tag_says(
    source: str, name: str, attributes: dict[str, str], closing: bool, empty: bool, single: bool
) -> None:
    tag = whole_tag(source, 0)
    assert tag is not None
    assert (tag.name, dict(tag.attributes)) == (name, attributes)
    assert (tag.closing, tag.empty, tag.single) == (closing, empty, single)
    assert tag.opens is not (closing or empty)


@pytest.mark.parametrize("text", ['</tool name="a">', "</tool/>", '<arg a="1" a="2">', "<argx>"])
def test_well_formed_and_still_none_of_ours(text: str) -> None:
    assert scanned("</tool" if text[1] == "/" else "<arg", text, 1) == (text, "text")
    assert whole_tag(text, 0) is None
