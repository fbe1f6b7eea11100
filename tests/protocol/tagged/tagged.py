"""What the tests of cogency and forge share: arguments, hard replies, and replies fed in pieces.

The only lone surrogate is a first half: JSON has no way to write two halves that are no pair.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import strategies as st

from bridge.protocol import ParsedReply, ResponseParser, StreamEvent

HARD_TEXT = [
    "</execute>", "<execute>", "</tool>", "<tool>", "</results>", "<think>", "</thinking>", "````", "```json\n", "\\",
    '"', "\x00", "\x7f", "\u2028", "\ufeff", "\u200b", "\ud800", "é", "😀", "<TOOL_CALL>", "]]>",
]  # fmt: skip

hard_text = st.lists(st.sampled_from(HARD_TEXT) | st.text(max_size=5), max_size=5).map("".join)
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | hard_text
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(hard_text, inner, max_size=4),
    max_leaves=10,
)
arguments = st.dictionaries(hard_text, values, max_size=4)


def fed(dialect: str, text: str, cuts: list[int]) -> tuple[list[StreamEvent], ParsedReply]:
    """`text` parsed in pieces cut at `cuts` (taken modulo its length), and what came out on the way."""
    stream = ResponseParser(dialect).stream()
    bounds = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    events = [event for start, end in pairwise(bounds) for event in stream.feed(text[start:end])]
    return events, stream.close()


def nested(depth: int) -> object:
    """Lists in lists, `depth` of them."""
    value: list[object] = []
    for _ in range(depth - 1):
        value = [value]
    return value


def unaccounted(text: str, reply: ParsedReply) -> set[str]:
    """The visible characters of `text` that `reply` tells less often; fails where it tells one more often."""
    told = Counter("".join((reply.text + reply.thinking + reply.rest).split()))
    written = Counter("".join(text.split()))
    assert not told - written
    return set(written - told)
