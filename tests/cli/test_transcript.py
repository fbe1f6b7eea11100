from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from rich.console import Console

from bridge.cli.transcript import MAX_ARGS, Transcript
from bridge.journal import Event
from bridge.relay.service import Ephemeral


def shown(*items: tuple[str, dict[str, Any]] | Ephemeral, answers: bool = False, terminal: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, markup=False, emoji=False, highlight=False, soft_wrap=True, force_terminal=terminal)
    with Transcript(console, answers=answers) as transcript:
        for item in items:
            if isinstance(item, Ephemeral):
                transcript.ephemeral(item)
            else:
                transcript.event(Event("j", 1, 0.0, "s_1", item[0], data=item[1]))
    return out.getvalue()


def delta(offset: int, text: str) -> Ephemeral:
    return Ephemeral(Path("/ws"), "s_1", "t_1", 1, "reply.delta", offset, text)


def test_a_call_its_arguments_its_time_and_its_size() -> None:
    text = shown(
        ("session.task_started", {"task": "Which version?"}),
        ("call.parsed", {"tool": "read_file", "args": {"path": "package.json"}, "reasoning": "to see it"}),
        ("call.granted", {"by": "policy", "rule": "read"}),
        ("call.done", {"success": True, "ms": 12.4, "chars": 1234}),
        ("call.done", {"success": False, "ms": 3, "error": "File not found: x"}),
    )
    assert '→ read_file {"path": "package.json"}  # to see it' in text
    assert "✓ 12 ms · 1,234 chars" in text
    assert "✗ 3 ms · File not found: x" in text
    assert "approved" not in text


def test_an_approval_shows_the_whole_diff() -> None:
    diff = "\n".join(f"+line {n}" for n in range(500))
    text = shown(("call.asking", {"tool": "write_file", "reason": "It writes.", "rule": "write", "diff": diff}))
    assert "+line 0\n" in text
    assert "+line 499" in text


def test_a_streamed_reply_is_shown_once_even_if_pieces_come_again() -> None:
    text = shown(
        ("state", {"state": "sending", "kind": "task"}),
        delta(0, "The ans"),
        delta(0, "The answer"),
        delta(10, " is 42."),
        ("reply.done", {"text": "The answer is 42.", "sources": ["cdp"], "trust": "full", "ms": 350.2}),
    )
    assert text.startswith("The answer is 42.\n")
    assert "17 chars · 350 ms · cdp · trust full" in text


def test_the_second_reply_is_streamed_from_its_beginning() -> None:
    text = shown(
        ("state", {"state": "sending"}),
        delta(0, "First reply."),
        ("reply.done", {"text": "First reply."}),
        ("state", {"state": "sending"}),
        delta(0, "Second."),
    )
    assert "Second." in text


def test_untrusted_text_can_neither_drive_the_terminal_nor_be_markup() -> None:
    evil = "[bold]x[/bold] :smile: \x1b[2J\x1b]0;owned\x07\u202e"
    for item in (
        ("session.task_done", {"answer": evil}),
        ("call.parsed", {"tool": evil, "args": {evil: evil}, "reasoning": evil}),
        ("call.asking", {"tool": evil, "reason": evil, "rule": evil, "diff": f"+{evil}"}),
        ("call.denied", {"reason": evil}),
        ("call.done", {"success": False, "error": evil}),
        ("diagnostic", {"code": "x", "message": evil}),
        ("file.changed", {"path": evil}),
        delta(0, evil),
    ):
        text = shown(item, answers=True)
        assert "[bold]x[/bold] :smile:" in text
        assert not {"\x1b", "\x07", "\u202e"} & set(text)


def test_long_arguments_are_cut_and_say_so() -> None:
    text = shown(("call.parsed", {"tool": "write_file", "args": {"content": "x" * 5000}}))
    assert len(text) < MAX_ARGS + 100
    assert "chars)" in text


def test_the_answer_is_shown_only_where_it_is_wanted() -> None:
    done = ("session.task_done", {"answer": "42"})
    assert "42" not in shown(done)
    assert "● 42" in shown(done, answers=True)


def test_the_spinner_ends_with_the_transcript() -> None:
    text = shown(("state", {"state": "waiting"}), terminal=True)
    assert text.endswith("\x1b[?25h") or "\x1b[?25h" in text  # the cursor is back


def test_events_of_later_versions_are_passed_over() -> None:
    assert shown(("usage", {"tokens": 3}), ("unheard.of", {})) == ""
