"""`tabferry prompt`: the text that opens a chat."""

from __future__ import annotations

from typing import Annotated

import typer


def prompt(
    dialect: Annotated[str | None, typer.Option(help="The way in which calls are written; tool_call if none.")] = None,
    provider: Annotated[str | None, typer.Option(help="Choose the dialect by the provider of the model.")] = None,
    xml: Annotated[bool, typer.Option("--xml", help="Choose XML whatever the provider.")] = False,
    team: Annotated[str | None, typer.Option(help="The choices of [teams.NAME] in config.toml.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object instead of the bare text.")] = False,
) -> None:
    """Print the system prompt exactly as it would be typed; what each tool costs goes to standard error.

    Example: tabferry prompt --dialect tool_call
    """
    from bridge.agent.choices import opening
    from bridge.cli.output import fail
    from bridge.config import load_settings
    from bridge.errors import TabferryError
    from bridge.protocol import dialects
    from tool_manager import builtin_specs

    try:
        choices = load_settings(dialect=dialect, provider=provider, xml=xml or None, team=team).choices
        chosen = dialects.get(choices.dialect)
        tools = builtin_specs(hidden=chosen.needs_call)
        text = opening(choices, tools)
    except TabferryError as error:
        fail(error)
    manifest = chosen.manifest(tools)
    costs = {name: len(text) + len(chosen.separator) for name, text in manifest.texts.items()}
    if json:
        _print_json(chosen.name, text, costs, manifest.skipped)
    else:
        _print_text(text, costs, manifest.skipped)


def _print_json(dialect: str, text: str, costs: dict[str, int], skipped: dict[str, str]) -> None:
    from bridge.cli.output import print_json

    value = {"dialect": dialect, "prompt": text, "characters": len(text), "tools": costs, "skipped": skipped}
    print_json(value)


def _print_text(text: str, costs: dict[str, int], skipped: dict[str, str]) -> None:
    from bridge.cli.output import notice

    typer.echo(text)
    width = max(map(len, ("whole prompt", *costs)))
    for name, cost in {**costs, "whole prompt": len(text)}.items():
        notice(f"{name:{width}} {cost:6} characters")
    for name, reason in skipped.items():
        notice(f"{name} is left out: {reason}")
