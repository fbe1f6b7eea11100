"""What a bridge that was killed left open, and how its record is to end: pure, so that every case can be tested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from bridge.journal import Event

Settled = Literal["done", "not_done", "unknown"]

_TASK_OVER = frozenset({"session.task_done", "session.task_failed", "session.task_cancelled"})
_UNSENT = "whether its last message was sent is unknown (look at the chat)"


@dataclass(frozen=True, slots=True)
class Closing:
    """An event that is to be appended to the session."""

    type: str
    data: dict[str, Any]
    task: str | None = None
    turn: int | None = None
    call: str | None = None


@dataclass(slots=True)
class _Open:
    """A call without an outcome; `started` is the data of its `call.started`."""

    task: str | None
    tool: str = "a tool"
    asking: bool = False
    started: dict[str, Any] | None = None
    told: set[str] = field(default_factory=set)

    def files(self, name: Literal["before", "after"]) -> dict[str, str | None]:
        value = (self.started or {}).get(name)
        return value if isinstance(value, dict) else {}


class Aftermath:
    """The open ends of one session. `feed` it all its events, in order, then `settle`; nothing is ever run again."""

    def __init__(self) -> None:
        self._tasks: dict[str, None] = {}
        self._calls: dict[str, _Open] = {}
        self._sending: Event | None = None
        self._resting = True

    def feed(self, event: Event) -> None:
        if event.type == "session.task_started" and event.task is not None:
            self._tasks[event.task] = None
        elif event.type in _TASK_OVER:
            self._tasks.pop(event.task or "", None)
        elif event.type == "prompt.sent":
            self._sending = None
        elif event.type == "state":
            state = event.data.get("state")
            self._sending = event if state == "sending" else None
            self._resting = state in ("idle", "needs_user")
        elif event.call is not None:
            self._feed_call(event.call, event)

    def _feed_call(self, call: str, event: Event) -> None:
        if event.type in ("call.done", "call.denied"):
            self._calls.pop(call, None)
        if event.type not in ("call.parsed", "call.asking", "call.granted", "call.started", "file.changed"):
            return
        known = self._calls.setdefault(call, _Open(event.task))
        known.tool = str(event.data.get("tool", known.tool))
        known.asking = event.type == "call.asking"
        if event.type == "call.started":
            known.started = event.data
        if event.type == "file.changed":
            known.told.add(str(event.data.get("path")))

    @property
    def paths(self) -> set[str]:
        """The files that `settle` wants to know about: those that an open call may have written."""
        return {path for call in self._calls.values() for path in [*call.files("before"), *call.files("after")]}

    def settle(self, hashes: Mapping[str, str | None]) -> list[Closing]:
        """The events that end what is open. `hashes`: path → SHA-256 of the file as it is now, None when there is no
        file; a path that is left out could not be read."""
        facts: dict[str | None, list[str]] = {}
        closings: list[Closing] = []
        for call_id, call in self._calls.items():
            ending, fact = _end_call(call_id, call, hashes)
            closings += ending
            facts.setdefault(call.task, []).append(fact)
        if self._sending is not None:
            closings.append(_delivery_unknown(self._sending))
            facts.setdefault(self._sending.task, []).append(_UNSENT)
        return [*closings, *self._end_tasks(facts)]

    def _end_tasks(self, facts: Mapping[str | None, list[str]]) -> Iterator[Closing]:
        if not self._resting:
            yield Closing("state", {"state": "idle"}, next(iter(self._tasks), None))
        for task in self._tasks:
            known = ", ".join(facts.get(task, ())) or "nothing of it was under way"
            error = f"The bridge was stopped before this task ended; {known}."
            yield Closing("session.task_failed", {"error": error, "exit_code": 1, "kind": "Interrupted"}, task)


def _end_call(call_id: str, call: _Open, hashes: Mapping[str, str | None]) -> tuple[list[Closing], str]:
    if call.started is None and call.asking:
        fact = f"{call.tool} waited for an approval that nobody had given and was not run"
        denial = {"by": "restart", "reason": _sentence(fact), "rule": None}
        return [Closing("call.denied", denial, call.task, call=call_id)], fact
    settled, fact = _verdict(call, hashes)
    success = settled == "done"
    done = {"success": success, "interrupted": True, "settled": settled, "error": None if success else _sentence(fact)}
    changes = [*_changes(call_id, call)] if success else []
    return [*changes, Closing("call.done", done, call.task, call=call_id)], fact


def _verdict(call: _Open, hashes: Mapping[str, str | None]) -> tuple[Settled, str]:
    if call.started is None:
        return "not_done", f"{call.tool} had not begun"
    kind = call.started.get("effect")
    if kind == "read":
        return "not_done", f"{call.tool} was interrupted (it only reads)"
    if kind != "write":
        return "unknown", f"{call.tool} was interrupted and may have run in part (it is not run again)"
    return _verdict_on_write(call, hashes)


def _verdict_on_write(call: _Open, hashes: Mapping[str, str | None]) -> tuple[Settled, str]:
    before, after = call.files("before"), call.files("after")
    names = ", ".join(after)
    # A file that could not be read is left out of `hashes`: it is equal to nothing, least of all to "no file".
    if after and all(path in hashes and hashes[path] == digest for path, digest in after.items()):
        return "done", f"{call.tool} was done ({names})"
    if after and all(path in hashes and path in before and hashes[path] == before[path] for path in after):
        return "not_done", f"{call.tool} was not done ({names})"
    return "unknown", f"whether {call.tool} was done is unknown (look at {names or 'the workspace'})"


def _changes(call_id: str, call: _Open) -> Iterator[Closing]:
    """`file.changed` for what a call that was done after all has written, unless that was recorded in time."""
    before = call.files("before")
    for path, digest in call.files("after").items():
        if path not in call.told and before.get(path) != digest:
            data = {"path": path, "before": before.get(path), "after": digest}
            yield Closing("file.changed", data, call.task, call=call_id)


def _delivery_unknown(sending: Event) -> Closing:
    message = (
        "The bridge was stopped while it sent a message; whether the chat has it is unknown, and it is not sent again."
    )
    return Closing("diagnostic", {"code": "delivery_unknown", "message": message}, sending.task, sending.turn)


def _sentence(fact: str) -> str:
    return f"The bridge was stopped: {fact}."
