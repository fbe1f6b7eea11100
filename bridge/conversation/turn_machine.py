"""Where one turn stands, and which step may follow: pure, so that every path can be tested (design, section 5)."""

from __future__ import annotations

from typing import Literal

TurnState = Literal["idle", "sending", "waiting", "replying", "settled", "needs_user"]

_NEXT: dict[TurnState, frozenset[TurnState]] = {
    "idle": frozenset({"sending"}),
    "sending": frozenset({"waiting"}),
    "waiting": frozenset({"replying"}),
    "replying": frozenset({"settled"}),
    "settled": frozenset(),
    "needs_user": frozenset(),
}


class IllegalTransition(RuntimeError):
    """A programming error: the caller asked a machine for a step that its state does not allow."""


class TurnMachine:
    """`idle → sending → waiting → replying → settled`; `needs_user` from anywhere, and back to where it left."""

    def __init__(self) -> None:
        self._state: TurnState = "idle"
        self._left: TurnState | None = None
        self.reason: str | None = None

    @property
    def state(self) -> TurnState:
        return self._state

    def go(self, state: TurnState) -> None:
        """Take one step forward; raises `IllegalTransition` for any other step."""
        if state not in _NEXT[self._state]:
            raise IllegalTransition(f"a turn cannot go from {self._state} to {state}")
        self._state = state

    def need_user(self, reason: str) -> None:
        """Wait for the user, who is told `reason` (one word); a second need replaces the reason only."""
        if self._state != "needs_user":
            self._left, self._state = self._state, "needs_user"
        self.reason = reason

    def resume(self) -> TurnState:
        """The user acted: go back to the state that `need_user` left, and return it."""
        if self._left is None:
            raise IllegalTransition(f"a turn that is {self._state} waits for nobody")
        self._state, self._left, self.reason = self._left, None, None
        return self._state
