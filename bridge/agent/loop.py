"""The loop of one task: turn → call → decide → approve → execute → result → turn … → answer (T23–T29, X2)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from bridge.agent.call import CallRunner
from bridge.agent.call_machine import CallMachine
from bridge.agent.choices import OnMalformed
from bridge.agent.guards import GuardLimits, Guards
from bridge.conversation import Conversation, DeltaHandler, PromptKind, Recorder, Turn
from bridge.errors import TabferryError
from bridge.protocol import ParsedReply
from tool_manager import ToolCall, ToolResult

_FENCE_HINT = "Send exactly the same call again, inside a code block fenced with four backticks."

_MEANT_AS_CALLS = frozenset({"malformed_call", "look_alike_tag"})
"""Diagnostics of a reply that is no answer. A call in thinking is none of them: the answer stands after it."""

_DOUBTS = {
    "disagreement": "The call could not be read reliably from the page, so it was not run",
    "rendered_call": "The call could only be read from rendered text, which loses characters, so it was not run",
}


class Wording(Protocol):
    """What the loop needs of a dialect (`bridge.protocol.dialects`)."""

    def result_message(self, call: ToolCall, result: ToolResult, /) -> str: ...
    def error_message(self, error: str, hint: str | None = None, /) -> str: ...
    def correction_message(self, reply: ParsedReply, /) -> str: ...


@dataclass(frozen=True, slots=True)
class Message:
    """What is typed next, and the call whose outcome it carries."""

    text: str
    kind: PromptKind
    call: ToolCall | None = None
    machine: CallMachine | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    text: str


class AgentLoop:
    """Runs one task after the other in one chat. Not for two tasks at once: the caller keeps them apart."""

    def __init__(
        self,
        conversation: Conversation,
        calls: CallRunner,
        wording: Wording,
        recorder: Recorder,
        *,
        bounds: GuardLimits | None = None,
        on_malformed: OnMalformed = "correct",
        on_delta: DeltaHandler | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._conversation = conversation
        self._calls = calls
        self._wording = wording
        self._recorder = recorder
        self._bounds = bounds or GuardLimits()
        self._on_malformed = on_malformed
        self._on_delta = on_delta
        self._clock = clock

    async def run(self, text: str) -> str:
        """Type `text` and go on until the model answers without a call; return that answer unchanged (T2, T28).

        Raises `TaskStopped`, `NeedsUser`, `ChatError` or `JournalError`; a tool's failure goes to the model (T39).
        """
        guards = Guards(self._bounds, self._clock())
        step: Message | Answer = Message(text, "task")
        while isinstance(step, Message):
            guards.before_message(self._clock())
            step = await self._next(await self._turn(step), guards)
        return step.text

    async def _turn(self, message: Message) -> Turn:
        def delivered() -> None:
            if message.call is not None and message.machine is not None:
                message.machine.go("delivered")
                self._recorder.note("call.delivered", call=message.call.id)

        return await self._conversation.turn(message.text, self._on_delta, kind=message.kind, on_sent=delivered)

    async def _next(self, turn: Turn, guards: Guards) -> Message | Answer:
        self._note_diagnostics(turn)
        if turn.doubt is not None:
            return self._again(_DOUBTS[turn.doubt], guards)
        if turn.reply.kind == "tool_calls":
            return await self._call(turn, guards)
        if turn.reply.kind == "error" or _malformed(turn.reply):
            return self._correct(turn.reply, guards)
        return Answer(turn.reply.text)

    async def _call(self, turn: Turn, guards: Guards) -> Message:
        """Only the first call counts (T7); what follows it was written before its result, and is never fed back."""
        call = turn.reply.calls[0]
        guards.before_call(call)
        outcome = await self._calls.run(call, turn.number, turn.trust, self._conversation.settle)
        if outcome.unreadable is not None:
            guards.forget_call()
            return self._again(outcome.unreadable, guards)
        guards.after_call(outcome.result.success)
        if outcome.invalid is not None:
            text = self._wording.error_message(outcome.invalid, outcome.hint)
            return Message(text, "error", outcome.call, outcome.machine)
        text = self._wording.result_message(outcome.call, outcome.result)
        return Message(text, "result", outcome.call, outcome.machine)

    def _correct(self, reply: ParsedReply, guards: Guards) -> Message | Answer:
        if self._on_malformed == "text":
            return Answer(reply.text)
        why = "The model's reply held a malformed tool call."
        if self._on_malformed == "error":
            raise TabferryError(f"{why} Nothing was run.")
        guards.before_correction(why)
        return Message(self._wording.correction_message(reply), "correction")

    def _again(self, why: str, guards: Guards) -> Message:
        guards.before_correction(f"{why}.")
        return Message(self._wording.error_message(why, _FENCE_HINT), "correction")

    def _note_diagnostics(self, turn: Turn) -> None:
        for diagnostic in turn.reply.diagnostics:
            self._recorder.note("diagnostic", turn=turn.number, code=diagnostic.code, message=diagnostic.message)


def _malformed(reply: ParsedReply) -> bool:
    return any(diagnostic.code in _MEANT_AS_CALLS for diagnostic in reply.diagnostics)
