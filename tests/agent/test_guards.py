from __future__ import annotations

import pytest

from bridge.agent import GuardLimits, Guards
from bridge.errors import NeedsUser, TaskStopped
from tool_manager import ToolCall, ToolResult


def a_call(**args: object) -> ToolCall:
    return ToolCall("call_1", "read_file", dict(args))


def outcomes(*successes: bool) -> list[ToolResult]:
    return [ToolResult.ok(1) if success else ToolResult.fail("It broke.\n") for success in successes]


@pytest.mark.requirement("T34")
def test_max_iterations_ends_with_the_sentence_of_the_document() -> None:
    guards = Guards(GuardLimits(iterations=2), 0)
    guards.before_message(0)
    guards.before_message(0)
    with pytest.raises(TaskStopped) as caught:
        guards.before_message(0)
    assert str(caught.value) == "Max iterations reached (2). LLM did not provide final answer."
    assert (caught.value.guard, caught.value.exit_code) == ("max_iterations", 1)


@pytest.mark.requirement("T34")
def test_fifty_iterations_by_default() -> None:
    guards = Guards(GuardLimits(), 0)
    for _ in range(50):
        guards.before_message(0)
    with pytest.raises(TaskStopped, match=r"\(50\)"):
        guards.before_message(0)


@pytest.mark.requirement("T35")
def test_the_third_equal_call_in_a_row_asks_the_user_whatever_the_order_of_its_keys() -> None:
    guards = Guards(GuardLimits(), 0)
    guards.before_calls([a_call(a=1, b=[2])])
    guards.before_calls([a_call(b=[2], a=1)])
    with pytest.raises(NeedsUser, match="3 times in a row") as caught:
        guards.before_calls([a_call(a=1, b=[2])])
    assert (caught.value.reason, caught.value.exit_code) == ("repeated_call", 3)


@pytest.mark.requirement("T35")
@pytest.mark.parametrize("other", [{"a": True}, {"a": "1"}, {"a": 2}, {}])
def test_a_different_call_between_begins_the_count_anew(other: dict[str, object]) -> None:
    guards = Guards(GuardLimits(), 0)
    for _ in range(3):
        guards.before_calls([a_call(a=1)])
        guards.before_calls([a_call(a=1)])
        guards.before_calls([a_call(**other)])


def test_three_failures_in_a_row_end_the_task_and_a_success_between_saves_it() -> None:
    guards = Guards(GuardLimits(), 0)
    for success in (False, False, True, False, False):
        guards.after_calls(outcomes(success))
    with pytest.raises(TaskStopped) as caught:
        guards.after_calls(outcomes(False))
    assert str(caught.value) == "3 calls failed in a row; the task was stopped. The last error was: It broke.\\n"


def test_an_hour_awake_is_enough() -> None:
    guards = Guards(GuardLimits(), 100.0)
    guards.before_message(100.0 + 3599.9)
    with pytest.raises(TaskStopped, match="60 minutes"):
        guards.before_message(100.0 + 3600.0)


def test_two_corrections_and_then_the_user() -> None:
    guards = Guards(GuardLimits(), 0)
    guards.before_correction("It was malformed.")
    guards.before_correction("It was malformed.")
    with pytest.raises(NeedsUser, match=r"It was malformed\. It was corrected 2 times") as caught:
        guards.before_correction("It was malformed.")
    assert caught.value.reason == "malformed"


def test_a_call_that_ran_ends_a_run_of_corrections_but_one_that_could_not_does_not() -> None:
    guards = Guards(GuardLimits(), 0)
    guards.before_correction("No.")
    guards.before_calls([a_call()])
    guards.after_calls(outcomes(True))
    guards.before_correction("No.")
    guards.before_calls([a_call()])
    guards.forget_calls()
    guards.before_correction("No.")
    with pytest.raises(NeedsUser):
        guards.before_correction("No.")


@pytest.mark.requirement("C30")
@pytest.mark.parametrize("batches", [[[False] * 3], [[True, False], [False, False]], [[False]] * 3])
def test_failures_count_across_replies_and_within_them(batches: list[list[bool]]) -> None:
    guards = Guards(GuardLimits(), 0)
    for batch in batches[:-1]:
        guards.after_calls(outcomes(*batch))
    with pytest.raises(TaskStopped, match="3 calls failed in a row"):
        guards.after_calls(outcomes(*batches[-1]))


@pytest.mark.requirement("C30")
def test_a_success_at_the_end_of_a_batch_begins_anew() -> None:
    guards = Guards(GuardLimits(), 0)
    guards.after_calls(outcomes(False, False, False, True))
    guards.after_calls(outcomes(False, False))
    with pytest.raises(TaskStopped):
        guards.after_calls(outcomes(False))


@pytest.mark.requirement("C21", "T35")
def test_the_same_call_often_in_one_batch_is_no_repetition_but_the_same_batch_again_is() -> None:
    guards = Guards(GuardLimits(), 0)
    batch = [a_call(a=1)] * 9
    guards.before_calls(batch)
    guards.before_calls(batch)
    with pytest.raises(NeedsUser, match="the same 9 calls 3 times in a row; the last ones were not run"):
        guards.before_calls(batch)


@pytest.mark.requirement("C7")
def test_empty_batches_are_no_repetition() -> None:
    guards = Guards(GuardLimits(), 0)
    for _ in range(9):
        guards.before_calls([])
        guards.after_calls([])
    guards.before_calls([a_call()])


@pytest.mark.requirement("F19")
def test_five_equal_errors_in_a_row_end_the_task_and_anything_else_between_saves_it() -> None:
    guards = Guards(GuardLimits(), 0)
    for _ in range(4):
        guards.before_error("no call")
    guards.before_error("another")
    for _ in range(4):
        guards.before_error("no call")
    guards.after_calls(outcomes(True))
    for _ in range(4):
        guards.before_error("no call")
    with pytest.raises(TaskStopped, match="5 times in a row") as caught:
        guards.before_error("no call")
    assert caught.value.guard == "errors"
