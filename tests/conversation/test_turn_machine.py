from __future__ import annotations

from itertools import pairwise, product
from typing import get_args

import pytest

from bridge.conversation import IllegalTransition, TurnMachine, TurnState

PATH: list[TurnState] = ["idle", "sending", "waiting", "replying", "settled"]


def at(state: TurnState) -> TurnMachine:
    machine = TurnMachine()
    for step in PATH[1 : PATH.index(state) + 1]:
        machine.go(step)
    return machine


@pytest.mark.parametrize(("left", "next_"), [*product(PATH, get_args(TurnState))])
def test_only_the_next_step_is_legal(left: TurnState, next_: TurnState) -> None:
    machine = at(left)
    if (left, next_) in pairwise(PATH):
        machine.go(next_)
        assert machine.state == next_
    else:
        with pytest.raises(IllegalTransition, match=left):
            machine.go(next_)
        assert machine.state == left


@pytest.mark.parametrize("left", PATH)
def test_the_user_can_be_needed_anywhere_and_it_goes_on_where_it_left(left: TurnState) -> None:
    machine = at(left)
    machine.need_user("login")
    assert (machine.state, machine.reason) == ("needs_user", "login")
    machine.need_user("captcha")
    assert machine.reason == "captcha"
    assert machine.resume() == left
    assert machine.state == left
    assert machine.reason is None


def test_nothing_moves_while_the_user_is_needed_and_nobody_resumes_twice() -> None:
    machine = at("sending")
    machine.need_user("limit")
    with pytest.raises(IllegalTransition):
        machine.go("waiting")
    machine.resume()
    with pytest.raises(IllegalTransition, match="waits for nobody"):
        machine.resume()
