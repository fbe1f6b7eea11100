"""What is decided about a session whose bridge was killed, at every step of a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from bridge.agent.aftermath import Aftermath, Closing
from bridge.journal import Event

Step = tuple[str, dict[str, Any]]

STARTED: Step = ("session.task_started", {"task": "Go"})
PARSED: Step = ("call.parsed", {"tool": "write_file"})
ASKING: Step = ("call.asking", {"id": "a_1", "tool": "write_file"})
GRANTED: Step = ("call.granted", {"by": "terminal"})
DONE: Step = ("call.done", {"success": True})
CHANGED: Step = ("file.changed", {"path": "f", "before": "old", "after": "new"})
SENDING: Step = ("state", {"state": "sending"})
SENT: Step = ("prompt.sent", {"text": "Go"})


def intent(effect: str = "write", before: Any = "old", after: Any = "new") -> Step:
    files = ({"f": before}, {"f": after}) if effect == "write" else ({}, {})
    return "call.started", {"tool": f"{effect}_it", "effect": effect, "before": files[0], "after": files[1]}


def aftermath(*steps: Step) -> Aftermath:
    made = Aftermath()
    for seq, (type, data) in enumerate(steps, 1):
        call = "c" if type.startswith(("call.", "file.")) else None
        made.feed(Event("j", seq, 0.0, "s", type, "t", 3, call, data=data))
    return made


def settle(*steps: Step, now: Mapping[str, str | None] | None = None) -> list[Closing]:
    return aftermath(STARTED, *steps).settle(now or {})


def settled(*steps: Step, now: Mapping[str, str | None] | None = None) -> tuple[list[str], dict[str, Any], str]:
    """The types of all closing events, the data of the call's end, and the sentence that the user reads."""
    closings = settle(*steps, now=now)
    [end] = [closing.data for closing in closings if closing.type in ("call.done", "call.denied")]
    assert all(closing.call == "c" for closing in closings if closing.type.startswith(("call.", "file.")))
    return [closing.type for closing in closings], end, str(closings[-1].data["error"])


@pytest.mark.parametrize(
    ("before", "after", "now", "verdict"),
    [
        ("old", "new", {"f": "new"}, "done"),
        ("old", "new", {"f": "old"}, "not_done"),
        ("old", "new", {"f": "third"}, "unknown"),
        ("old", "new", {"f": None}, "unknown"),
        ("old", "new", {}, "unknown"),
        (None, "new", {"f": None}, "not_done"),
        (None, "new", {"f": "new"}, "done"),
        (None, "new", {}, "unknown"),
        ("old", None, {"f": None}, "done"),
        ("old", None, {}, "unknown"),
    ],
)
def test_a_write_is_settled_by_the_file(before: Any, after: Any, now: Any, verdict: str) -> None:
    types, end, sentence = settled(PARSED, intent(before=before, after=after), now=now)
    assert (end["settled"], end["success"], end["interrupted"]) == (verdict, verdict == "done", True)
    assert (end["error"] is None) == (verdict == "done")
    assert types == (["file.changed"] if verdict == "done" else []) + ["call.done", "session.task_failed"]
    assert {"done": "was done (f)", "not_done": "was not done (f)", "unknown": "is unknown (look at f)"}[
        verdict
    ] in sentence


def test_two_files_of_which_one_is_written_are_unknown() -> None:
    two = ("call.started", {"effect": "write", "before": {"f": "1", "g": "2"}, "after": {"f": "3", "g": "4"}})
    assert aftermath(two).paths == {"f", "g"}
    assert settled(two, now={"f": "3", "g": "2"})[1]["settled"] == "unknown"
    assert settled(two, now={"f": "3", "g": "4"})[1]["settled"] == "done"


def test_a_change_that_was_recorded_in_time_is_not_recorded_twice() -> None:
    assert settled(intent(), CHANGED, now={"f": "new"})[0] == ["call.done", "session.task_failed"]


def test_a_command_may_have_run_and_a_read_does_not_matter() -> None:
    _, command, sentence = settled(intent("command"))
    assert (command["success"], command["settled"]) == (False, "unknown")
    assert "may have run in part (it is not run again)" in sentence
    _, read, _ = settled(intent("read"))
    assert (read["success"], read["interrupted"], read["settled"]) == (False, True, "not_done")


@pytest.mark.requirement("T43")
def test_an_open_question_is_denied_never_assumed() -> None:
    types, end, sentence = settled(PARSED, ASKING)
    assert types == ["call.denied", "session.task_failed"]
    assert end["by"] == "restart"
    assert "approval that nobody had given" in sentence


@pytest.mark.parametrize("steps", [(PARSED,), (PARSED, GRANTED), (PARSED, ASKING, GRANTED)])
def test_a_call_without_an_intent_has_not_begun(steps: tuple[Step, ...]) -> None:
    types, end, _ = settled(*steps)
    assert types == ["call.done", "session.task_failed"]
    assert (end["success"], end["settled"]) == (False, "not_done")


def test_a_message_that_may_be_sent_is_said_so() -> None:
    diagnostic, idle, failed = settle(SENDING)
    assert (diagnostic.type, diagnostic.data["code"], diagnostic.turn) == ("diagnostic", "delivery_unknown", 3)
    assert (idle.type, idle.data, idle.task) == ("state", {"state": "idle"}, "t")
    assert "whether its last message was sent is unknown" in failed.data["error"]


@pytest.mark.parametrize(
    "steps", [(SENDING, SENT), (SENDING, ("state", {"state": "needs_user"})), (SENDING, SENT, PARSED, intent(), DONE)]
)
def test_what_is_known_is_not_doubted(steps: tuple[Step, ...]) -> None:
    closings = settle(*steps)
    assert {closing.type for closing in closings} <= {"state", "session.task_failed"}
    assert closings[-1].data == {
        "error": "The bridge was stopped before this task ended; nothing of it was under way.",
        "exit_code": 1,
        "kind": "Interrupted",
    }


@pytest.mark.parametrize("end", ["done", "failed", "cancelled"])
def test_a_task_that_has_ended_is_let_alone(end: str) -> None:
    assert settle(SENDING, SENT, ("state", {"state": "idle"}), (f"session.task_{end}", {})) == []


def test_a_call_outside_of_any_task_has_an_end_too() -> None:
    made = Aftermath()
    made.feed(Event("j", 1, 0.0, "s", "state", data={"state": "replying"}))
    made.feed(Event("j", 2, 0.0, "s", "call.started", call="c", data=intent()[1]))
    assert [(each.type, each.task) for each in made.settle({"f": "old"})] == [("call.done", None), ("state", None)]


def test_settled_once_nothing_is_open() -> None:
    made = aftermath(STARTED, SENDING, PARSED, intent())
    for closing in made.settle({}):
        made.feed(Event("j", 9, 0.0, "s", closing.type, closing.task, closing.turn, closing.call, data=closing.data))
    assert made.settle({}) == []
