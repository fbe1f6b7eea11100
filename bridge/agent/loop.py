"""The loop of one task: turn → calls → decide → approve → execute → results → turn … → answer (T23–T29, X2)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bridge.agent.call import CallRunner, Outcome
from bridge.agent.choices import OnMalformed
from bridge.agent.guards import GuardLimits, Guards
from bridge.agent.limits import LISTED_TOOLS
from bridge.conversation import Conversation, DeltaHandler, PromptKind, Recorder, Turn
from bridge.errors import TabferryError, TaskStopped
from bridge.protocol import Diagnostic, Dialect, ParsedReply, dialects
from tool_manager import ToolSpec

_FENCE_HINT = "Send exactly the same call again, inside a code block fenced with four backticks."

_DOUBTS = {
    "disagreement": "The call could not be read reliably from the page, so it was not run",
    "rendered_call": "The call could only be read from rendered text, which loses characters, so it was not run",
}


@dataclass(frozen=True, slots=True)
class Message:
    """What is typed next, and the calls whose outcomes it carries. `last`: the task ends so, whatever the reply."""

    text: str
    kind: PromptKind
    outcomes: tuple[Outcome, ...] = ()
    last: TaskStopped | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    text: str


class AgentLoop:
    """Runs one task after the other in one chat. Not for two tasks at once: the caller keeps them apart.

    `several` runs every call of a reply and types all results as one message, else the first call alone counts (X1).
    `tools` are those that the model was told of.
    """

    def __init__(
        self,
        conversation: Conversation,
        calls: CallRunner,
        dialect: Dialect,
        recorder: Recorder,
        *,
        tools: Sequence[ToolSpec] = (),
        several: bool = False,
        bounds: GuardLimits | None = None,
        on_malformed: OnMalformed = "correct",
        on_delta: DeltaHandler | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._conversation = conversation
        self._calls = calls
        self._dialect = dialect
        self._recorder = recorder
        self._tools = tools
        self._several = several
        self._bounds = bounds or GuardLimits()
        self._on_malformed = on_malformed
        self._on_delta = on_delta
        self._clock = clock

    async def run(self, text: str) -> str:
        """Type `text` and go on until the model answers without a call, or ends the task by one; return that answer
        unchanged (T2, T28, F17).

        Raises `TaskStopped`, `NeedsUser`, `ChatError` or `JournalError`; a tool's failure goes to the model (T39).
        """
        guards = Guards(self._bounds, self._clock())
        step: Message | Answer = Message(text, "task")
        while isinstance(step, Message):
            guards.before_message(self._clock())
            turn = await self._turn(step)
            if step.last is not None:
                raise step.last
            step = await self._next(turn, guards)
        return step.text

    async def _turn(self, message: Message) -> Turn:
        def delivered() -> None:
            for outcome in message.outcomes:
                outcome.machine.go("delivered")
                self._recorder.note("call.delivered", call=outcome.call.id)

        return await self._conversation.turn(message.text, self._on_delta, kind=message.kind, on_sent=delivered)

    async def _next(self, turn: Turn, guards: Guards) -> Message | Answer:
        self._note_diagnostics(turn)
        if turn.doubt is not None:
            return self._again(_DOUBTS[turn.doubt], guards)
        if turn.reply.kind == "tool_calls" and not self._executes(turn.reply):
            return self._malformed(_unable(turn.reply), guards)
        if turn.reply.kind == "tool_calls":
            return await self._run(turn, guards)
        if turn.reply.kind == "error" or turn.reply.problem is not None:
            return self._malformed(turn.reply, guards)
        if self._dialect.needs_call:
            return self._correct(turn.reply, "The model's reply held no tool call.", guards)
        return Answer(turn.reply.text)

    async def _run(self, turn: Turn, guards: Guards) -> Message | Answer:
        """What follows the first call was written before its result: it is never fed back, and runs only as a further
        call of a dialect that takes several (T7, T29)."""
        calls = turn.reply.calls if self._several else turn.reply.calls[:1]
        guards.before_calls(calls)
        outcomes = await self._calls.run(calls, turn.number, turn.trust, self._conversation.settle)
        for outcome in outcomes:
            if outcome.unreadable is not None:
                guards.forget_calls()
                return self._again(outcome.unreadable, guards)
        if self._several:
            self._note_usage(turn, outcomes)
        if ending := next((outcome for outcome in outcomes if outcome.ends), None):
            return Answer(str(ending.result.data))
        try:
            guards.after_calls([outcome.result for outcome in outcomes])
        except TaskStopped as stop:
            if not self._several:
                raise
            return replace(self._told(turn.reply, outcomes), last=stop)  # all results are returned first (C20, X11)
        return self._told(turn.reply, outcomes)

    def _executes(self, reply: ParsedReply) -> bool:
        return (dialects.get(reply.dialect) if reply.dialect else self._dialect).executes

    def _told(self, reply: ParsedReply, outcomes: Sequence[Outcome]) -> Message:
        if self._several:
            pairs = [(outcome.call, outcome.result) for outcome in outcomes]
            return Message(self._dialect.results_message(pairs), "result", (*outcomes,))
        [outcome] = outcomes
        if outcome.invalid is not None:
            sentence = self._dialect.invalid_text(outcome.call, outcome.code or "other", outcome.invalid)
            return Message(self._dialect.error_message(sentence, self._hint(outcome)), "error", (outcome,))
        text = self._dialect.result_message(outcome.call, outcome.result)
        extra = sum(found.code == "extra_call" for found in reply.diagnostics)
        note = f"\n{self._dialect.extra_calls_note(extra)}" if extra else ""
        return Message(text + note, "result", (outcome,))

    def _hint(self, outcome: Outcome) -> str | None:
        """Where every reply must be a call, an unknown name is answered by those that are known (F21)."""
        if outcome.code != "unknown_tool" or not self._dialect.needs_call:
            return outcome.hint
        known = sorted(self._tools, key=lambda tool: tool.name)[:LISTED_TOOLS]
        return "\n".join([outcome.hint or "", *(f"- {tool.name}: {tool.description}" for tool in known)])

    def _malformed(self, reply: ParsedReply, guards: Guards) -> Message | Answer:
        if self._on_malformed == "text":
            return Answer(reply.text)
        why = "The model's reply held a malformed tool call."
        if self._on_malformed == "error":
            raise TabferryError(f"{why} Nothing was run.")
        return self._correct(reply, why, guards)

    def _correct(self, reply: ParsedReply, why: str, guards: Guards) -> Message:
        text = self._dialect.correction_message(reply)
        if self._dialect.needs_call:
            guards.before_error(text)  # such a loop goes on until it turns in a circle (F18, F19)
        else:
            guards.before_correction(why)
        return Message(text, "correction")

    def _again(self, why: str, guards: Guards) -> Message:
        guards.before_correction(f"{why}.")
        return Message(self._dialect.error_message(why, _FENCE_HINT), "correction")

    def _note_diagnostics(self, turn: Turn) -> None:
        for diagnostic in turn.reply.diagnostics:
            self._recorder.note("diagnostic", turn=turn.number, code=diagnostic.code, message=diagnostic.message)

    def _note_usage(self, turn: Turn, outcomes: Sequence[Outcome]) -> None:
        """Counts of a batch (C31)."""
        successes = sum(outcome.result.success for outcome in outcomes)
        self._recorder.note(
            "usage",
            turn=turn.number,
            tools_executed=len(outcomes),
            success_count=successes,
            failure_count=len(outcomes) - successes,
        )


def _unable(reply: ParsedReply) -> ParsedReply:
    """`reply`, whose calls are in a dialect that never runs here (X17), as one that is to be corrected."""
    found = Diagnostic("malformed_call", "this way of asking for a tool cannot run here", 0, reason="shape")
    return ParsedReply("text", text=reply.text + reply.rest, diagnostics=(found,), dialect=reply.dialect)
