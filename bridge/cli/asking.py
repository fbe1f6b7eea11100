"""Follow one task to its end: show its events, answer its questions, cancel it when the user leaves."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import termios
from typing import Any, Literal

from bridge.cli.backend import Backend
from bridge.cli.output import print_json, visible
from bridge.cli.transcript import Transcript
from bridge.errors import ChatError, TabferryError, TaskCancelled
from bridge.journal import Event
from bridge.relay.service import Ephemeral

Decision = tuple[Literal["approve", "deny"], str | None]

_APPROVE = "  approve? [y/n] "
_LINE = 65536
"""Bytes read at a time: more than a terminal keeps of one line."""


class Terminal:
    """Asks the person at the terminal without blocking the event loop: Ctrl-C and other answers get through."""

    def __init__(self, fd: int = 0) -> None:
        self._fd = fd

    @classmethod
    def attached(cls, *, stdin_is_task: bool) -> Terminal | None:
        """None when nobody can answer: standard input is no terminal, or was the task."""
        return None if stdin_is_task or not sys.stdin.isatty() else cls()

    async def decide(self) -> Decision:
        """Yes or no, and for a no the reason that the model will read.

        Call it when the question is on the screen: what was typed before, even half a line, answers nothing.
        """
        try:
            begun = self._forget_typed()
        except (termios.error, OSError) as error:
            return "deny", f"the terminal cannot be asked ({error.args[-1]})"
        _write(_APPROVE)
        if begun:
            await self._line()
            _write(_APPROVE)
        while True:
            answer = (await self._line()).strip().lower()
            if answer in ("y", "yes"):
                return "approve", None
            if answer in ("", "n", "no"):
                _write("  reason (the model reads it): ")
                return "deny", (await self._line()).strip() or None
            _write(_APPROVE)

    async def _line(self) -> str:
        loop = asyncio.get_running_loop()
        line: asyncio.Future[str] = loop.create_future()

        def read() -> None:
            if not line.done():
                line.set_result(os.read(self._fd, _LINE).decode("utf-8", "replace"))

        loop.add_reader(self._fd, read)
        try:
            return await line
        finally:
            loop.remove_reader(self._fd)

    def _forget_typed(self) -> bool:
        """Discard all input up to now; whether it ended within a line, the rest of which is still to be typed."""
        modes = termios.tcgetattr(self._fd)
        # A terminal shows a line only once it is whole. Without lines, what there is can be read at once.
        now = [*modes[:6], [*modes[6]]]
        now[3] &= ~termios.ICANON
        now[6][termios.VMIN] = now[6][termios.VTIME] = 0
        termios.tcsetattr(self._fd, termios.TCSANOW, now)
        typed = b""
        try:
            while piece := os.read(self._fd, _LINE):
                typed = piece
        finally:
            termios.tcsetattr(self._fd, termios.TCSANOW, modes)
            termios.tcflush(self._fd, termios.TCIFLUSH)
        return typed != b"" and not typed.endswith(b"\n")


def _write(prompt: str) -> None:
    sys.stderr.write(prompt)
    sys.stderr.flush()


class Failed(TabferryError):
    """A task failed elsewhere; the sentence and the exit code are those of its event."""

    def __init__(self, data: dict[str, Any]) -> None:
        super().__init__(str(data.get("error", "The task failed.")))
        code = data.get("exit_code")
        self.exit_code = code if isinstance(code, int) else 1


async def follow(backend: Backend, task: str, terminal: Terminal | None, *, json: bool) -> str:
    """Start `task`, show it, return its answer; raises what ended it. Left early, it is cancelled first."""
    started = await backend.start(task)
    with Transcript() as transcript:
        desk = _Desk(backend, terminal, transcript)
        try:
            async for item in backend.items():
                if item.session != started.session or item.task not in (None, started.task):
                    continue
                if isinstance(item, Ephemeral):
                    if not json:
                        transcript.ephemeral(item)
                    continue
                if json:
                    print_json(item.as_dict())
                # A question is shown even then: a person is about to answer it.
                if not json or (terminal and item.type == "call.asking"):
                    transcript.event(item)
                desk.event(item)
                if (answer := _ended(item)) is not None:
                    return answer
        except asyncio.CancelledError:
            await backend.cancel(started)
            raise
        finally:
            await desk.close()
    raise ChatError("The bridge went away before the task ended; see tabferry sessions list for what was done.")


def print_answer(answer: str) -> None:
    """The answer on stdout, with nothing in it that a terminal would obey."""
    sys.stdout.write(visible(answer).rstrip("\n") + "\n")
    sys.stdout.flush()


class _Desk:
    """Puts each question to the terminal, and takes it back when somebody else answered it."""

    def __init__(self, backend: Backend, terminal: Terminal | None, transcript: Transcript) -> None:
        self._backend = backend
        self._terminal = terminal
        self._transcript = transcript
        self._question: asyncio.Task[None] | None = None
        self._call: str | None = None

    def event(self, event: Event) -> None:
        if event.type == "call.asking":
            self._call = event.call
            self._question = asyncio.create_task(self._answer(event.data))
        elif event.type in ("call.granted", "call.denied") and self._question and event.call == self._call:
            self._question.cancel()  # other calls of the same reply may go their way meanwhile

    async def close(self) -> None:
        if self._question is not None:
            self._question.cancel()
            with contextlib.suppress(asyncio.CancelledError, TabferryError):
                await self._question

    async def _answer(self, data: dict[str, Any]) -> None:
        self._transcript.quiet()
        if self._terminal is None:
            decision: Decision = ("deny", "nobody is at the terminal to approve it; run again with --approve")
        else:
            decision = await self._terminal.decide()
        await self._backend.answer(str(data["id"]), str(data["digest"]), *decision)


def _ended(event: Event) -> str | None:
    if event.type == "session.task_failed":
        raise Failed(event.data)
    if event.type == "session.task_cancelled":
        raise TaskCancelled("The task was cancelled; what it had done so far is in the journal.")
    return str(event.data.get("answer", "")) if event.type == "session.task_done" else None
