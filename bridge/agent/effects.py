"""`tool_manager.EffectLog` on the journal: the intent is durable before the effect happens."""

from __future__ import annotations

import json
import time
from typing import Any

from bridge.agent.call_machine import CallMachine
from bridge.agent.limits import INLINE_RESULT_CHARS
from bridge.conversation import Recorder
from tool_manager import Effect, ToolResult


class JournalEffects:
    """Writes `call.started`, `file.changed` and `call.done`, each once, whoever of loop and ToolManager tells it first.

    A ToolManager tells of writes and commands only; the loop tells of every call. `expect` ties a call to its machine.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._machines: dict[str, CallMachine] = {}
        self._started: dict[str, tuple[str, float]] = {}
        self._over: set[str] = set()

    def expect(self, call: str, machine: CallMachine) -> None:
        """The call with this id has begun its way; `machine` follows what becomes of it."""
        self._machines[call] = machine

    def forget(self, call: str) -> None:
        """The call has its outcome, or never will: none that comes later is taken."""
        self._over.add(call)
        self._machines.pop(call, None)
        self._started.pop(call, None)

    async def intent(self, effect: Effect) -> None:
        """Return when the intent is durable; raises `JournalError`, and then nothing may be done."""
        call, known = effect.call.id, self._started.get(effect.call.id)
        if known is not None and known[0] == effect.digest:
            return
        await self._recorder.record(
            "call.started",
            call=call,
            tool=effect.call.name,
            effect=effect.kind,
            before=effect.before,
            after=effect.after,
            digest=effect.digest,
        )
        self._started[call] = (effect.digest, time.perf_counter())
        if known is None and call in self._machines:
            self._machines[call].go("intent")

    async def done(self, effect: Effect, result: ToolResult) -> None:
        """Note how a call ended; said twice, it is noted once."""
        call = effect.call.id
        if call in self._over:
            return
        if machine := self._machines.get(call):
            if machine.over:
                return
            machine.go("done" if result.success else "failed")
        if result.success:
            self._note_files(effect)
        _, started = self._started.get(call, ("", None))
        self._recorder.note(
            "call.done",
            call=call,
            success=result.success,
            error=result.error,
            ms=None if started is None else (time.perf_counter() - started) * 1000,
            **_data(result.data),
        )

    def _note_files(self, effect: Effect) -> None:
        for path, after in effect.after.items():
            before = effect.before.get(path)
            if before != after:
                self._recorder.note("file.changed", call=effect.call.id, path=path, before=before, after=after)


def _data(data: Any) -> dict[str, Any]:
    """The size of a result in characters of JSON, and the result itself where it is small."""
    try:
        chars = len(json.dumps(data, default=str))
    except (TypeError, ValueError, RecursionError):
        return {"chars": None}
    return {"chars": chars, "data": data} if chars <= INLINE_RESULT_CHARS else {"chars": chars}
