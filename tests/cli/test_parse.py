from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from bridge.cli.parse import parse

BLOCK = '<TOOL_CALL>{"tool":"read_file","args":{"path":"a"},"reasoning":"why"}</TOOL_CALL>'

app = typer.Typer()
app.command()(parse)


def run(*args: str, stdin: str | bytes = "") -> list[dict[str, Any]]:
    result = CliRunner().invoke(app, list(args), input=stdin)
    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert (result.stderr != "") is (bool(lines[-1]["diagnostics"]) and "--json" not in args)
    return lines


def picture(*args: str, stdin: str) -> list[str]:
    """What is told to people."""
    return CliRunner().invoke(app, list(args), input=stdin).stderr.splitlines()


def test_a_file_becomes_one_object(tmp_path: Path) -> None:
    file = tmp_path / "reply.txt"
    file.write_bytes(f"Xin chào\n{BLOCK}\r\n".encode())
    (reply,) = run(str(file))
    assert list(reply) == ["kind", "calls", "text", "error", "diagnostics", "rest"]
    assert (reply["kind"], reply["text"], reply["rest"], reply["error"]) == ("tool_calls", "Xin chào\n", "\r\n", None)
    (call,) = reply["calls"]
    assert call.pop("id").startswith("call_")
    assert call == {"name": "read_file", "args": {"path": "a"}, "reasoning": "why"}


def test_each_diagnostic_has_a_caret_under_its_place(tmp_path: Path) -> None:
    file = tmp_path / "reply.txt"
    file.write_text("I see:\n<TOOL_CALL>{'a'}</TOOL_CALL>\n", encoding="utf-8")
    first, head, source, caret = picture(str(file), stdin="")
    assert first == "text: no call"
    assert head.startswith("reply.txt:2:13: malformed_call (json): ")
    assert source[caret.index("^")] == "'"


def test_a_picture_names_the_calls_that_were_found_nevertheless() -> None:
    first, head, _, _ = picture(stdin=BLOCK * 2)
    assert first == "tool_calls: read_file"
    assert head.startswith(f"-:1:{len(BLOCK) + 1}: extra_call: ")


def test_a_reply_cannot_act_on_the_terminal() -> None:
    shown = "".join(picture(stdin="\x1b]0;owned\x07<TOOL_CALL>{'a'}"))
    assert "\x1b" not in shown and "\\x1b]0;owned" in shown


@pytest.mark.requirement("A7", "A8")
def test_the_dialect_follows_from_the_provider() -> None:
    call = '{"tool":{"function":"d","parameters":{}}}'
    assert run("--provider", "kimi", stdin=call)[0]["calls"][0]["name"] == "d"
    assert run("--provider", "kimi", "--xml", stdin=call)[0]["calls"] == []


@pytest.mark.parametrize("args", [[], ["-"], ["--json"], ["-", "--dialect", "tool_call"]])
def test_standard_input_is_the_default(args: list[str]) -> None:
    (reply,) = run(*args, stdin="<TOOL_CALL>{'a'}</TOOL_CALL>")
    assert (reply["kind"], reply["calls"]) == ("text", [])
    (found,) = reply["diagnostics"]
    assert (found["code"], found["reason"], found["line"], found["column"]) == ("malformed_call", "json", 1, 13)


@pytest.mark.requirement("T8")
def test_multi() -> None:
    assert [len(run(*args, stdin=BLOCK * 2)[0]["calls"]) for args in ([], ["--multi"])] == [1, 2]


def test_stream_prints_events_before_the_same_object() -> None:
    text = "word " * 50 + BLOCK + "after"
    *events, reply = run("--stream", stdin=text)
    assert [reply] == run(stdin=text)
    assert "".join(event["text"] for event in events if event["event"] == "text") == "word " * 50
    assert [event["call"] for event in events if event["event"] == "call"] == reply["calls"]
    assert len(events) > 3


def test_the_size_of_a_chunk_is_chosen() -> None:
    *events, reply = run("--stream", "--chunk", "1", stdin="abcd" + BLOCK)
    assert [event["event"] for event in events] == ["text"] * 4 + ["call"]
    assert [reply] == run(stdin="abcd" + BLOCK)
    assert len(run("--stream", "--chunk", "1000", stdin="abcd" + BLOCK)) == 3


def test_a_lone_surrogate_is_printed_as_json() -> None:
    (reply,) = run(stdin='<TOOL_CALL>{"tool":"a","args":{"x":"\\ud800"}}</TOOL_CALL>')
    assert reply["calls"][0]["args"] == {"x": "\ud800"}


@pytest.mark.parametrize(
    ("args", "stdin", "sentence"),
    [
        (["/no/such/file"], b"", "Cannot read the reply from /no/such/file: No such file or directory."),
        (["/"], b"", "Cannot read the reply from /: Is a directory."),
        (["-"], b"ab\xff", "is not UTF-8 text (byte 2)"),
        (["-", "--dialect", "nope"], b"", "There is no dialect 'nope'; there is: "),
        (["-", "--dialect", "tool_call", "--xml"], b"", "--dialect names the dialect already"),
    ],
)
def test_bad_usage_is_one_sentence_and_exit_2(args: list[str], stdin: bytes, sentence: str) -> None:
    result = CliRunner().invoke(app, args, input=stdin)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


def test_help_has_an_example() -> None:
    assert "Example: tabferry parse" in CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).stdout
