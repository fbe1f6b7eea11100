from __future__ import annotations

from typing import get_args

import pytest

from bridge.agent import CallMachine, CallState
from bridge.conversation import IllegalTransition

WAY: list[CallState] = ["parsed", "asking", "granted", "intent", "done", "delivered"]


def walked(*steps: CallState) -> CallMachine:
    machine = CallMachine()
    for step in steps:
        machine.go(step)
    return machine


def test_the_whole_way() -> None:
    machine = walked(*WAY[1:])
    assert (machine.state, machine.over) == ("delivered", True)


@pytest.mark.parametrize("length", range(1, 5))
def test_a_call_can_be_interrupted_until_it_has_an_outcome(length: int) -> None:
    machine = walked(*WAY[1:length])
    assert not machine.over
    machine.go("interrupted")
    assert machine.over


@pytest.mark.parametrize("over", ["done", "failed"])
def test_nothing_runs_twice(over: CallState) -> None:
    machine = walked("granted", "intent", over)
    for state in get_args(CallState):
        if state != "delivered":
            with pytest.raises(IllegalTransition):
                machine.go(state)


@pytest.mark.parametrize("steps", [("denied",), ("asking", "denied"), ("interrupted",)])
def test_what_was_refused_or_interrupted_never_runs(steps: tuple[CallState, ...]) -> None:
    for state in ("granted", "intent", "done"):
        with pytest.raises(IllegalTransition):
            walked(*steps).go(state)


def test_no_effect_without_a_grant() -> None:
    for steps in ((), ("asking",)):
        with pytest.raises(IllegalTransition, match="to intent"):
            walked(*steps).go("intent")
