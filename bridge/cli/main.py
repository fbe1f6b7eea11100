"""The `tabferry` command: only wiring; each command imports what it needs when it runs."""

from __future__ import annotations

import typer

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def main() -> None:
    app()
