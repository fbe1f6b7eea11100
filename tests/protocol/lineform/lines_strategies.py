"""Arguments, and texts that look like calls in lines, for the property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from bridge.protocol import CallClosed, ParsedReply, ResponseParser, TextDelta

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=10,
)
arguments = st.dictionaries(st.text(max_size=12), values, max_size=5)
names = st.from_regex(r"[a-z_][a-z0-9_]{0,12}", fullmatch=True)


def texts(*pieces: str) -> st.SearchStrategy[str]:
    """Replies made of `pieces`, of what pages and models put around them, and of anything."""
    common = (
        "\n",
        " ",
        "  ",
        "<think>",
        "</think>",
        "```",
        "````python\n",
        "```yaml\n",
        "\r\n",
        '"',
        "'",
        "\\",
        "#",
        "\t",
    )
    return st.lists(st.sampled_from((*pieces, *common)) | st.text(max_size=3), max_size=24).map("".join)


def streamed(parser: ResponseParser, text: str, size: int) -> ParsedReply:
    """`text` read in chunks of `size`; what was let out on the way must agree with what comes out in the end."""
    stream = parser.stream()
    events = [event for start in range(0, len(text), size) for event in stream.feed(text[start : start + size])]
    reply = stream.close()
    shown = "".join(event.text for event in events if isinstance(event, TextDelta))
    closed = [event.call for event in events if isinstance(event, CallClosed)]
    assert reply.text.startswith(shown) or "<" in text  # a closing tag of thinking may take a call back
    assert tuple(closed) == reply.calls[: len(closed)] or "<" in text
    return reply
