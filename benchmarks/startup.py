"""`tabferry --help` beside a bare Typer app with as many commands: whole processes, in turn, medians."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.machine import machine, spread

GOAL = 1.3
RUNS = 15

BARE = """
import typer
app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
def command(name):
    def run(task: str, count: int = typer.Option(1, help="How often.")) -> None:
        "Do it."
    app.command(name)(run)
for number in range({commands}):
    command(f"command{{number}}")
app()
"""


def seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    from typer.main import get_command

    from bridge.cli.main import app

    commands = len(get_command(app).commands)  # type: ignore[attr-defined]
    ours, bare = [], []
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "bare.py"
        script.write_text(BARE.format(commands=commands), encoding="utf-8")
        tabferry = str(Path(sys.executable).with_name("tabferry"))
        for _ in range(RUNS + 1):
            ours.append(1000 * seconds([tabferry, "--help"]))
            bare.append(1000 * seconds([sys.executable, str(script), "--help"]))
    ratio = statistics.median(a / b for a, b in zip(ours[1:], bare[1:], strict=True))
    print(f"{machine()}; {RUNS} runs each, in turn, ms, median (min-max)\n")
    print("| `tabferry --help` | bare Typer, same number of commands | ratio | goal | |\n|---|---|---|---|---|")
    verdict = "met" if ratio <= GOAL else "MISSED"
    print(f"| {spread(ours[1:])} | {spread(bare[1:])} | {ratio:.2f} | {GOAL} | {verdict} |")


if __name__ == "__main__":
    main()
