"""What a call is going to do, before it does it: the plain data between prepare and commit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from tool_manager.models import InvalidCode, JsonValue, ToolCall, ToolResult

EffectKind = Literal["read", "write", "command"]
Verdict = Literal["allow", "ask", "deny", "invalid"]
Hashes = dict[str, str | None]
"""Canonical path → SHA-256 of the file's bytes, None when there is no file."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file that a call would write: hashes before and after, all names that policy judges, the diff to show."""

    path: str
    names: tuple[str, ...]
    before: str | None
    after: str | None
    diff: str


@dataclass(slots=True)
class Plan:
    """`run` performs the call (once); `reads` are names whose content would leave; `resources` order a batch.

    A resource is `file:PATH`, `tree:PATH` (everything beneath) or any other text; equal or overlapping ones conflict.
    `named` are those that the arguments of a custom tool name.
    """

    run: Callable[[], Awaitable[JsonValue]]
    reads: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    resources: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    spent: bool = False

    @property
    def diff(self) -> str | None:
        return "".join(change.diff for change in self.changes) or None

    @property
    def before(self) -> Hashes:
        return {change.path: change.before for change in self.changes}


@dataclass(frozen=True, slots=True)
class Decision:
    """`decision` is what policy says, `rule` which rule said it, `reason` one sentence for a person."""

    decision: Verdict
    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call that was checked but not run. `diff` and `digest` are what an approval is given for.

    `before` and `after` are the hashes of each file that would be written; `reason` is the error when invalid, and
    `code` its kind. `named` are the resources that the call is known to touch; `unsure` says that it may change them,
    for its tool did not declare its effect (X5).
    """

    call: ToolCall
    decision: Verdict
    rule: str
    reason: str
    effect: EffectKind
    diff: str | None
    resources: tuple[str, ...]
    before: Hashes
    after: Hashes
    digest: str
    plan: Plan | None = field(default=None, repr=False, compare=False)
    hint: str | None = None
    code: InvalidCode | None = None
    named: tuple[str, ...] = ()
    unsure: bool = False


@dataclass(frozen=True, slots=True)
class Grant:
    """A yes: `digest` repeats the one that was shown, `by` says who gave it."""

    digest: str
    by: str


@dataclass(frozen=True, slots=True)
class Denial:
    """A no, with the reason that the model is told."""

    reason: str
    by: str = "user"


Approver = Callable[[Prepared], Awaitable[Grant | Denial]]


@dataclass(frozen=True, slots=True)
class Effect:
    """A change that is about to happen, or happened: what the journal needs to settle it after a crash."""

    call: ToolCall
    kind: EffectKind
    before: Hashes
    after: Hashes
    digest: str


class EffectLog(Protocol):
    """The port that the journal implements. An intent without done is settled by hash (design, section 5)."""

    async def intent(self, effect: Effect) -> None:
        """Return only when the record is durable; raising refuses the effect."""

    async def done(self, effect: Effect, result: ToolResult) -> None: ...


def digest_of(call: ToolCall, diff: str | None, before: Hashes, reads: tuple[str, ...] = ()) -> str:
    """SHA-256 over name, canonical arguments, diff, pre-state and the names of what is read, wherever links lead.

    Any of them changed, an old yes is void.
    """
    sha = hashlib.sha256()
    _feed(sha, [call.name, call.args, diff, dict(before), list(reads)])
    return sha.hexdigest()


def _feed(sha: hashlib._Hash, value: JsonValue) -> None:
    """Every part with its kind and length, so that no two values look alike; key order does not matter.

    Not JSON text: writing 10 MB of it in one piece would stop the event loop for 80 ms, even from a thread.
    """
    if isinstance(value, dict):
        sha.update(b"{%d:" % len(value))
        for key in sorted(value):
            _feed(sha, key)
            _feed(sha, value[key])
    elif isinstance(value, (list, tuple)):
        sha.update(b"[%d:" % len(value))
        for item in value:
            _feed(sha, item)
    else:
        text = value if isinstance(value, str) else json.dumps(value)
        data = text.encode("utf-8", "surrogatepass")
        sha.update(b"%c%d:" % (b"s" if isinstance(value, str) else b"j", len(data)))
        sha.update(data)
