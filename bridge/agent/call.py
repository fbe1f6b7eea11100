"""The calls of one reply, each from the model's wish to its outcome: check, decide, ask, execute.

A tool's fault is a result, and one call's failure never keeps another from running (C19, T39).
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bridge.agent.approvals import Answer, Approver, Expect, expect_nothing
from bridge.agent.call_ids import CallIds
from bridge.agent.call_machine import CallMachine
from bridge.agent.effects import JournalEffects
from bridge.agent.history import call_data
from bridge.agent.record import JournalRecorder
from bridge.conversation import Trust
from bridge.errors import TabferryError
from bridge.relay.service import PendingApproval
from tool_manager import Effect, Grant, Prepared, ToolCall, ToolManager, ToolResult
from tool_manager.batch import predecessors
from tool_manager.models import InvalidCode

_UNSURE = "The call was read from a source that is not sure enough for writing, so it was not run"


Settle = Callable[[], Awaitable[None]]
"""Returns when the turn that holds the calls is over."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a call; `result` is what the model is told.

    `invalid`, its kind `code` and `hint` say what was wrong with it; `unreadable` says that the reading was not good
    enough to run it; `ends` says that it was a loop-breaking call that succeeded.
    """

    call: ToolCall
    machine: CallMachine
    result: ToolResult
    invalid: str | None = None
    hint: str | None = None
    code: InvalidCode | None = None
    unreadable: str | None = None
    ends: bool = False


@dataclass(frozen=True, slots=True)
class _Begun:
    """A call that is in the record, on its way to an outcome."""

    call: ToolCall
    machine: CallMachine


class CallRunner:
    """Runs the calls of one session, under the policy of `tools` and the eyes of `approver`."""

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
        self._asking = asyncio.Lock()  # a person answers one question at a time

    async def run(self, calls: Sequence[ToolCall], turn: int, trust: Trust, settle: Settle) -> list[Outcome]:
        """Bring the calls of one reply to their outcomes, in their order (X5, X6, C17-C20).

        They start in order and run side by side, unless one may change what another touches; nothing runs after a
        loop-breaking one. Reads run at once; with anything else among them all await `settle` first, so that no write
        happens in a turn that is not over. Where `trust` does not carry one of them, none runs. Raises `JournalError`
        and what `settle` raises; what had not begun did not run then.
        """
        begun = [self._begin(call, turn) for call in calls]
        try:
            return await self._run(begun, trust, settle)
        except asyncio.CancelledError:
            for each in begun:
                self._interrupt(each)
            raise
        finally:
            for each in begun:
                self._effects.forget(each.call.id)

    def _begin(self, call: ToolCall, turn: int) -> _Begun:
        call = self._ids.unique(call)
        self._recorder.note("call.parsed", turn=turn, call=call.id, **call_data(call))
        begun = _Begun(call, CallMachine())
        self._effects.expect(call.id, begun.machine)
        return begun

    async def _run(self, begun: Sequence[_Begun], trust: Trust, settle: Settle) -> list[Outcome]:
        last = next((at for at, each in enumerate(begun) if self._breaks(each.call)), len(begun))
        prepared = [await self._tools.prepare(each.call) for each in begun[: last + 1]]
        able = [each for each in prepared if each.decision != "invalid"]
        if any(trust == "none" or (trust == "read_only" and each.effect != "read") for each in able):
            return [self._unreadable(each) for each in begun]
        if any(trust != "full" or each.effect != "read" for each in able):
            await self._settled(begun, settle)
        outcomes = await self._side_by_side(begun[:last], prepared[:last])
        for each, checked in zip(begun[last:], prepared[last:], strict=False):
            outcome = await self._outcome(each, checked)
            outcomes.append(replace(outcome, ends=outcome.result.success))
        return outcomes + [self._left_out(each, begun[last].call.name) for each in begun[last + 1 :]]

    async def _side_by_side(self, begun: Sequence[_Begun], prepared: Sequence[Prepared]) -> list[Outcome]:
        if len(begun) < 2:
            return [await self._outcome(*each) for each in zip(begun, prepared, strict=True)]
        waits = predecessors(prepared)
        running: list[asyncio.Task[Outcome]] = []

        async def after(at: int) -> Outcome:
            if not waits[at]:
                return await self._outcome(begun[at], prepared[at])
            await asyncio.wait([running[earlier] for earlier in waits[at]])
            return await self._outcome(begun[at], await self._tools.prepare(begun[at].call))

        try:
            async with asyncio.TaskGroup() as group:
                for at in range(len(begun)):
                    running.append(group.create_task(after(at)))
        except ExceptionGroup as failed:  # a journal that does not write stops them all
            raise failed.exceptions[0] from None
        return [task.result() for task in running]

    async def _outcome(self, begun: _Begun, prepared: Prepared) -> Outcome:
        if prepared.decision == "invalid":
            result = replace(self._deny(begun, "schema", prepared.reason), code=prepared.code)
            return Outcome(begun.call, begun.machine, result, prepared.reason, prepared.hint, prepared.code)
        return Outcome(begun.call, begun.machine, await self._approve(prepared, begun))

    def _unreadable(self, begun: _Begun) -> Outcome:
        return Outcome(begun.call, begun.machine, self._deny(begun, "trust", f"{_UNSURE}."), unreadable=_UNSURE)

    def _left_out(self, begun: _Begun, breaker: str) -> Outcome:
        result = self._deny(begun, "order", f"Not run: {breaker} ended this batch.")
        return Outcome(begun.call, begun.machine, result)

    def _breaks(self, call: ToolCall) -> bool:
        definition = self._tools.tool(call.name)
        return definition is not None and definition.loop_breaking

    async def _settled(self, begun: Sequence[_Begun], settle: Settle) -> None:
        try:
            await settle()
        except TabferryError as error:
            for each in begun:
                self._deny(each, "page", str(error))
            raise

    async def _approve(self, prepared: Prepared, begun: _Begun) -> ToolResult:
        # A tool that failed while it planned was not forbidden: it runs into its failure, before every middleware.
        if prepared.decision == "allow" or prepared.rule == "tool":
            return await self._execute(prepared, begun, Grant(prepared.digest, "policy"))
        if prepared.decision != "ask":
            return self._deny(begun, "policy", prepared.reason, prepared.rule)
        async with self._asking:
            answer = await self._ask(prepared, begun)
        if not answer.approved:
            return self._deny(begun, answer.by, f"Denied by {answer.by}: {answer.reason or 'no reason given'}")
        return await self._execute(prepared, begun, Grant(prepared.digest, answer.by))

    async def _ask(self, prepared: Prepared, begun: _Begun) -> Answer:
        question = self._question(prepared)
        begun.machine.go("asking")
        with self._expect(question):
            await self._recorder.record("call.asking", call=begun.call.id, **_shown(question))
            return await self._approver(question)

    async def _execute(self, prepared: Prepared, begun: _Begun, grant: Grant) -> ToolResult:
        call = prepared.call
        begun.machine.go("granted")
        coerced: dict[str, Any] = {} if call.args == begun.call.args else {"args": call.args}
        self._recorder.note("call.granted", call=call.id, by=grant.by, rule=prepared.rule, **coerced)
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

    def _deny(self, begun: _Begun, by: str, reason: str, rule: str | None = None) -> ToolResult:
        begun.machine.go("denied")
        self._recorder.note("call.denied", call=begun.call.id, by=by, reason=reason, rule=rule)
        return ToolResult.fail(reason)

    def _interrupt(self, begun: _Begun) -> None:
        if not begun.machine.over:
            begun.machine.go("interrupted")
            self._recorder.note("call.done", call=begun.call.id, success=False, error="Interrupted.", interrupted=True)

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
