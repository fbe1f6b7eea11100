"""Text inside XML: what must be written as an entity, and back (X12)."""

from __future__ import annotations

import re
import sys
from typing import Final

from bridge.protocol.surrogates import joined

_NAMED: Final = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_ENTITY = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6}));")
_SPECIAL = re.compile(r"[&<>]|`{4,}|[^\n\x20-\x7e]")
_IN_ATTRIBUTE = re.compile(r"[&<>\"\n`]|[^\x20-\x7e]")


def unescape(text: str) -> str:
    """`text` with the five named entities and numeric ones decoded once; a bare `&` and other entities stay.

    Two numbers that are the surrogates of one character are that character, as two escapes are in JSON.
    """
    return joined(_ENTITY.sub(_decoded, text)) if "&" in text else text


def escape(text: str) -> str:
    """`text` as the content of an element that `unescape` gives back.

    Characters that pages lose (control, invisible, lone surrogates) become numbers, and so does a text of white space,
    which would count as empty (A28), and what would close the fence around the call.
    """
    return _SPECIAL.sub(_encoded, text) if text.strip() else _numbers(text)


def attribute(text: str) -> str:
    """`text` in double quotes, as the value of an attribute (A12: a quote in it must not end it)."""
    return f'"{_IN_ATTRIBUTE.sub(_encoded, text)}"'


def _decoded(found: re.Match[str]) -> str:
    if found[1]:
        return _NAMED[found[1]]
    number = int(found[2]) if found[2] else int(found[3], 16)
    return chr(number) if number <= sys.maxunicode else found[0]


def _encoded(found: re.Match[str]) -> str:
    name = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}.get(found[0])
    return name or (found[0] if found[0].isprintable() and "`" not in found[0] else _numbers(found[0]))


def _numbers(text: str) -> str:
    return "".join(f"&#{ord(char)};" for char in text)
