from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bridge.agent import Answer, ApprovalBroker, deny_unattended
from bridge.relay.service import PendingApproval

QUESTION = PendingApproval(
    "a_1", "s_1", "t_1", "call_1", "write_file", {"path": "a"}, "+x", "write", "It writes.", "d1"
)


async def asked(broker: ApprovalBroker, question: PendingApproval = QUESTION) -> asyncio.Task[Answer]:
    async def expect() -> Answer:
        with broker.expect(question):
            return await broker.ask(question)

    task = asyncio.create_task(expect())
    await asyncio.sleep(0)  # its first step runs up to where it waits
    assert question in broker.pending()
    return task


@pytest.mark.requirement("T43")
async def test_the_first_valid_answer_wins() -> None:
    broker = ApprovalBroker()
    waiting = await asked(broker)
    assert broker.answer("a_1", "d1", "approve", None, "vscode") == "accepted"
    assert broker.answer("a_1", "d1", "deny", "too late", "terminal") == "already_answered"
    answer = await waiting
    assert (answer.approved, answer.by) == (True, "vscode")
    assert broker.answer("a_1", "d1", "deny", None, "terminal") == "already_answered"
    assert broker.pending() == []


@pytest.mark.parametrize("digest", ["", "d2", "D1", "d1 ", "\ud800"])
async def test_an_answer_to_something_else_changes_nothing(digest: str) -> None:
    broker = ApprovalBroker()
    waiting = await asked(broker)
    assert broker.answer("a_1", digest, "approve", None, "vscode") == "digest_mismatch"
    assert not waiting.done()
    broker.answer("a_1", "d1", "deny", "not this file", "vscode")
    answer = await waiting
    assert (answer.approved, answer.reason) == (False, "not this file")


async def test_a_question_that_was_never_asked_is_unknown() -> None:
    assert ApprovalBroker().answer("a_9", "d", "approve", None, "x") == "unknown"


async def test_a_cancelled_task_takes_its_question_back() -> None:
    broker = ApprovalBroker()
    waiting = await asked(broker)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert broker.pending() == []
    assert broker.answer("a_1", "d1", "approve", None, "x") == "already_answered"


async def test_questions_are_told_apart_and_listed_oldest_first() -> None:
    broker = ApprovalBroker()
    second = replace(QUESTION, id="a_2", session="s_2")
    waiting = [await asked(broker), await asked(broker, second)]
    assert [question.id for question in broker.pending()] == ["a_1", "a_2"]
    assert broker.session_of("a_2") == "s_2"
    broker.answer("a_2", "d1", "approve", None, "x")
    await waiting[1]
    assert not waiting[0].done()
    waiting[0].cancel()


@pytest.mark.requirement("T43")
async def test_nobody_there_means_no_at_once_with_a_sentence() -> None:
    broker = ApprovalBroker(interactive=False)
    with broker.expect(QUESTION):
        answers = [await broker.ask(QUESTION), await deny_unattended(QUESTION)]
    for answer in answers:
        assert not answer.approved
        assert answer.reason is not None
        assert "nobody" in answer.reason
