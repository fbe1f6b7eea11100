"""Foreign words in a message of ours: names and errors may quote what a model or a tool wrote."""

from __future__ import annotations

from bridge.protocol import limits


def harmless(text: str) -> str:
    """`text` on one line that any composer can hold, cut to `limits.MAX_ERROR`, with neither tag nor fence in it."""
    line = "".join(map(_typable, text)).strip()
    return line[: limits.MAX_ERROR].replace("<", "\\u003c").replace("`", "\\u0060")


def _typable(char: str) -> str:
    if "\ud800" <= char <= "\udfff":
        return "\ufffd"
    return char if char.isprintable() else " "
