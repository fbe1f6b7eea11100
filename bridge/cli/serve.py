"""`tabferry serve`: the bridge with its relay."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from bridge.agent import Choices
    from bridge.relay import Announcement, Relay


STARTING_S = 5.0
"""How long a bridge may take from holding the journal to announcing itself; it takes some 50 ms."""


def serve(
    workspace: Annotated[Path, typer.Option(help="The project that the announced token opens.")] = Path(),
    announce: Annotated[
        bool, typer.Option("--announce", "--json", help="Print one line of JSON when ready: url, token and so on.")
    ] = False,
    site: Annotated[str | None, typer.Option(help="Site profile for tasks that name none, for example demo.")] = None,
    url: Annotated[str | None, typer.Option(help="Address of the chat page.")] = None,
    dialect: Annotated[str | None, typer.Option(help="How the model writes calls.")] = None,
    provider: Annotated[str | None, typer.Option(help="Choose the dialect by the provider of the model.")] = None,
    xml: Annotated[bool, typer.Option("--xml", help="Choose XML whatever the provider.")] = False,
    team: Annotated[str | None, typer.Option(help="The choices of [teams.NAME] in config.toml.")] = None,
    approve: Annotated[str | None, typer.Option(help="What runs unasked: ask, edits, auto or none.")] = None,
    headless: Annotated[bool | None, typer.Option("--headless/--headed", help="Hide or show the browser.")] = None,
    idle_minutes: Annotated[
        float, typer.Option(min=0, help="End after so long without a client or a task; 0: never.")
    ] = 10,
) -> None:
    """Run the bridge until Ctrl-C, SIGTERM, a client's shutdown, or nobody needs it; editors and terminals connect.

    Example: tabferry serve --workspace . --announce

    One bridge serves any number of workspaces: if one already runs, --announce prints its line and ends.
    """
    from bridge.cli.output import run

    flags = {
        "site": site,
        "url": url,
        "dialect": dialect,
        "provider": provider,
        "xml": xml or None,
        "team": team,
        "approve": approve,
        "headless": headless,
    }
    run(_serve(workspace, flags, announce=announce, idle_seconds=idle_minutes * 60 or None))


async def _serve(workspace: Path, flags: dict[str, Any], *, announce: bool, idle_seconds: float | None) -> None:
    from bridge.agent.choices import check
    from bridge.config import load_settings
    from bridge.errors import JournalError, UsageError
    from bridge.relay import find_live

    choices = load_settings(**flags).choices
    root = check(workspace, choices)
    live = await find_live()
    if live is None:
        try:
            await _run_bridge(root, choices, announce=announce, idle_seconds=idle_seconds)
        except JournalError:
            # Two editor windows may start a bridge at the same moment; the second becomes a client of the first.
            live = await _other_starting() if announce else None
            if live is None:
                raise
    if live is None:
        return
    if announce:
        await _announce_live(live, root)
    else:
        raise UsageError(
            f"A bridge runs already (process {live.pid}) and serves every workspace; end it first with: kill {live.pid}"
        )


async def _run_bridge(root: Path, choices: Choices, *, announce: bool, idle_seconds: float | None) -> None:
    from importlib.metadata import version

    from bridge.agent import Bridge
    from bridge.journal import Journal, paths
    from bridge.relay import Relay

    journal = Journal.open(paths.journal_path())
    bridge = Bridge(journal, defaults=choices)
    try:
        await bridge.start()
        runtime, release = paths.runtime_dir(), version("tabferry")
        async with Relay(bridge, version=release, runtime_dir=runtime, idle_seconds=idle_seconds) as relay:
            await _ready(relay, root, announce=announce)
            await _until_told(relay)
    finally:
        await bridge.close()
        await journal.close()


async def _ready(relay: Relay, root: Path, *, announce: bool) -> None:
    from bridge.cli.output import notice

    if announce:
        _print(await relay.announcement(root))
    notice(f"The bridge is ready at {relay.url}; end it with Ctrl-C.")


async def _until_told(relay: Relay) -> None:
    """Return on SIGTERM, or when a client or idleness asks for shutdown; Ctrl-C ends the command with 130."""
    import asyncio
    import signal

    from bridge.cli.output import INTERRUPTED

    loop = asyncio.get_running_loop()
    told: asyncio.Future[int] = loop.create_future()

    def tell(code: int) -> None:
        if not told.done():
            told.set_result(code)

    loop.add_signal_handler(signal.SIGINT, tell, INTERRUPTED)
    loop.add_signal_handler(signal.SIGTERM, tell, 0)
    shutdown = asyncio.create_task(relay.wait_shutdown())
    shutdown.add_done_callback(lambda _: tell(0))
    try:
        if code := await told:
            raise typer.Exit(code)
    finally:
        shutdown.cancel()


async def _other_starting() -> Announcement | None:
    """The bridge that another process is just starting, None if it does not appear soon."""
    import asyncio
    import contextlib

    from bridge.relay import find_live

    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(STARTING_S):
            while True:
                if live := await find_live():
                    return live
                await asyncio.sleep(0.1)
    return None


async def _announce_live(live: Announcement, root: Path) -> None:
    from dataclasses import replace

    from bridge.relay import RelayClient

    async with await RelayClient.connect(live, name="serve") as client:
        opened = await client.call("workspace/open", {"path": str(root)})
    _print(replace(live, token=opened["token"]))


def _print(announcement: Announcement) -> None:
    from dataclasses import asdict

    from bridge.cli.output import print_json

    print_json(asdict(announcement))
