"""Foreign words in a message of ours: names and errors may quote what a model or a tool wrote."""

from __future__ import annotations

from bridge.protocol import limits
from bridge.protocol.dialect import one_line


def harmless(text: str) -> str:
    """`text` on one line that any composer can hold, cut to `limits.MAX_ERROR`, with neither tag nor fence in it."""
    return one_line(text)[: limits.MAX_ERROR].replace("<", "\\u003c").replace("`", "\\u0060")
