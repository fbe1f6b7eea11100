"""What ends a task that would not end by itself: pure, with the clock passed in (T34, T35)."""

from __future__ import annotations

from dataclasses import dataclass

from bridge.agent import limits
from bridge.errors import NeedsUser, TaskStopped
from tool_manager.models import ToolCall, canonical_json


@dataclass(frozen=True, slots=True)
class GuardLimits:
    """Replies, equal calls in a row, failures in a row, corrections in a row, and seconds that one task may take."""

    iterations: int = limits.MAX_ITERATIONS
    identical_calls: int = limits.MAX_IDENTICAL_CALLS
    failures: int = limits.MAX_CONSECUTIVE_FAILURES
    corrections: int = limits.MAX_CORRECTIONS
    awake_s: float = limits.MAX_AWAKE_S


class Guards:
    """Counts of one task that started at `now` (seconds of a monotonic clock).

    Each method raises `TaskStopped`, or `NeedsUser` where a person can tell the model what it cannot find out.
    """

    def __init__(self, bounds: GuardLimits, now: float) -> None:
        self._limits = bounds
        self._started = now
        self._iterations = 0
        self._failures = 0
        self._corrections = 0
        self._repeats = 0
        self._last: tuple[str, str] | None = None

    def before_message(self, now: float) -> None:
        """Another message is about to be typed."""
        if self._iterations >= self._limits.iterations:
            raise TaskStopped(
                "max_iterations",
                f"Max iterations reached ({self._limits.iterations}). LLM did not provide final answer.",
            )
        if now - self._started >= self._limits.awake_s:
            minutes = self._limits.awake_s / 60
            raise TaskStopped("awake", f"The task has run for {minutes:g} minutes, its limit; nothing more was sent.")
        self._iterations += 1

    def before_call(self, call: ToolCall) -> None:
        """A well-formed call came, perhaps one of equal calls in a row."""
        key = (call.name, canonical_json(call.args))
        self._repeats = self._repeats + 1 if key == self._last else 1
        self._last = key
        if self._repeats >= self._limits.identical_calls:
            raise NeedsUser(
                "repeated_call",
                f"The model asked for the same {call.name} call {self._repeats} times in a row; "
                "the last one was not run. Tell it what to do instead.",
            )

    def after_call(self, success: bool) -> None:
        """A call has its outcome, which ends a run of corrections."""
        self._corrections = 0
        self._failures = 0 if success else self._failures + 1
        if self._failures >= self._limits.failures:
            raise TaskStopped("failures", f"{self._failures} calls failed in a row; the task was stopped.")

    def forget_call(self) -> None:
        """The call was not good enough to run, and the model is asked for the very same one: that is no repetition."""
        self._repeats = 0

    def before_correction(self, why: str) -> None:
        """A reply could not be used and the model is about to be told; `why` is one sentence."""
        if self._corrections >= self._limits.corrections:
            raise NeedsUser("malformed", f"{why} It was corrected {self._corrections} times; look at the chat.")
        self._corrections += 1
