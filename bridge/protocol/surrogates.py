"""Characters beyond the sixteenth bit that JSON writes as two escapes."""

from __future__ import annotations

import re

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def joined(text: str) -> str:
    """`text` with each pair of surrogates made the character that it stands for."""
    if text.isascii():
        return text
    return _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
