"""Every error a user can meet, as one tree; the name says who must act.

    TabferryError            exit 1: the task failed
    ├── UsageError           exit 2: a flag, a path or a setting is wrong
    ├── ChatError            exit 1: the chat page or the browser failed us
    ├── NeedsUser            exit 3: the user must act (login, captcha, limit, delivery_unknown, user_acted, …)
    ├── TaskStopped          exit 1: a guard ended the task (iterations, failures, time)
    ├── TaskCancelled        exit 130: the user ended the task
    └── JournalError         exit 1: what happened could not be recorded, so nothing was done

Each message is one sentence: what, where, what to do.
"""

from __future__ import annotations


class TabferryError(Exception):
    """The root: `str(error)` is the sentence that the user reads, `exit_code` what the command returns."""

    exit_code = 1


class UsageError(TabferryError):
    exit_code = 2


class ChatError(TabferryError):
    """The page or the browser failed: unreachable, crashed, closed, composer missing, reply empty or endless."""


class NeedsUser(TabferryError):
    """Only the user can go on. `reason` is one word for machines: login, captcha, limit, delivery_unknown, user_acted,
    malformed, repeated_call."""

    exit_code = 3

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class JournalError(TabferryError):
    """The journal refused a record; the effect that it announced has not happened."""


class TaskStopped(TabferryError):
    """A guard ended the task; everything is kept. `guard` is one word for machines."""

    def __init__(self, guard: str, message: str) -> None:
        super().__init__(message)
        self.guard = guard


class TaskCancelled(TabferryError):
    """The user cancelled the task; what had been done is in the journal."""

    exit_code = 130
