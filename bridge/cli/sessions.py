"""`tabferry sessions`: what the journal holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.journal import Event, JournalReader, SessionRow

app = typer.Typer(
    no_args_is_help=True,
    help="What was recorded: every session, every event.",
    epilog="Example: tabferry sessions list",
)

Json = Annotated[bool, typer.Option("--json", help="JSON Lines on stdout.")]


@app.command("list")
def list_sessions(
    workspace: Annotated[Path | None, typer.Option(help="Only sessions of this project; default: all.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many, newest first.")] = 50,
    json: Json = False,
) -> None:
    """List sessions, newest first, also while a bridge runs.

    Example: tabferry sessions list --workspace .
    """
    from bridge.cli.output import fail, notice, print_json
    from bridge.errors import TabferryError
    from bridge.journal import JournalReader, paths

    place = str(workspace.expanduser().resolve()) if workspace else None
    rows: list[SessionRow] = []
    try:
        if paths.journal_path().exists():
            with JournalReader(paths.journal_path()) as reader:
                rows = reader.sessions(place, limit=limit)
    except TabferryError as error:
        fail(error)
    if not rows:
        notice("No session has been recorded here yet; start one with: tabferry ask TASK")
    elif json:
        for row in rows:
            print_json(row.as_dict())
    else:
        _cards(rows)


@app.command()
def show(
    session: Annotated[str, typer.Argument(help="A session's id, or its beginning.")],
    json: Json = False,
) -> None:
    """Show one session from its first event to its last.

    Example: tabferry sessions show s_4f2a
    """
    from bridge.cli.output import fail
    from bridge.errors import TabferryError
    from bridge.journal import JournalReader, paths

    try:
        with JournalReader(paths.journal_path()) as reader:
            row = reader.find(session)
            _print_events(_events(reader, row.session), json=json)
    except TabferryError as error:
        fail(error)


def _events(reader: JournalReader, session: str) -> Iterator[Event]:
    """Every event, a page at a time, so that a long session needs no more memory than a short one."""
    after = 0
    while page := reader.events(session, after=after):
        yield from page
        after = page[-1].seq


def _print_events(events: Iterator[Event], *, json: bool) -> None:
    from bridge.cli.output import print_json

    if json:
        for event in events:
            print_json(event.as_dict())
        return
    from rich.console import Console

    from bridge.cli.transcript import Transcript

    console = Console(markup=False, emoji=False, highlight=False, soft_wrap=True)
    with Transcript(console, answers=True) as transcript:
        for event in events:
            transcript.event(event)


def _cards(rows: list[SessionRow]) -> None:
    """Two lines a session, wrapped rather than cut, so that no window is too narrow for them."""
    from datetime import datetime

    from rich.console import Console
    from rich.text import Text

    from bridge.cli.output import visible

    console = Console(markup=False, emoji=False, highlight=False, soft_wrap=True)
    for row in rows:
        started = datetime.fromtimestamp(row.started).isoformat(" ", "minutes")
        calls = f"{row.calls} call{'' if row.calls == 1 else 's'}"
        head = f"{row.session}  {started}  {row.state}  {calls}  {row.site or ''}"
        console.print(Text(visible(head.rstrip()), style="bold"))
        console.print(Text(visible(f"  {row.title or ''}  {row.workspace or ''}".rstrip())))
