"""The prompt, tried honestly: small coding tasks on a real Gradio page whose model is played by somebody.

`python -m benchmarks.played --queue DIR --out FILE [--dialect D] [--tasks 1-10] [--tabferry PATH]`

Each message waits as DIR/0001.request.md, which holds what a reader of the page sees, for DIR/0001.reply.md (to be
written under another name and renamed). The player must see nothing else. DIR/DONE says that the run is over. FILE gets
one JSON line a task and one for the whole; FILE.work/ keeps workspaces and event streams. Runs may go on side by side.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.played_tasks import TASKS, Task
from tests.pages.gradio_page import gradio_page
from tests.pages.scripted_openai import ScriptedOpenAI

REPLY_S = 900.0
"""What a player may take for one reply."""
LOOK_S = 0.2
TASK_S = 7200.0
"""The product gives up by itself long before; a hang must not hold up the tasks behind it."""
CHUNK_S = 0.003
UNREADABLE = frozenset({"malformed_call", "look_alike_tag", "disagreement", "rendered_call"})
"""Diagnostics after which a reply could not be used."""

Event = dict[str, Any]


class PlayedOpenAI(ScriptedOpenAI):
    """An endpoint that asks a player, through files in `queue`, for each reply."""

    def __init__(self, queue: Path) -> None:
        super().__init__(delay=CHUNK_S)
        self._queue = queue
        self._count = len(list(queue.glob("*.request.md")))

    async def answer(self, messages: list[dict[str, str]]) -> str:
        self._count += 1
        reply = self._queue / f"{self._count:04d}.reply.md"
        self._ask(f"{self._count:04d}.request", messages)
        begun = time.monotonic()
        while not reply.exists():
            if time.monotonic() - begun > REPLY_S:
                return "(the player did not answer)"
            await asyncio.sleep(LOOK_S)
        return reply.read_text(encoding="utf-8")

    def _ask(self, name: str, messages: list[dict[str, str]]) -> None:
        page = "\n\n".join(f"=== {message['role']} ===\n{message['content']}" for message in messages)
        half = self._queue / f"{name}.tmp"
        half.write_text(page, encoding="utf-8")
        half.rename(self._queue / f"{name}.md")


def tally(events: Sequence[Event]) -> dict[str, Any]:
    """Replies, calls that were read, replies whose call could not be used, calls refused for what they asked, and what
    else is worth knowing, from the events of one task."""
    calls = [event for event in events if event["type"] == "call.parsed"]
    denied = [event["data"] for event in events if event["type"] == "call.denied"]
    failed = [event for event in events if event["type"] == "call.done" and not event["data"]["success"]]
    ends = [event["data"].get("error") for event in events if event["type"] == "session.task_failed"]
    return {
        "messages": sum(event["type"] == "reply.done" for event in events),
        "calls": len(calls),
        "format_errors": len(_unusable(events) - {event["turn"] for event in calls if not _doubted(event, events)}),
        "invalid_calls": sum(data["by"] == "schema" for data in denied),
        "other": {"failed_calls": len(failed), "denied": len(denied), "ended": ends, "codes": _codes(events)},
    }


def _unusable(events: Sequence[Event]) -> set[int]:
    """Turns whose reply the product said it could not use, or sent back."""
    turns = {e["turn"] for e in events if e["type"] == "diagnostic" and e["data"]["code"] in UNREADABLE}
    turns |= {e["turn"] for e in events if e["type"] == "reply.done" and e["data"]["kind"] == "error"}
    sent_back = [e for e in events if e["type"] == "state" and e["data"].get("kind") == "correction"]
    return turns | {event["turn"] - 1 for event in sent_back}


def _doubted(call: Event, events: Sequence[Event]) -> bool:
    return any(e["type"] == "call.denied" and e["call"] == call["call"] and e["data"]["by"] == "trust" for e in events)


def _codes(events: Sequence[Event]) -> list[str]:
    return [event["data"]["code"] for event in events if event["type"] == "diagnostic"]


def totals(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Sums over all tasks; errors per 100 calls count every call that was meant, whether it could be read or not."""
    sums = {name: sum(row[name] for row in rows) for name in ("done", "messages", "calls", "format_errors")}
    sums["invalid_calls"] = sum(row["invalid_calls"] for row in rows)
    meant = sums["calls"] + sums["format_errors"]
    rate = round(100 * sums["format_errors"] / meant, 1) if meant else 0.0
    return {"tasks": len(rows), **sums, "format_errors_per_100_calls": rate}


def _environment(work: Path) -> dict[str, str]:
    """The product sees nothing of this machine's user, nor of another run."""
    mine = {"STATE": "state", "RUNTIME": "run", "CONFIG": "config"}
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TABFERRY_") or "BROWSER" in name}
    return {**clean, **{f"TABFERRY_{name}_DIR": str(work / folder) for name, folder in mine.items()}}


def prepare(task: Task, folder: Path) -> Path:
    """The fresh workspace of `task`, below `folder`."""
    workspace = folder / "workspace"
    workspace.mkdir(parents=True)
    for path, content in task.files.items():
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text(content, encoding="utf-8")
    return workspace.resolve()


async def run(task: Task, url: str, options: argparse.Namespace, work: Path, folder: Path) -> dict[str, Any]:
    """Let the product do `task` on the page at `url`; the row of the table."""
    workspace = prepare(task, folder)
    command = [options.tabferry, "ask", task.prompt, "--site", "gradio", "--url", url, "--workspace", str(workspace)]
    command += ["--approve", "edits", "--dialect", options.dialect, "--json"]
    with (folder / "events.jsonl").open("wb") as out, (folder / "stderr.txt").open("wb") as err:
        process = await asyncio.create_subprocess_exec(*command, stdout=out, stderr=err, env=_environment(work))
        code = await _end(process)
    lines = (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    answer = next((e["data"]["answer"] for e in events if e["type"] == "session.task_done"), "")
    wrong = task.check(workspace, answer) if code == 0 else f"exit code {code}"
    return {"task": task.name, "done": wrong is None, **tally(events), "missing": wrong}


async def _end(process: asyncio.subprocess.Process) -> int:
    """The exit code; whatever ends the wait also ends the product."""
    try:
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), TASK_S)
    finally:
        if process.returncode is None:
            process.terminate()
        code = await process.wait()
    return code


async def main(options: argparse.Namespace) -> None:
    current = asyncio.current_task()
    assert current is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, current.cancel)  # the page must not outlive the run
    work = options.out.with_name(f"{options.out.name}.work").resolve()
    work.mkdir(parents=True)
    options.queue.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    async with gradio_page(endpoint=PlayedOpenAI(options.queue)) as (url, _):
        for number in options.tasks:
            row = await run(TASKS[number - 1], url, options, work, work / f"task-{number:02d}")
            rows.append(row)
            _tell(options.out, row)
    _tell(options.out, {"dialect": options.dialect, **totals(rows)})
    (options.queue / "DONE").write_text("The run is over.\n", encoding="utf-8")


def _tell(out: Path, row: dict[str, Any]) -> None:
    line = json.dumps(row, ensure_ascii=False)
    print(line, flush=True)
    with out.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def _numbers(text: str) -> list[int]:
    """`1-4,7` as numbers."""
    spans = [part.partition("-") for part in text.split(",")]
    return [n for first, _, last in spans for n in range(int(first), int(last or first) + 1) if TASKS[n - 1]]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queue", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--dialect", default="tool_call")
    parser.add_argument("--tasks", type=_numbers, default=_numbers(f"1-{len(TASKS)}"))
    parser.add_argument("--tabferry", default=str(Path(sys.executable).with_name("tabferry")))
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main(_options()))
