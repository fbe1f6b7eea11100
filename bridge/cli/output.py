"""What every command shares: JSON Lines, one sentence for an error, an exit code, and text that cannot act."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Coroutine
from typing import Any, NoReturn, TypeVar

import typer

from bridge.cli.streams import forget_stdout

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
    """Run `work` to its end. An error becomes its sentence and exit code; SIGINT, SIGTERM and SIGHUP cancel `work`,
    wait for its clean-up, and give 128 + their number (130 for Ctrl-C)."""
    _log_to_stderr()
    signals = _Signals()
    try:
        return asyncio.run(signals.watch(work))
    except (typer.Exit, typer.Abort):
        raise
    except BrokenPipeError:
        forget_stdout()
        raise typer.Exit(1) from None
    except (KeyboardInterrupt, asyncio.CancelledError):
        signals.leave()
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:
        signals.leave()
        if os.environ.get("TABFERRY_DEBUG"):
            raise
        fail(error)


class _Signals:
    """The first signal cancels the work; later ones only say that its clean-up is on its way, a third gives up."""

    def __init__(self) -> None:
        self._seen: list[int] = []

    async def watch(self, work: Coroutine[Any, Any, T]) -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        if threading.current_thread() is threading.main_thread():  # no other thread gets signals
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                loop.add_signal_handler(number, self._take, number, task)
        loop.set_exception_handler(self._stray)
        return await work

    def leave(self) -> None:
        """End the command the way that the signal asks for, if there was one."""
        if self._seen:
            notice("tabferry: interrupted.")
            raise typer.Exit(128 + self._seen[0]) from None

    def _take(self, number: int, task: asyncio.Task[Any]) -> None:
        self._seen.append(number)
        if len(self._seen) == 1:
            task.cancel()
        elif len(self._seen) == 2:
            notice("tabferry: cleaning up; once more ends at once.")
        else:
            os._exit(128 + number)

    def _stray(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        # What was cut short complains that nobody waits for it any more.
        if not self._seen:
            loop.default_exception_handler(context)


def _log_to_stderr() -> None:
    """What the rooms have to say to the user (the browser's sandbox, an installation) goes where notices go."""

    class Notices(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            notice(f"tabferry: {record.getMessage()}")

    log = logging.getLogger("bridge")
    if not log.handlers:
        log.addHandler(Notices())
        log.setLevel(logging.INFO)


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
