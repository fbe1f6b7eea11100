"""`tabferry inspect`: the inspector page on a live or a recorded session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bridge.relay import Announcement


def inspect(
    session: Annotated[str | None, typer.Argument(help="A session, or the beginning of its id; default: all.")] = None,
    workspace: Annotated[Path, typer.Option(help="The project whose sessions are shown.")] = Path(),
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the page, or only print its address.")] = True,
    json: Annotated[bool, typer.Option("--json", help="Print the address as one line of JSON.")] = False,
) -> None:
    """Open the inspector page: every recorded event, live while a bridge runs. The address is good for one use.

    Example: tabferry inspect --workspace .
    """
    from bridge.cli.output import run

    run(_inspect(session, workspace.expanduser().resolve(), show=show, json=json))


async def _inspect(session: str | None, root: Path, *, show: bool, json: bool) -> None:
    from bridge.relay import find_live

    if session is not None:
        session, root = _found(session, root)
    live = await find_live()
    if live is not None:
        await _show(await _ask_bridge(live, root, session), show=show, json=json)
    else:
        await _show_recorded(root, session, show=show, json=json)


def _found(prefix: str, root: Path) -> tuple[str, Path]:
    """The session's id and workspace."""
    from bridge.journal import JournalReader, paths

    with JournalReader(paths.journal_path()) as reader:
        row = reader.find(prefix)
    return row.session, Path(row.workspace or root)


async def _ask_bridge(live: Announcement, root: Path, session: str | None) -> str:
    from bridge.relay import RelayClient

    async with await RelayClient.open(live, root, name="inspect") as client:
        opened = await client.call("inspector/open", {"session": session} if session else {})
    return str(opened["url"])


async def _show_recorded(root: Path, session: str | None, *, show: bool, json: bool) -> None:
    """Serve the journal read-only until Ctrl-C."""
    import asyncio
    from importlib.metadata import version

    from bridge.cli.output import notice
    from bridge.journal import Archive, paths
    from bridge.relay import Relay
    from bridge.relay.recorded import RecordedService

    archive = Archive.open(paths.journal_path())
    try:
        async with Relay(RecordedService(archive), version=version("tabferry")) as relay:
            await _show(await relay.inspector_url(root, session), show=show, json=json)
            notice("No bridge is running; this shows what was recorded, until Ctrl-C.")
            await asyncio.Event().wait()
    finally:
        await archive.close()


async def _show(url: str, *, show: bool, json: bool) -> None:
    import asyncio
    import webbrowser

    from bridge.cli.output import print_json

    if json:
        print_json({"url": url})
    else:
        typer.echo(url)
    if show:
        await asyncio.to_thread(webbrowser.open, url)
