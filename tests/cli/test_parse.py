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


def run(*args: str, stdin: str | bytes = "", code: int = 0) -> list[dict[str, Any]]:
    result = CliRunner().invoke(app, list(args), input=stdin)
    assert result.exit_code == code, result.output
    assert (result.stderr != "") is (code != 0)
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_file_becomes_one_object(tmp_path: Path) -> None:
    file = tmp_path / "reply.txt"
    file.write_bytes(f"Xin chào\n{BLOCK}\r\n".encode())
    (reply,) = run(str(file))
    assert list(reply) == ["kind", "calls", "text", "error", "diagnostics", "rest"]
    assert (reply["kind"], reply["text"], reply["rest"], reply["error"]) == ("tool_calls", "Xin chào\n", "\r\n", None)
    (call,) = reply["calls"]
    assert call.pop("id").startswith("call_")
    assert call == {"name": "read_file", "args": {"path": "a"}, "reasoning": "why"}


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
