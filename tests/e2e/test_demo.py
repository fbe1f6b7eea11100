"""`tabferry demo` as a user runs it: another process, a real browser, and a journal that proves every step."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

TABFERRY = Path(sys.executable).with_name("tabferry")


def run(*args: str, cwd: Path, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HOME": str(home), "NO_COLOR": "1"}
    command = [str(TABFERRY), *args]
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=300
    )


@pytest.mark.requirement("T28")
@pytest.mark.requirement("T58")
def test_the_demo_proves_every_step(tmp_path: Path) -> None:
    done = run("demo", "--json", cwd=tmp_path, home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events.pop() == {"type": "demo.done", "conversations": 5, "failed": 0}
    answers = [e["data"]["answer"] for e in events if e["type"] == "session.task_done"]
    assert answers[0].startswith("The version in package.json is ")
    assert "5 of 5 conversations did every step" in done.stderr
    check_order(events)


def check_order(events: list[dict[str, Any]]) -> None:
    """Each call was parsed, granted, started, done and delivered, in this order, and its result typed after."""
    calls = {(event["session"], event["call"]) for event in events if event["type"] == "call.parsed"}
    assert len(calls) == 1 + 1 + 1 + 7 + 4
    for call in calls:
        own = [e["type"] for e in events if (e["session"], e["call"]) == call and e["type"].startswith("call.")]
        assert own == [f"call.{step}" for step in ("parsed", "granted", "started", "done", "delivered")]


def test_a_repository_of_a_stranger_runs_nothing(tmp_path: Path) -> None:
    """A folder that looks like our package, a prompt, a sitecustomize, a Jinja payload: nothing of it is obeyed."""
    canary = tmp_path / "canary"
    evil = f"open({str(canary)!r}, 'w').write('ran')\n"
    repo = tmp_path / "repo"
    for name in ("bridge", "tool_manager", "typer", "playwright"):
        (repo / name).mkdir(parents=True)
        (repo / name / "__init__.py").write_text(evil, encoding="utf-8")
    (repo / "sitecustomize.py").write_text(evil, encoding="utf-8")
    (repo / ".tabferry").mkdir()
    (repo / ".tabferry" / "config.toml").write_text('site = "gradio"\nurl = "http://127.0.0.1:9/"\n', encoding="utf-8")
    (repo / "prompts").mkdir()
    (repo / "prompts" / "system.j2").write_text("{{ cycler.__init__.__globals__.os.system('id') }}", encoding="utf-8")
    (repo / "package.json").write_text('{"version": "{{ 7 * 7 }}"}', encoding="utf-8")
    done = run(
        "ask", "Read package.json and tell me the version", "--approve", "none", cwd=repo, home=tmp_path / "home"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "The version in package.json is {{ 7 * 7 }}."
    assert not canary.exists()


@pytest.mark.parametrize(
    ("args", "code", "sentence"),
    [
        (["--workspace", "nowhere"], 2, "nowhere"),
        (["--workspace", "file.txt"], 2, "file.txt"),
        (["--site", "nope"], 2, "Unknown site 'nope'"),
        (["--site", "gradio"], 2, "--url"),
        (["--site", "gradio", "--url", "ftp://x"], 2, "not the address of a chat page"),
        (["--site", "gradio", "--url", "http://127.0.0.1:9/"], 1, "cannot be reached"),
    ],
)
def test_bad_input_is_one_sentence_and_an_exit_code(tmp_path: Path, args: list[str], code: int, sentence: str) -> None:
    (tmp_path / "file.txt").write_text("x", encoding="utf-8")
    done = run("ask", "Read package.json", *args, cwd=tmp_path, home=tmp_path / "home")
    assert done.returncode == code, done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_missing_browser_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABFERRY_BROWSER", "/nowhere/chromium")
    done = run("ask", "Read package.json", cwd=tmp_path, home=tmp_path / "home")
    assert (done.returncode, "TABFERRY_BROWSER" in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr
