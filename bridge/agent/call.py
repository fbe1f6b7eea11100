"""One call from the model's wish to its outcome: check, decide, ask, execute; a tool's fault is a result."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from bridge.agent.approvals import Approver, Expect, expect_nothing
from bridge.agent.call_ids import CallIds
from bridge.agent.call_machine import CallMachine
from bridge.agent.effects import JournalEffects
from bridge.agent.record import JournalRecorder
from bridge.conversation import Trust
from bridge.errors import TabferryError
from bridge.relay.service import PendingApproval
from tool_manager import Effect, Grant, Prepared, ToolCall, ToolManager, ToolResult

_UNSURE = "The call was read from a source that is not sure enough for writing, so it was not run"


Settle = Callable[[], Awaitable[None]]
"""Returns when the turn that holds the call is over."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a call. `invalid` and `hint` say what was wrong with it (TOOL_ERROR); `unreadable` says that the
    reading was not good enough to run it; else `result` is what the model is told (TOOL_RESULT)."""

    call: ToolCall
    machine: CallMachine
    result: ToolResult
    invalid: str | None = None
    hint: str | None = None
    unreadable: str | None = None


class CallRunner:
    """Runs the calls of one session, one at a time, under the policy of `tools` and the eyes of `approver`."""

    def __init__(
        self,
        tools: ToolManager,
        recorder: JournalRecorder,
        effects: JournalEffects,
        approver: Approver,
        expect: Expect = expect_nothing,
    ) -> None:
        self._tools = tools
        self._recorder = recorder
        self._effects = effects
        self._approver = approver
        self._expect = expect
        self._ids = CallIds()

    async def run(self, call: ToolCall, turn: int, trust: Trust, settle: Settle) -> Outcome:
        """Bring `call` to its outcome. A read runs at once; anything else awaits `settle` first, so that no write
        happens in a turn that is not over. Raises `JournalError` and what `settle` raises; the call did not run then.
        """
        call = self._ids.unique(call)
        self._recorder.note(
            "call.parsed", turn=turn, call=call.id, tool=call.name, args=call.args, reasoning=call.reasoning
        )
        machine = CallMachine()
        self._effects.expect(call.id, machine)
        try:
            return await self._decide(call, machine, trust, settle)
        except asyncio.CancelledError:
            self._interrupt(call, machine)
            raise
        finally:
            self._effects.forget(call.id)

    async def _decide(self, call: ToolCall, machine: CallMachine, trust: Trust, settle: Settle) -> Outcome:
        prepared = await self._tools.prepare(call)
        if prepared.decision == "invalid":
            result = self._deny(call, machine, "schema", prepared.reason)
            return Outcome(call, machine, result, invalid=prepared.reason, hint=prepared.hint)
        if trust == "none" or (trust == "read_only" and prepared.effect != "read"):
            result = self._deny(call, machine, "trust", f"{_UNSURE}.")
            return Outcome(call, machine, result, unreadable=_UNSURE)
        if prepared.effect != "read" or trust != "full":
            await self._settled(call, machine, settle)
        return Outcome(call, machine, await self._approve(prepared, machine))

    async def _settled(self, call: ToolCall, machine: CallMachine, settle: Settle) -> None:
        try:
            await settle()
        except TabferryError as error:
            self._deny(call, machine, "page", str(error))
            raise

    async def _approve(self, prepared: Prepared, machine: CallMachine) -> ToolResult:
        call = prepared.call
        # A tool that failed while it planned was not forbidden: it runs into its failure, before every middleware.
        if prepared.decision == "allow" or prepared.rule == "tool":
            return await self._execute(prepared, machine, Grant(prepared.digest, "policy"))
        if prepared.decision != "ask":
            return self._deny(call, machine, "policy", prepared.reason, prepared.rule)
        question = self._question(prepared)
        machine.go("asking")
        with self._expect(question):
            await self._recorder.record("call.asking", call=call.id, **_shown(question))
            answer = await self._approver(question)
        if not answer.approved:
            return self._deny(call, machine, answer.by, f"Denied by {answer.by}: {answer.reason or 'no reason given'}")
        return await self._execute(prepared, machine, Grant(prepared.digest, answer.by))

    async def _execute(self, prepared: Prepared, machine: CallMachine, grant: Grant) -> ToolResult:
        call = prepared.call
        machine.go("granted")
        self._recorder.note("call.granted", call=call.id, by=grant.by, rule=prepared.rule)
        effect = Effect(call, prepared.effect, prepared.before, prepared.after, prepared.digest)
        await self._effects.intent(effect)
        result = await self._commit(prepared, grant, effect)
        await self._effects.done(effect, result)
        return result

    async def _commit(self, prepared: Prepared, grant: Grant, effect: Effect) -> ToolResult:
        """A write that has begun is let end before any cancel takes effect: it is all or nothing, its record true."""
        commit = self._tools.commit(prepared, grant)
        if prepared.effect != "write":
            return await commit
        running = asyncio.create_task(commit)
        cancelled: asyncio.CancelledError | None = None
        while not running.done():
            try:
                await asyncio.wait([running])
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is None:
            return running.result()
        if running.exception() is None:
            await self._effects.done(effect, running.result())
        raise cancelled

    def _deny(self, call: ToolCall, machine: CallMachine, by: str, reason: str, rule: str | None = None) -> ToolResult:
        machine.go("denied")
        self._recorder.note("call.denied", call=call.id, by=by, reason=reason, rule=rule)
        return ToolResult.fail(reason)

    def _interrupt(self, call: ToolCall, machine: CallMachine) -> None:
        if not machine.over:
            machine.go("interrupted")
            self._recorder.note("call.done", call=call.id, success=False, error="Interrupted.", interrupted=True)

    def _question(self, prepared: Prepared) -> PendingApproval:
        return PendingApproval(
            id=f"a_{secrets.token_hex(8)}",
            session=self._recorder.session,
            task=self._recorder.task or "",
            call=prepared.call.id,
            tool=prepared.call.name,
            args=prepared.call.args,
            diff=prepared.diff,
            rule=prepared.rule,
            reason=prepared.reason,
            digest=prepared.digest,
        )


def _shown(question: PendingApproval) -> dict[str, Any]:
    names = ("id", "digest", "tool", "args", "diff", "rule", "reason")
    return {name: getattr(question, name) for name in names}
