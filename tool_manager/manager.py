"""`ToolManager`: validate, plan, decide, approve, run; everything a tool does goes through `prepare` and `commit`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, Self

from tool_manager.batch import predecessors
from tool_manager.cache import ResultCache
from tool_manager.coercion import coerced
from tool_manager.disk import Disk
from tool_manager.errors import OutsideError, RegistrationError, shown
from tool_manager.files import DiskFiles, FileBackend
from tool_manager.handlers import plan_handler
from tool_manager.jsonable import jsonable
from tool_manager.middleware import Core, Middleware, run_onion
from tool_manager.models import JsonObject, ToolCall, ToolResult, ToolSpec
from tool_manager.plan import (
    Approver,
    Decision,
    Denial,
    Effect,
    EffectLog,
    Grant,
    Plan,
    Prepared,
    digest_of,
)
from tool_manager.policy import Approve, Mode, Policy, Request
from tool_manager.registry import Registry, ToolDefinition, definition_from
from tool_manager.room import Room
from tool_manager.tools import BUILT_IN
from tool_manager.validation import Invalid, validate
from tool_manager.workspace import Workspace

_ANYTHING = ("tree:.",)


def builtin_specs(*, hidden: bool = False) -> list[ToolSpec]:
    """Name, description and schema of the built-in tools, with or without `hidden` ones; needs no workspace (T32)."""
    return [definition.spec for definition in BUILT_IN if hidden or not definition.hidden]


class ToolManager:
    """The tools of one workspace. `execute` never raises for a tool's fault (T39); a cancellation passes through.

    `approver` is asked by `execute` for what policy wants approved; without one it is not executed. `effects` is told
    of each write before it happens. Raises `PathError` when `workspace` is missing or not a directory.
    """

    def __init__(
        self,
        workspace: str | os.PathLike[str],
        *,
        approve: Approve = "ask",
        mode: Mode = "act",
        effects: EffectLog | None = None,
        files: FileBackend | None = None,
        approver: Approver | None = None,
        strict_dotdot: bool = False,
    ) -> None:
        self.workspace = Workspace(workspace, strict_dotdot=strict_dotdot)
        self.policy = Policy(approve, mode)
        self._disk = Disk()
        self._room = Room(self.workspace, files or DiskFiles(self.workspace, self._disk), self._disk)
        self._registry = Registry(BUILT_IN)
        self._effects, self._approver = effects, approver
        self._asking = asyncio.Lock()  # a person answers one question at a time
        self._layers: list[Middleware] = []
        self._cache = ResultCache()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Wait for running disk work, close the workspace, remove its temporary directory."""
        await self._disk.aclose()
        await asyncio.to_thread(self.workspace.close)

    # Registration

    def register(self, definition: ToolDefinition | Callable[..., Any], *, replace: bool = False) -> None:
        """Add a tool made with `@tool`; raises `RegistrationError` saying what to change (name taken, bad schema)."""
        if not isinstance(definition, ToolDefinition):
            raise RegistrationError(f"{definition!r} is no tool; decorate the function with @tool(...) first.")
        self._registry.add(definition, replace=replace)
        self._cache.clear()

    def register_tool(self, entry: Mapping[str, Any], *, replace: bool = False) -> None:
        """Add a tool from `{"name", "description", "parameters", "handler"}` (T37)."""
        self.register(definition_from(entry), replace=replace)

    def unregister(self, name: str) -> None:
        """Remove a registered tool; raises `RegistrationError` for a built-in or unknown one."""
        self._registry.remove(name)
        self._cache.clear()

    def use(self, middleware: Middleware) -> None:
        """Add `async def middleware(call, next) -> ToolResult`; the first one added is outermost (T38)."""
        self._layers.append(middleware)

    def specs(self, *, hidden: bool = False) -> list[ToolSpec]:
        """Every tool as a model is told of it, built-ins first; `hidden` adds those that can be called all the same."""
        return [each.spec for each in self._registry.definitions() if hidden or not each.hidden]

    def tool(self, name: str) -> ToolDefinition | None:
        """The definition with exactly this name."""
        return self._registry.get(name)

    # Execution

    def validate(self, call: ToolCall) -> Invalid | None:
        """What is wrong with the call's form (T19-T24), None if nothing; does not touch the workspace."""
        return validate(self._registry, self._typed(call))

    def _typed(self, call: ToolCall) -> ToolCall:
        definition = self._registry.get(call.name)
        return call if definition is None else coerced(call, definition.parameters)

    async def prepare(self, call: ToolCall) -> Prepared:
        """Check, resolve and judge `call` without any effect; never raises for the call's fault."""
        try:
            call = self._typed(_copy(call))  # whoever still holds the arguments cannot change them after the decision
            invalid = self.validate(call)
        except RecursionError:
            invalid = Invalid("The arguments are nested too deeply")
        if invalid is not None:
            return self._refused(call, Decision("invalid", "validation", invalid.error), invalid=invalid)
        definition = self._registry.get(call.name)
        assert definition is not None
        try:
            plan = await self._plan(definition, call.args)
        except OutsideError as error:
            return self._refused(call, Decision("deny", "workspace", str(error)), definition)
        except Exception as error:
            return self._refused(call, Decision("deny", "tool", _sentence(error)), definition)
        diff, before = plan.diff, plan.before
        # Arguments can be 10 MB of content, which would hold up the event loop.
        parts = (call, diff, before, plan.reads)
        digest = await self._disk.run(digest_of, *parts) if diff else digest_of(*parts)
        return _prepared(call, self._decide(definition, plan), definition, plan, digest)

    async def commit(self, prepared: Prepared, grant: Grant | None = None) -> ToolResult:
        """Run a prepared call once, inside the middleware. What policy asks for needs a `grant` with its digest."""
        return await self._through(_copy(prepared.call), lambda call: self._commit_as(call, prepared, grant))

    async def execute(self, call: ToolCall) -> ToolResult:
        """Prepare, ask the approver where policy asks, commit; middleware sees all of it."""
        return await self._through(call, self._execute_once)

    async def execute_batch(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """One result for each call, in order. Calls run in parallel unless one may change what another touches."""
        stop = next((at for at, call in enumerate(calls) if self._breaks(call)), len(calls))
        results = await self._parallel(calls[:stop])
        if stop < len(calls):
            results.append(await self.execute(calls[stop]))
        left = calls[stop + 1 :]
        return results + [ToolResult.fail(f"Not run: {shown(calls[stop].name)} ended this batch.") for _ in left]

    async def _parallel(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        if len(calls) < 2:
            return [await self.execute(call) for call in calls]
        waits = predecessors([await self.prepare(call) for call in calls])
        running: list[asyncio.Task[ToolResult]] = []

        async def after(at: int) -> ToolResult:
            if waits[at]:
                await asyncio.wait([running[earlier] for earlier in waits[at]])
            return await self.execute(calls[at])

        async with asyncio.TaskGroup() as group:
            for at in range(len(calls)):
                running.append(group.create_task(after(at)))
        return [task.result() for task in running]

    def _breaks(self, call: ToolCall) -> bool:
        definition = self._registry.get(call.name)
        return definition is not None and definition.loop_breaking

    async def _through(self, call: ToolCall, core: Core) -> ToolResult:
        try:
            result: object = await run_onion(self._layers, core, call)
        except Exception as error:
            return ToolResult.fail(_sentence(error))
        if not isinstance(result, ToolResult):
            return ToolResult.fail(f"A middleware returned {type(result).__name__} instead of a ToolResult.")
        return result

    async def _execute_once(self, call: ToolCall) -> ToolResult:
        prepared = await self.prepare(call)
        if prepared.decision != "ask":
            return await self._run(prepared, None)
        if self._approver is None:
            return ToolResult.fail(f"Not executed: it needs approval, and nobody can be asked here. {prepared.reason}")
        async with self._asking:
            answer = await self._approver(prepared)
        if isinstance(answer, Denial):
            return ToolResult.fail(f"Denied by {answer.by}: {answer.reason}")
        return await self._run(prepared, answer)

    async def _commit_as(self, call: ToolCall, prepared: Prepared, grant: Grant | None) -> ToolResult:
        """What reaches here may have been changed by a middleware: then the old yes is worth nothing."""
        if call.name == prepared.call.name and call.args == prepared.call.args:
            return await self._run(prepared, grant)
        return await self._run(await self.prepare(call), None)

    async def _run(self, prepared: Prepared, grant: Grant | None) -> ToolResult:
        plan, definition = prepared.plan, self._registry.get(prepared.call.name)
        if plan is None or definition is None:
            return _unable(prepared)
        refusal = self._refusal(prepared, self._decide(definition, plan), grant)
        if refusal is not None:
            return ToolResult.fail(refusal)
        if plan.spent:
            return ToolResult.fail("This call was run already; it is never run twice.")
        plan.spent = True
        return await self._cached(prepared, plan, definition)

    def _refusal(self, prepared: Prepared, now: Decision, grant: Grant | None) -> str | None:
        """Policy is judged again at commit, because mode and approval may have been tightened since."""
        if now.decision == "allow":
            return None
        if now.decision != "ask":
            return now.reason
        if grant is None:
            return f"Not executed: it needs approval. {now.reason}"
        if grant.digest != prepared.digest:
            return "Not executed: the approval was given for something else; ask again."
        return None

    async def _cached(self, prepared: Prepared, plan: Plan, definition: ToolDefinition) -> ToolResult:
        if not definition.cacheable or definition.kind != "read":
            return await self._effect(prepared, plan)
        known = self._cache.get(prepared.call)
        if known is None:
            generation = self._cache.generation
            known = await _attempt(plan)
            self._cache.put(prepared.call, known, generation)
        return known

    async def _effect(self, prepared: Prepared, plan: Plan) -> ToolResult:
        if prepared.effect == "read":
            return await _attempt(plan)
        effect = Effect(prepared.call, prepared.effect, prepared.before, prepared.after, prepared.digest)
        if self._effects is not None:
            try:
                await self._effects.intent(effect)
            except Exception as error:
                return ToolResult.fail(f"Not executed: it could not be recorded first ({_sentence(error)})")
        try:
            # A cancellation leaves the intent without a done, as a crash would: then hashes tell what happened.
            result = await _attempt(plan)
        finally:
            self._cache.clear()
        return result if self._effects is None else await self._done(effect, result)

    async def _done(self, effect: Effect, result: ToolResult) -> ToolResult:
        assert self._effects is not None
        try:
            await self._effects.done(effect, result)
        except Exception as error:
            outcome = "It happened" if result.success else f"It failed ({result.error})"
            return ToolResult.fail(f"{outcome}, but that could not be recorded ({_sentence(error)})")
        return result

    async def _plan(self, definition: ToolDefinition, args: JsonObject) -> Plan:
        if definition.planner is not None:
            return await definition.planner(self._room, args)
        return await plan_handler(self._room, definition, args)

    def _decide(self, definition: ToolDefinition, plan: Plan) -> Decision:
        writes = tuple(name for change in plan.changes for name in change.names)
        return self.policy.decide(
            Request(definition.name, definition.kind, definition.dangerous, plan.reads, writes, bool(plan.changes))
        )

    def _refused(
        self,
        call: ToolCall,
        decision: Decision,
        definition: ToolDefinition | None = None,
        invalid: Invalid | None = None,
    ) -> Prepared:
        effect = definition.kind if definition else "read"
        why = (decision.decision, decision.rule, decision.reason)
        # In a batch it may become possible by what an earlier call does: it waits for all of them.
        hint, code = (invalid.hint, invalid.code) if invalid else (None, None)
        return Prepared(call, *why, effect, None, _ANYTHING, {}, {}, "", None, hint, code, _ANYTHING)


def _unable(prepared: Prepared) -> ToolResult:
    """The result of a call that has no plan, or whose tool was removed since it was planned."""
    if prepared.plan is not None:
        return ToolResult.fail(f"Unknown tool: {prepared.call.name}", "unknown_tool")
    return ToolResult.fail(prepared.reason, prepared.code)


def _copy(call: ToolCall) -> ToolCall:
    return replace(call, args=deepcopy(call.args))


def _prepared(call: ToolCall, decision: Decision, definition: ToolDefinition, plan: Plan, digest: str) -> Prepared:
    after = {change.path: change.after for change in plan.changes}
    why = (decision.decision, decision.rule, decision.reason)
    named = plan.resources if definition.handler is None else plan.named
    unsure = definition.effect is None and bool(plan.named)
    return Prepared(
        *(call, *why, definition.kind, plan.diff, plan.resources, plan.before, after, digest, plan),
        named=named,
        unsure=unsure,
    )


async def _attempt(plan: Plan) -> ToolResult:
    try:
        data = await plan.run()
    except (Exception, SystemExit) as error:  # a tool that calls sys.exit() must not end the bridge
        return ToolResult.fail(_sentence(error))
    if isinstance(data, ToolResult):
        return ToolResult(data.success, jsonable(data.data), data.error)
    return ToolResult.ok(jsonable(data))


def _sentence(error: BaseException) -> str:
    """What the model reads: a tool's own message as it is (T25), anything else with its type."""
    text = str(error).strip()
    return text or type(error).__name__
