"""The live transcript of a session in a terminal, fed by nothing but its events.

Everything shown may come from a model or a repository, so all of it is escaped and none of it is markup.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.status import Status
from rich.text import Text

from bridge.cli.output import visible
from bridge.journal import Event
from bridge.relay.service import Ephemeral

MAX_ARGS = 300
"""Characters of a call's arguments on its line; an approval shows its diff in full."""

_SENDING = {"task": "the task", "result": "the result", "error": "the error", "correction": "a correction"}


class Transcript:
    """Feed it with `event` and `ephemeral`, in order; use as a context manager so that the spinner ends.

    `answers`: show the final answer too (a command that prints it on stdout leaves it out here).
    """

    def __init__(self, console: Console | None = None, *, answers: bool = False) -> None:
        self._console = console or Console(stderr=True, markup=False, emoji=False, highlight=False, soft_wrap=True)
        self._answers = answers
        self._spinner: Status | None = None
        self._streamed = 0
        self._line_open = False
        self._show: dict[str, Callable[[dict[str, Any]], None]] = {
            "session.started": self._started,
            "session.task_started": self._task,
            "session.task_done": self._done,
            "session.task_cancelled": self._cancelled,
            "state": self._state,
            "reply.done": self._reply,
            "diagnostic": self._diagnostic,
            "call.parsed": self._call,
            "call.asking": self._asking,
            "call.granted": self._granted,
            "call.denied": self._denied,
            "call.done": self._result,
            "file.changed": self._changed,
        }

    def __enter__(self) -> Transcript:
        return self

    def __exit__(self, *exc: object) -> None:
        self.quiet()
        self._end_line()

    def event(self, event: Event) -> None:
        """Show one durable event; types that a reader learns nothing from are left out."""
        if show := self._show.get(event.type):
            show(event.data)

    def ephemeral(self, piece: Ephemeral) -> None:
        """Show the next piece of a running reply; what was shown already is not shown twice."""
        if piece.type != "reply.delta":
            return
        fresh = piece.text[max(0, self._streamed - piece.offset) :]
        if fresh:
            self.quiet()
            self._streamed = piece.offset + len(piece.text)
            self._console.print(Text(visible(fresh), style="dim"), end="")
            self._line_open = not fresh.endswith("\n")

    def quiet(self) -> None:
        """Stop the spinner, for example before a question is asked."""
        if self._spinner is not None:
            self._spinner.stop()
            self._spinner = None

    def _spin(self, what: str) -> None:
        self.quiet()
        self._spinner = self._console.status(Text(what))
        self._spinner.start()

    def _end_line(self) -> None:
        if self._line_open:
            self._console.print()
            self._line_open = False

    def _line(self, text: str, style: str = "") -> None:
        self.quiet()
        self._end_line()
        self._console.print(Text(visible(text), style=style))

    def _started(self, data: dict[str, Any]) -> None:
        self._line(f"{data.get('site')} · {data.get('workspace')}", "dim")

    def _task(self, data: dict[str, Any]) -> None:
        self._line(f"▶ {data.get('task')}", "bold")
        self._spin("opening the chat …")

    def _done(self, data: dict[str, Any]) -> None:
        self.quiet()
        if self._answers:
            self._line(f"● {data.get('answer')}", "bold green")

    def _cancelled(self, data: dict[str, Any]) -> None:
        del data
        self._line("■ cancelled", "yellow")

    def _state(self, data: dict[str, Any]) -> None:
        state = data.get("state")
        if state == "sending":
            self._streamed = 0
            self._spin(f"sending {_SENDING.get(str(data.get('kind')), 'a message')} …")
        elif state == "waiting":
            self._spin("waiting for the reply …")
        elif state == "needs_user":
            self._line(f"! {data.get('message')}", "bold yellow")

    def _reply(self, data: dict[str, Any]) -> None:
        self.quiet()
        text = str(data.get("text", ""))
        source = next(iter(data.get("sources") or ["?"]))
        self._line(
            f"  reply · {len(text):,} chars · {_ms(data.get('ms'))} · {source} · trust {data.get('trust')}", "dim"
        )

    def _diagnostic(self, data: dict[str, Any]) -> None:
        self._line(f"! {data.get('code')}: {data.get('message') or _json(data.get('calls'))}", "yellow")

    def _call(self, data: dict[str, Any]) -> None:
        remark = f"  # {data['reasoning']}" if data.get("reasoning") else ""
        self._line(f"→ {data.get('tool')} {_json(data.get('args'))}{remark}", "cyan")

    def _asking(self, data: dict[str, Any]) -> None:
        self._line(f"? {data.get('tool')} needs your approval: {data.get('reason')} (rule: {data.get('rule')})", "bold")
        for line in str(data.get("diff") or "").splitlines():
            self._line(f"  {line}", _DIFF_STYLES.get(line[:1], ""))

    def _granted(self, data: dict[str, Any]) -> None:
        if data.get("by") != "policy":
            self._line(f"  approved by {data.get('by')}", "green")

    def _denied(self, data: dict[str, Any]) -> None:
        self._line(f"  ✗ not run: {data.get('reason')}", "red")

    def _result(self, data: dict[str, Any]) -> None:
        time = _ms(data.get("ms"))
        if data.get("success"):
            self._line(f"  ✓ {time} · {data.get('chars') or 0:,} chars", "green")
        else:
            self._line(f"  ✗ {time} · {data.get('error')}", "red")

    def _changed(self, data: dict[str, Any]) -> None:
        verb = "created" if data.get("before") is None else "deleted" if data.get("after") is None else "changed"
        self._line(f"  {verb} {data.get('path')}", "magenta")


_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def _ms(value: Any) -> str:
    return f"{value:,.0f} ms" if isinstance(value, (int, float)) else "no time"


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_ARGS else f"{text[:MAX_ARGS]}… ({len(text):,} chars)"
