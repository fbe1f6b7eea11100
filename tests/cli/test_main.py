"""The command as a whole: what it offers, and what it does not load to say so."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from bridge.cli.main import app

HELP = """
import sys
from bridge.cli.main import app
try:
    app(["--help"])
except SystemExit:
    pass
print("\\n".join(sys.modules), file=sys.stderr)
"""
HEAVY = {"playwright", "websockets", "pydantic", "jinja2", "jsonschema", "asyncio", "sqlite3"}
OURS = ("bridge.agent", "bridge.chat", "bridge.relay", "bridge.journal", "bridge.protocol", "tool_manager.")


def commands() -> Iterator[tuple[str, ...]]:
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        yield (name,)
        yield from ((name, inner) for inner in getattr(command, "commands", {}))


def test_help_loads_neither_driver_nor_relay_nor_tools() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", HELP], capture_output=True, text=True, encoding="utf-8", check=True
    )
    loaded = set(done.stderr.split())
    assert "bridge.cli.main" in loaded
    assert {name.partition(".")[0] for name in loaded} & HEAVY == set()
    assert [name for name in loaded if name.startswith(OURS)] == []


@pytest.mark.parametrize("words", [*commands()], ids=" ".join)
def test_every_command_explains_itself_with_an_example(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, [*words, "--help"])
    assert done.exit_code == 0
    assert "Example" in done.output


def test_offers_what_the_contract_names() -> None:
    names = {" ".join(words) for words in commands()}
    single = {"demo", "ask", "serve", "parse", "prompt", "inspect"}
    grouped = {"tools list", "tools show", "tools call", "tools why", "sessions list", "sessions show"}
    assert names == single | grouped | {"tools", "sessions"}


def test_says_its_version() -> None:
    assert CliRunner().invoke(app, ["--version"]).output == f"tabferry {version('tabferry')}\n"


@pytest.mark.parametrize("args", [["nonsense"], ["ask"], ["ask", "x", "--approve"], ["tools", "call", "read_file"]])
def test_bad_usage_exits_with_2(args: list[str]) -> None:
    assert CliRunner().invoke(app, args).exit_code == 2
