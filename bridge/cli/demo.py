"""`tabferry demo`: the main job on the embedded chat page, with proof that every step happened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from bridge import LLMManager
    from bridge.chat import BrowserChat
    from bridge.demo.sample import Demo
    from bridge.journal import Event, Journal


SETTLE_S = 10.0
"""For the last event to be shown after the task ended; it is in the journal by then."""

REMOVE_TRIES = 50
"""Tenths of a second that a dying browser is given to let go of its profile folder."""


def demo(
    headed: Annotated[bool, typer.Option("--headed", help="Show the browser window.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the workspace and the journal, and say where.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print events as JSON Lines on stdout.")] = False,
) -> None:
    """Watch a web chat read, search and edit files, without an account. Its model is scripted, and says so.

    Example: tabferry demo --headed
    """
    from bridge.cli.output import run

    failed = run(_demo(headed=headed, keep=keep, json=json))
    if failed:
        raise typer.Exit(1)


async def _demo(*, headed: bool, keep: bool, json: bool) -> int:
    """How many conversations did not do what they should."""
    import asyncio
    import tempfile

    from bridge.chat import open_chat
    from bridge.cli.output import notice, print_json
    from bridge.demo.sample import CONVERSATIONS, copy_sample
    from bridge.journal import Journal

    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="tabferry-demo-"))
    try:
        workspace = await asyncio.to_thread(copy_sample, folder / "workspace")
        journal = Journal.open(folder / "state" / "journal.db")
        chat = await open_chat(headless=not headed, profile_dir=folder / "profile")
        try:
            outcomes = [await _converse(each, workspace, chat, journal, json) for each in CONVERSATIONS]
        finally:
            await chat.close()
            await journal.close()
    finally:
        if keep:
            notice(f"Kept: {folder}")
        else:
            await asyncio.to_thread(_remove, folder)
    failed = sum(outcome is not None for outcome in outcomes)
    if json:
        print_json({"type": "demo.done", "conversations": len(outcomes), "failed": failed})
    notice(
        f"{len(outcomes) - failed} of {len(outcomes)} conversations did every step, on a real page in a real browser."
    )
    return failed


async def _converse(demo: Demo, workspace: Path, chat: BrowserChat, journal: Journal, json: bool) -> str | None:
    """What is not proven of this conversation, or None."""
    import asyncio

    from bridge import LLMManager
    from bridge.cli.output import notice, print_json
    from bridge.cli.transcript import Transcript
    from bridge.errors import TabferryError

    events: list[Event] = []
    with Transcript(answers=True) as transcript:
        async with LLMManager(
            workspace, chat=chat, journal=journal, approve=demo.approve, on_ephemeral=transcript.ephemeral
        ) as llm:

            def show(event: Event) -> None:
                events.append(event)
                transcript.event(event)
                if json:
                    print_json(event.as_dict())

            watching = asyncio.create_task(_watch(llm, show))
            try:
                answer = await llm.call(demo.task)
            except TabferryError as error:
                notice(f"✗ {error}")
                return str(error)
            finally:
                await asyncio.wait({watching}, timeout=SETTLE_S)
                watching.cancel()
    missing = await asyncio.to_thread(demo.check, workspace, events, answer)
    notice(f"✗ Not proven: {missing}\n" if missing else "✓ Every step really happened.\n")
    return missing


async def _watch(llm: LLMManager, show: Callable[[Event], None]) -> None:
    async for event in llm.events():
        show(event)
        if event.type.startswith("session.task_") and event.type != "session.task_started":
            return


def _remove(folder: Path) -> None:
    """A browser that was cut short may write to its profile for a moment longer."""
    import shutil
    import time

    for _ in range(REMOVE_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.1)
