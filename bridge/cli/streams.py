"""Standard streams that exist, take any text, and fail with a sentence. Imports nothing slow: `--help` pays for it."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


@contextmanager
def whole_streams() -> Iterator[None]:
    """For the length of a command; leaves it with exit code 1 when standard output cannot be written."""
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        yield
    except SystemExit:
        _flush()
        raise
    except OSError as error:
        _lost(error)
    _flush()


def forget_stdout() -> None:
    """Point standard output elsewhere: its reader has gone, and the interpreter would complain when it flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _flush() -> None:
    try:
        sys.stdout.flush()
    except OSError as error:
        _lost(error)


def _lost(error: OSError) -> NoReturn:
    forget_stdout()
    if error.errno != errno.EPIPE:
        sys.stderr.write(f"tabferry: cannot write to standard output: {error.strerror}.\n")
    raise SystemExit(1) from None
