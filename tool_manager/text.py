"""Bytes of a file as lines of text: sniffing, encodings, streaming."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterator
from typing import Final

from tool_manager.limits import BINARY_SHARE, READ_CHUNK, READ_LINE_CHARS, SNIFF_BYTES

_BOMS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_TEXT_CONTROLS: Final = frozenset(b"\t\n\r\f\b\x1b")
LINE_BYTES: Final = 4 * READ_LINE_CHARS + 4  # enough UTF-8 for every character that is kept, and one to see a cut


def sniff(head: bytes) -> tuple[str, int] | None:
    """(encoding, length of the byte order mark) by the first bytes, None for binary (NUL, or mostly non-text)."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding, len(mark)
    sample = head[:SNIFF_BYTES]
    return None if b"\0" in sample or _odd(sample) > BINARY_SHARE * len(sample) else ("utf-8", 0)


def _odd(sample: bytes) -> int:
    controls = sum((byte < 32 and byte not in _TEXT_CONTROLS) or byte == 127 for byte in sample)
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(sample)  # not final: the sample may end inside a character
    except UnicodeDecodeError:
        return controls + sum(byte >= 128 for byte in sample)
    return controls


def chunks(fd: int, encoding: str, start: int, check: Callable[[], None]) -> Iterator[bytes]:
    """The file from byte `start` in pieces; UTF-16 as UTF-8, so that a line end is always one byte.

    `check` is called before each piece: by raising it ends the reading, for a file can be without end (T47).
    """
    at = start
    decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)("replace")
    while True:
        check()
        piece = os.pread(fd, READ_CHUNK, at)
        at += len(piece)
        # At the end the decoder gives what it still holds: half a character, as U+FFFD.
        text = piece if decoder is None else decoder.decode(piece, final=not piece).encode("utf-8", "replace")
        if text:
            yield text
        if not piece:
            return


def lines(pieces: Iterator[bytes], first: int) -> Iterator[tuple[bytes, int]]:
    """Lines from number `first` (1-based) on, as (at most `LINE_BYTES` bytes, true length in bytes) with line ends.

    Nothing longer than a piece and a line's kept bytes is ever held, however long the file or its lines.
    """
    skip, kept, length = first - 1, bytearray(), 0
    for piece in pieces:
        at = 0
        if skip:
            ends = piece.count(b"\n")
            if ends < skip:
                skip -= ends
                continue
            for _ in range(skip):
                at = piece.index(b"\n", at) + 1
            skip = 0
        while at < len(piece):
            end = piece.find(b"\n", at) + 1 or len(piece)
            kept += piece[at : min(end, at + LINE_BYTES - len(kept))]
            length += end - at
            if piece[end - 1 : end] == b"\n":
                yield bytes(kept), length
                kept, length = bytearray(), 0
            at = end
    if length:
        yield bytes(kept), length


def decode(raw: list[tuple[bytes, int]]) -> tuple[list[str], str]:
    """The lines as text, all as UTF-8 or else all as Latin-1 (which never fails), and which it was."""
    try:
        return [_utf8(data, len(data) < length) for data, length in raw], "utf-8"
    except UnicodeDecodeError:
        return [data.decode("latin-1") for data, _ in raw], "latin-1"


def _utf8(data: bytes, cut: bool) -> str:
    return codecs.getincrementaldecoder("utf-8")().decode(data, final=not cut)
