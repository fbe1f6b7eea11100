"""Questions that only a person may answer: they belong to the bridge, not to whoever happens to be connected (T43)."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from bridge.relay.service import AnswerOutcome, ApprovalDecision, PendingApproval


@dataclass(frozen=True, slots=True)
class Answer:
    """What was decided, by whom, and why; the model reads the reason of a denial."""

    approved: bool
    by: str
    reason: str | None = None


Approver = Callable[[PendingApproval], Awaitable[Answer]]
"""Asks whoever can answer. It may take as long as a person takes; the task waits."""

Expect = Callable[[PendingApproval], AbstractContextManager[None]]
"""Told of a question before its record can be read, so that no answer comes too early; left when it is settled."""


def expect_nothing(approval: PendingApproval) -> AbstractContextManager[None]:
    """For approvers that answer by themselves."""
    del approval
    return nullcontext()


NOBODY = Answer(
    False, "policy", "this needs approval and nobody is there to give it; run it in a terminal or with --approve"
)


async def deny_unattended(approval: PendingApproval) -> Answer:
    """The approver of a program that nobody watches: denied at once, with a sentence."""
    del approval
    return NOBODY


class ApprovalBroker:
    """Parks each question until its first valid answer. `interactive=False`: nobody can answer, so deny at once."""

    def __init__(self, *, interactive: bool = True) -> None:
        self._interactive = interactive
        self._open: dict[str, tuple[PendingApproval, asyncio.Future[Answer]]] = {}
        self._answered: dict[str, str] = {}

    @contextmanager
    def expect(self, approval: PendingApproval) -> Iterator[None]:
        """Take answers to `approval` from now on, before anybody reads of it; withdraw it at the end."""
        self._open[approval.id] = (approval, asyncio.get_running_loop().create_future())
        try:
            yield
        finally:
            del self._open[approval.id]
            self._answered[approval.id] = approval.session

    async def ask(self, approval: PendingApproval) -> Answer:
        """The answer to an expected question."""
        return await self._open[approval.id][1] if self._interactive else NOBODY

    def answer(
        self, approval: str, digest: str, decision: ApprovalDecision, reason: str | None, by: str
    ) -> AnswerOutcome:
        """The first answer with the right digest wins; anything else changes nothing."""
        if approval not in self._open:
            return "already_answered" if approval in self._answered else "unknown"
        question, future = self._open[approval]
        if not hmac.compare_digest(question.digest.encode(), digest.encode("utf-8", "surrogatepass")):
            return "digest_mismatch"
        if future.done():
            return "already_answered"
        future.set_result(Answer(decision == "approve", by, reason))
        return "accepted"

    def session_of(self, approval: str) -> str | None:
        """The session that asks, or has asked, this question; None for a question that was never asked."""
        if approval in self._open:
            return self._open[approval][0].session
        return self._answered.get(approval)

    def pending(self) -> list[PendingApproval]:
        """Open questions, oldest first."""
        return [question for question, future in self._open.values() if not future.done()]
