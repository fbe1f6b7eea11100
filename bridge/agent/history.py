"""The conversation of a session, out of its events: what a new chat is to be told (C29, C32, F16): pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from bridge.journal import Event
from bridge.protocol.history import Entry, Replied, Returned, Said
from tool_manager.models import ToolCall


def call_data(call: ToolCall) -> dict[str, Any]:
    """What `call.parsed` keeps of a call; `written` is a list of `[path, text]`, left out when it says nothing."""
    written = [[list(path), text] for path, text in (call.written or {}).items()]
    data = {"tool": call.name, "args": call.args, "reasoning": call.reasoning}
    return {**data, "written": written} if written else data


def history(events: Iterable[Event]) -> list[Entry]:
    """The entries of one session from all its events, oldest first.

    Replies that had to be corrected, and the corrections, are left out; so is what cannot be read as a call.
    """
    book = _Book()
    for event in events:
        book.feed(event)
    book.close_reply()
    return book.entries


class _Book:
    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._tasks: dict[str | None, str] = {}
        self._reply: Replied | None = None
        self._calls: list[ToolCall] = []

    def feed(self, event: Event) -> None:
        if event.type == "session.task_started":
            self._tasks[event.task] = str(event.data.get("task", ""))
        elif event.type == "prompt.sent":
            self._prompt(event)
        elif event.type == "reply.done":
            self.close_reply()
            self._reply = _replied(event.data)
        elif event.type == "call.parsed":
            self._calls += _call(event.data)
        elif event.type == "session.task_done":
            self._answer(str(event.data.get("answer", "")))

    def close_reply(self, *, returned: bool = False) -> None:
        """The reply is complete. `returned`: results were typed for it, so that it held calls, be it none (C7)."""
        if self._reply is not None:
            calls = tuple(self._calls) if self._calls or returned else None
            self.entries.append(replace(self._reply, calls=calls))
        self._reply, self._calls = None, []

    def _prompt(self, event: Event) -> None:
        kind, text = event.data.get("kind"), str(event.data.get("text", ""))
        if kind == "correction":
            self._reply, self._calls = None, []
            return
        self.close_reply(returned=kind != "task")
        self.entries.append(Said(self._tasks.get(event.task, text)) if kind == "task" else Returned(text=text))

    def _answer(self, answer: str) -> None:
        """A task that a loop-breaking call ended has no results; what the call said is the answer (F17)."""
        if self._reply is not None and self._calls:
            self._reply, self._calls = replace(self._reply, text=answer), []
        self.close_reply()


def _replied(data: dict[str, Any]) -> Replied | None:
    if data.get("kind") == "error":
        return None
    return Replied(str(data.get("prose", data.get("text", ""))), thinking=str(data.get("thinking", "")))


def _call(data: dict[str, Any]) -> list[ToolCall]:
    name, args, reasoning = data.get("tool"), data.get("args"), data.get("reasoning")
    if not isinstance(name, str) or not isinstance(args, dict):
        return []
    written = {tuple(path): text for path, text in data.get("written", ())}
    return [ToolCall.of(name, args, reasoning if isinstance(reasoning, str) else None, written=written or None)]
