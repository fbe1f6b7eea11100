"""Where one call stands, and which step may follow: pure, so that every path can be tested (design, section 5)."""

from __future__ import annotations

from typing import Literal

from bridge.conversation import IllegalTransition

CallState = Literal["parsed", "asking", "granted", "intent", "done", "denied", "failed", "interrupted", "delivered"]

_NEXT: dict[CallState, frozenset[CallState]] = {
    "parsed": frozenset({"asking", "granted", "denied", "failed", "interrupted"}),
    "asking": frozenset({"granted", "denied", "failed", "interrupted"}),
    # `done` without `intent`: a middleware answered, so there was no effect. `asking`: the ground moved, ask again.
    "granted": frozenset({"intent", "asking", "done", "failed", "interrupted"}),
    "intent": frozenset({"done", "failed", "interrupted"}),
    "done": frozenset({"delivered"}),
    "denied": frozenset({"delivered"}),
    "failed": frozenset({"delivered"}),
    "interrupted": frozenset(),
    "delivered": frozenset(),
}

_OVER: frozenset[CallState] = frozenset({"done", "denied", "failed", "interrupted", "delivered"})


class CallMachine:
    """`parsed → asking → granted → intent → done → delivered`, or `denied`, `failed`, `interrupted`.

    No state leads back to `intent`, so a call is executed at most once.
    """

    def __init__(self) -> None:
        self._state: CallState = "parsed"

    @property
    def state(self) -> CallState:
        return self._state

    @property
    def over(self) -> bool:
        """Whether the call has an outcome, so that nothing more can run under it."""
        return self._state in _OVER

    def go(self, state: CallState) -> None:
        """Take one step; raises `IllegalTransition`, a programming error, for a step that may not follow."""
        if state not in _NEXT[self._state]:
            raise IllegalTransition(f"a call cannot go from {self._state} to {state}")
        self._state = state
