"""What every command shares: JSON Lines, one sentence for an error, an exit code, and text that cannot act."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Coroutine
from typing import Any, NoReturn, TypeVar

import typer

T = TypeVar("T")

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C ended."""


def print_json(value: Any) -> None:
    """One line of JSON on stdout, ASCII only, written at once so that a reader sees it when it happens."""
    sys.stdout.write(json.dumps(value, ensure_ascii=True, default=str) + "\n")
    sys.stdout.flush()


def notice(sentence: str) -> None:
    """One sentence for people, on stderr."""
    sys.stderr.write(visible(sentence) + "\n")
    sys.stderr.flush()


def fail(error: Exception) -> NoReturn:
    """End the command: the error's one sentence on stderr, and its exit code (1 for what is none of ours)."""
    from bridge.errors import TabferryError

    if isinstance(error, TabferryError):
        notice(f"tabferry: {error}")
        raise typer.Exit(error.exit_code)
    notice(f"tabferry: internal error, please report it: {type(error).__name__}: {error}")
    raise typer.Exit(1)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` to its end; an error becomes its sentence and exit code, Ctrl-C cancels `work` first and gives 130."""
    try:
        return asyncio.run(work)
    except (typer.Exit, typer.Abort):
        raise
    except KeyboardInterrupt:
        notice("tabferry: interrupted.")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # The reader has gone; point stdout elsewhere, or the interpreter complains when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise typer.Exit(1) from None
    except Exception as error:
        if os.environ.get("TABFERRY_DEBUG"):
            raise
        fail(error)


def read_argument(value: str) -> str:
    """`value`, or standard input when it is `-`. Input that is not UTF-8 is a `UsageError`."""
    from bridge.errors import UsageError

    if value != "-":
        return value
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"Standard input is not UTF-8 text (byte {error.start}); convert it first.") from error


def visible(text: str) -> str:
    """`text` with every character escaped that a terminal would obey, hide or reorder by: control characters (ANSI),
    bidirectional and zero-width marks, surrogates. Newlines and tabs stay."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
