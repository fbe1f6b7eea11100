"""`tabferry ask`: one task to its end, through a live bridge where there is one, else in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def ask(
    task: Annotated[str, typer.Argument(help="What to do; - reads it from standard input.")],
    site: Annotated[str | None, typer.Option(help="Site profile, for example demo or gradio.")] = None,
    url: Annotated[str | None, typer.Option(help="Address of the chat page.")] = None,
    workspace: Annotated[Path, typer.Option(help="The project's directory.")] = Path(),
    dialect: Annotated[str | None, typer.Option(help="How the model writes calls.")] = None,
    provider: Annotated[str | None, typer.Option(help="Choose the dialect by the provider of the model.")] = None,
    xml: Annotated[bool, typer.Option("--xml", help="Choose XML whatever the provider.")] = False,
    team: Annotated[str | None, typer.Option(help="The choices of [teams.NAME] in config.toml.")] = None,
    multi: Annotated[bool, typer.Option("--multi", help="Run every call of a reply, not only the first.")] = False,
    approve: Annotated[str | None, typer.Option(help="What runs unasked: ask, edits, auto or none.")] = None,
    mode: Annotated[str | None, typer.Option(help="plan (read only) or act.")] = None,
    max_iterations: Annotated[int | None, typer.Option(help="Model replies in one task, at most.")] = None,
    headless: Annotated[bool | None, typer.Option("--headless/--headed", help="Hide or show the browser.")] = None,
    new_chat: Annotated[bool, typer.Option("--new-chat/--continue", help="A new chat, or the newest one.")] = True,
    json: Annotated[bool, typer.Option("--json", help="Events as JSON Lines on stdout.")] = False,
) -> None:
    """Run one task to its end; the answer goes to stdout, the transcript to stderr.

    Example: tabferry ask "Read package.json and tell me the version" --workspace . --approve edits
    """
    from bridge.cli.output import fail, read_argument, run
    from bridge.errors import TabferryError

    try:
        text = read_argument(task)  # before there is an event loop: a read of the terminal cannot be cancelled in one
    except TabferryError as error:
        fail(error)
    flags = {
        "site": site,
        "url": url,
        "dialect": dialect,
        "provider": provider,
        "xml": xml or None,
        "team": team,
        "multi": multi or None,
        "approve": approve,
        "mode": mode,
        "max_iterations": max_iterations,
        "headless": headless,
    }
    run(_ask(text, workspace, flags, new_chat=new_chat, json=json, piped=task == "-"))


async def _ask(
    text: str, workspace: Path, flags: dict[str, Any], *, new_chat: bool, json: bool, piped: bool = False
) -> None:
    from bridge.agent import real_workspace
    from bridge.cli.asking import Terminal, follow, print_answer
    from bridge.cli.backend import open_backend
    from bridge.cli.output import notice
    from bridge.config import load_settings, workspace_notice

    root = real_workspace(workspace)
    settings = load_settings(**flags)
    if sentence := workspace_notice(root):
        notice(sentence)
    terminal = Terminal.attached(stdin_is_task=piped)
    async with open_backend(root, settings, flags, new_chat=new_chat, interactive=terminal is not None) as backend:
        answer = await follow(backend, text, terminal, json=json)
    if not json:
        print_answer(answer)
