"""Starts the Gradio page in its own environment, with the scripted endpoint behind it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from bridge.demo.reply import Model
from tests.pages.scripted_openai import Exchange, ScriptedOpenAI

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venvs" / "gradio" / "bin" / "python"
APP = Path(__file__).with_name("gradio_app.py")
START_S = 120.0
"""Gradio takes 3 s on an idle machine and was seen to take 30 s on a busy one."""
END_S = 5.0


def available() -> bool:
    """Whether Gradio's environment has been made (`make pages-gradio`)."""
    return PYTHON.exists()


@asynccontextmanager
async def gradio_page(
    model: Model | None = None, *, delay: float = 0.0, endpoint: ScriptedOpenAI | None = None
) -> AsyncIterator[tuple[str, list[Exchange]]]:
    """The page's URL and the endpoint's log, growing as the page asks. `delay` is seconds between two chunks; another
    `endpoint` has its own model and delay.

    Raises `RuntimeError` with the page's own output when it does not start.
    """
    async with endpoint or ScriptedOpenAI(model=model, delay=delay) as endpoint:
        process = await _start(endpoint.base_url)
        drain: asyncio.Task[None] | None = None
        try:
            url = await _ready(process)
            drain = asyncio.create_task(_drain(process))
            yield url, endpoint.log
        finally:
            await _end(process)
            if drain is not None:
                await drain


async def _start(base_url: str) -> asyncio.subprocess.Process:
    environment = {
        **os.environ,
        "OPENAI_BASE_URL": base_url,
        "GRADIO_ANALYTICS_ENABLED": "False",
        "HF_HUB_OFFLINE": "1",
        "GRADIO_SERVER_PORT": str(_free_port()),
        "NO_PROXY": "127.0.0.1,localhost",
    }
    return await asyncio.create_subprocess_exec(
        PYTHON,
        APP,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def _ready(process: asyncio.subprocess.Process) -> str:
    """The URL on the ready line; whatever came before it is in the error when the line never comes."""
    assert process.stdout is not None
    said: list[str] = []
    with suppress(TimeoutError):
        async with asyncio.timeout(START_S):
            async for line in process.stdout:
                said.append(line.decode("utf-8", "replace"))
                if said[-1].startswith("READY "):
                    return said[-1].split()[1]
    raise RuntimeError("the Gradio page did not start:\n" + "".join(said))


async def _drain(process: asyncio.subprocess.Process) -> None:
    """Read on, so that a chatty page never blocks on a full pipe."""
    assert process.stdout is not None
    while await process.stdout.read(65536):
        pass


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the whole process group: first asked, then made."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), END_S)
            return
