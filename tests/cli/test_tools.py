from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bridge.cli.tools import app
from tool_manager import builtin_specs

NAMES = [spec.name for spec in builtin_specs()]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("hello\n", "utf-8")
    return tmp_path


def tabferry(*args: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, list(args), input=stdin)


def test_bare_is_the_list() -> None:
    bare, listed = tabferry(), tabferry("list")
    assert bare.exit_code == 0 and bare.stdout == listed.stdout
    assert [line.split()[0] for line in bare.stdout.splitlines()] == NAMES


def test_list_and_show_as_json() -> None:
    rows = [json.loads(line) for line in tabferry("list", "--json").stdout.splitlines()]
    assert [row["name"] for row in rows] == NAMES and all(row["parameters"]["type"] == "object" for row in rows)
    assert json.loads(tabferry("show", "read_file", "--json").stdout) == rows[0]
    assert '"start_line"' in tabferry("show", "read_file").stdout


@pytest.mark.requirement("T25")
def test_call_prints_the_result(workspace: Path) -> None:
    done = tabferry("call", "read_file", '{"path": "a.txt"}', "--workspace", str(workspace))
    assert done.exit_code == 0
    data = {"path": "a.txt", "content": "hello\n", "lines": 1, "size": 6}
    assert json.loads(done.stdout) == {"success": True, "data": data, "error": None}


def test_call_reads_standard_input(workspace: Path) -> None:
    done = tabferry("call", "read_file", "-", "--workspace", str(workspace), stdin='{"path": "missing"}')
    assert done.exit_code == 1
    assert json.loads(done.stdout) == {"success": False, "data": None, "error": "File not found: missing"}


@pytest.mark.requirement("T19")
def test_a_call_of_an_unknown_tool_is_a_result_too(workspace: Path) -> None:
    done = tabferry("call", "nope", "{}", "--workspace", str(workspace))
    assert done.exit_code == 1
    assert json.loads(done.stdout) == {"success": False, "data": None, "error": "Unknown tool: nope"}


@pytest.mark.requirement("F33")
def test_hidden_tools_are_not_listed_but_can_be_called_and_shown(workspace: Path) -> None:
    assert "task_completion" not in tabferry("list").stdout
    assert '"result"' in tabferry("show", "task_completion").stdout
    args = ("task_completion", '{"result": "All done."}', "--workspace", str(workspace))
    done = tabferry("call", *args)
    assert (done.exit_code, json.loads(done.stdout)["data"]) == (0, "All done.")
    assert json.loads(tabferry("why", *args).stdout)["decision"] == "allow"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["call", "read_file", "{"], "The arguments are no JSON"),
        (["call", "read_file", "[" * 100_000], "The arguments are no JSON"),
        (["call", "read_file", "[]"], "must be a JSON object"),
        (["show", "reed_file"], "Unknown tool: reed_file"),
        (["call", "read_file", "{}", "--workspace", "/nonexistent"], "is missing or not a directory"),
        (["call", "read_file", "{}", "--workspace", __file__], "is missing or not a directory"),
        (["list", "--workspace", "/nonexistent"], "is missing or not a directory"),
    ],
)
def test_bad_usage_is_one_sentence(args: list[str], message: str) -> None:
    done = tabferry(*args)
    assert done.exit_code == 2 and done.stdout == ""
    assert message in done.stderr and len(done.stderr.splitlines()) == 1 and "Traceback" not in done.stderr


@pytest.mark.requirement("T43")
def test_a_write_is_refused_where_nobody_can_be_asked(workspace: Path) -> None:
    args = ("call", "write_file", '{"path": "a.txt", "content": "new"}', "--workspace", str(workspace))
    done = tabferry(*args)
    assert done.exit_code == 1 and "needs approval" in json.loads(done.stdout)["error"]
    assert (workspace / "a.txt").read_text("utf-8") == "hello\n"
    assert tabferry(*args, "--approve", "edits").exit_code == 0
    assert (workspace / "a.txt").read_text("utf-8") == "new"


@pytest.mark.parametrize(
    ("tool", "args", "approve", "decision", "rule"),
    [
        ("read_file", {"path": "a.txt"}, "none", "allow", "read"),
        ("write_file", {"path": "x", "content": ""}, "ask", "ask", "approve=ask"),
        ("write_file", {"path": "x", "content": ""}, "none", "deny", "approve=none"),
        ("write_file", {"path": "sub/.GIT/config", "content": ""}, "auto", "ask", "always-ask:.git"),
        ("read_file", {"path": ".env"}, "auto", "ask", "secret-file"),
        ("read_file", {"path": "../x"}, "auto", "deny", "workspace"),
        ("read_file", {}, "auto", "invalid", "validation"),
        ("nope", {}, "auto", "invalid", "validation"),
    ],
)
def test_why(workspace: Path, tool: str, args: dict[str, str], approve: str, decision: str, rule: str) -> None:
    done = tabferry("why", tool, json.dumps(args), "--workspace", str(workspace), "--approve", approve, "--json")
    answer = json.loads(done.stdout)
    assert done.exit_code == 0 and list(answer) == ["decision", "rule", "reason"]
    assert (answer["decision"], answer["rule"]) == (decision, rule) and answer["reason"]
    assert not (workspace / "x").exists()


@pytest.mark.requirement("T43")
@pytest.mark.parametrize(("answer", "content", "code"), [("y", "new", 0), ("n", "hello\n", 1)])
def test_on_a_terminal_the_diff_is_shown_and_asked_for(workspace: Path, answer: str, content: str, code: int) -> None:
    main, side = pty.openpty()
    argv = [sys.executable, "-m", "bridge", "tools", "call", "write_file", '{"path": "a.txt", "content": "new"}']
    child = subprocess.Popen([*argv, "--workspace", str(workspace)], stdin=side, stderr=side, stdout=subprocess.PIPE)
    os.close(side)
    shown = b""
    while b"approve? [y/n]" not in shown:
        shown += os.read(main, 4096)
    os.write(main, answer.encode() + b"\n")
    if answer == "n":
        while b"reason" not in shown:
            shown += os.read(main, 4096)
        os.write(main, b"\n")
    assert child.stdout
    result = json.loads(child.stdout.read())
    assert child.wait(30) == code and result["success"] is (code == 0)
    assert b"-hello" in shown and b"+new" in shown
    assert (workspace / "a.txt").read_text("utf-8") == content
    child.stdout.close()
    os.close(main)
