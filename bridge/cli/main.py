"""The `tabferry` command: only wiring; each command imports what it needs when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from bridge.cli import ask, demo, inspect, parse, prompt, serve, sessions, tools
from bridge.cli.streams import whole_streams

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Turns a web chat into a coding agent inside your editor, with no API key.",
    epilog="Start with: tabferry demo",
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"tabferry {version('tabferry')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Options of the command itself."""


app.command()(demo.demo)
app.command()(ask.ask)
app.command()(serve.serve)
app.add_typer(tools.app, name="tools")
app.command()(parse.parse)
app.command()(prompt.prompt)
app.add_typer(sessions.app, name="sessions")
app.command()(inspect.inspect)


def main() -> None:
    """The console script. Bad usage exits with 2, Ctrl-C with 130; see design, section 3."""
    with whole_streams():
        app()
