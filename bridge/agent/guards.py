"""What ends a task that would not end by itself: pure, with the clock passed in (T34, T35)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bridge.agent import limits
from bridge.errors import NeedsUser, TaskStopped
from tool_manager.errors import shown
from tool_manager.models import ToolCall, ToolResult, canonical_json


@dataclass(frozen=True, slots=True)
class GuardLimits:
    """Replies, equal replies in a row, failures in a row, corrections in a row, equal error messages in a row, and
    seconds that one task may take."""

    iterations: int = limits.MAX_ITERATIONS
    identical_calls: int = limits.MAX_IDENTICAL_CALLS
    failures: int = limits.MAX_CONSECUTIVE_FAILURES
    corrections: int = limits.MAX_CORRECTIONS
    errors: int = limits.MAX_IDENTICAL_ERRORS
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
        self._errors = 0
        self._last: list[tuple[str, str]] = []
        self._error: str | None = None

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

    def before_calls(self, calls: Sequence[ToolCall]) -> None:
        """The well-formed calls of a reply came, perhaps those of the reply before it (T35). The same call twice in one
        reply is no repetition: position tells them apart (C21)."""
        asked = [(call.name, canonical_json(call.args)) for call in calls]
        self._repeats = self._repeats + 1 if asked and asked == self._last else 1
        self._last = asked
        if self._repeats >= self._limits.identical_calls:
            what = f"{calls[0].name} call" if len(calls) == 1 else f"{len(calls)} calls"
            last = "the last one was" if len(calls) == 1 else "the last ones were"
            raise NeedsUser(
                "repeated_call",
                f"The model asked for the same {what} {self._repeats} times in a row; "
                f"{last} not run. Tell it what to do instead.",
            )

    def after_calls(self, results: Sequence[ToolResult]) -> None:
        """All calls of a reply have their outcome, which ends a run of corrections. Failures are counted across
        replies and within them; a success begins anew (C30). The sentence that stops the task ends with the last error,
        for the model may never read it (X11)."""
        self._corrections = self._errors = 0
        self._error = None
        for result in results:
            self._failures = 0 if result.success else self._failures + 1
        if self._failures >= self._limits.failures:
            why = shown(results[-1].error or "") if results else ""
            last = f" The last error was: {why}" if why else ""
            raise TaskStopped("failures", f"{self._failures} calls failed in a row; the task was stopped.{last}")

    def forget_calls(self) -> None:
        """The calls were not good enough to run, and the model is asked for the very same: that is no repetition."""
        self._repeats = 0

    def before_error(self, message: str) -> None:
        """`message` is about to be typed, perhaps the error that was typed before; any other begins anew (F19)."""
        self._errors = self._errors + 1 if message == self._error else 1
        self._error = message
        if self._errors >= self._limits.errors:
            raise TaskStopped("errors", f"The same error came {self._errors} times in a row; the task was stopped.")

    def before_correction(self, why: str) -> None:
        """A reply could not be used and the model is about to be told; `why` is one sentence."""
        if self._corrections >= self._limits.corrections:
            raise NeedsUser("malformed", f"{why} It was corrected {self._corrections} times; look at the chat.")
        self._corrections += 1
