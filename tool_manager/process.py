"""Helper programs as asyncio subprocesses: own process group, minimal environment, killed whole on any exit."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tool_manager.errors import ToolError

# Nothing of the user's environment: no tokens, no configuration paths, no loader variables.
ENVIRONMENT: Final = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}


@dataclass(frozen=True, slots=True)
class Finished:
    code: int
    out: bytes
    err: bytes


@asynccontextmanager
async def spawn(argv: Sequence[str], *, cwd: str = "/", stdin: bool = False) -> AsyncIterator[Process]:
    """A running program; leaving the block kills its process group and waits for it. `argv[0]` is absolute."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=PIPE if stdin else DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
        cwd=cwd,
        env=ENVIRONMENT,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        await asyncio.shield(process.wait())


async def run(argv: Sequence[str], *, stdin: bytes, seconds: float, limit: int) -> Finished:
    """Feed `stdin`, collect at most `limit` bytes of each stream; raises `ToolError` after `seconds`."""
    async with spawn(argv, stdin=True) as process:
        assert process.stdin and process.stdout and process.stderr
        try:
            async with asyncio.timeout(seconds):
                _, out, err = await asyncio.gather(
                    feed(process.stdin, stdin), collect(process.stdout, limit), collect(process.stderr, limit)
                )
                code = await process.wait()
        except TimeoutError:
            raise ToolError(f"{Path(argv[0]).name} did not finish within {seconds:g} s and was stopped.") from None
        return Finished(code, out, err)


async def collect(stream: asyncio.StreamReader, limit: int) -> bytes:
    """The first `limit` bytes; the rest is drained, so that the program never blocks on a full pipe."""
    kept = bytearray()
    while piece := await stream.read(1 << 16):
        kept += piece[: max(0, limit - len(kept))]
    return bytes(kept)


async def feed(stream: asyncio.StreamWriter, data: bytes) -> None:
    """All of `data`, as fast as the program takes it; then the end."""
    with suppress(BrokenPipeError, ConnectionResetError):  # it may answer before it has read everything
        stream.write(data)
        await stream.drain()
    stream.close()
    with suppress(BrokenPipeError, ConnectionResetError):
        await stream.wait_closed()
