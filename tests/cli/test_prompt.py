from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

import tool_manager
from bridge.cli.prompt import prompt
from bridge.protocol import dialects
from tool_manager.models import ToolSpec

GOOD = ToolSpec("read_file", "Read {{ it }}")
BAD = ToolSpec("odd", "x", {"properties": []})

app = typer.Typer()
app.command()(prompt)


@pytest.fixture(autouse=True)
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_manager, "builtin_specs", lambda *, hidden=False: [GOOD, BAD])


def run(*args: str) -> Result:
    return CliRunner().invoke(app, list(args))


@pytest.mark.requirement("T31")
@pytest.mark.parametrize("args", [[], ["--dialect", "tool_call"]])
def test_the_prompt_is_printed_exactly_and_its_cost_beside_it(args: list[str]) -> None:
    result = run(*args)
    assert result.exit_code == 0
    text = dialects.get("tool_call").system_prompt([GOOD])
    assert result.stdout == text + "\n"
    costs = [line.split() for line in result.stderr.splitlines() if line.endswith(" characters")]
    assert costs == [
        ["read_file", str(len("- read_file(): Read {{ it }}\n")), "characters"],
        ["whole", "prompt", str(len(text)), "characters"],
    ]
    assert "odd is left out: its properties must be a JSON object" in result.stderr


@pytest.mark.requirement("A14")
def test_json_is_one_object() -> None:
    (line,) = run("--json").stdout.splitlines()
    value = json.loads(line)
    assert value["prompt"] == dialects.get("tool_call").system_prompt([GOOD])
    assert value["characters"] == len(value["prompt"])
    assert (value["dialect"], list(value["tools"]), list(value["skipped"])) == ("tool_call", ["read_file"], ["odd"])


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--dialect", "nope"], "There is no dialect 'nope'"),
        (["--dialect", "tool_call", "--xml"], "leave out --provider and --xml"),
        (["--dialect", "tool_call", "--provider", "openai"], "leave out --provider and --xml"),
    ],
)
def test_bad_usage_is_one_sentence_and_exit_2(args: list[str], sentence: str) -> None:
    result = run(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert sentence in result.stderr


@pytest.mark.requirement("A7")
@pytest.mark.requirement("A8")
@pytest.mark.parametrize(
    ("args", "dialect"),
    [
        (["--provider", "OpenAI"], "openai_json"),
        (["--provider", "gemini"], "gemini_json"),
        (["--provider", "other"], "default_json"),
        (["--xml"], "autobyteus_xml"),
        (["--provider", "openai", "--xml"], "autobyteus_xml"),
    ],
)
def test_the_provider_chooses_the_dialect(args: list[str], dialect: str) -> None:
    assert json.loads(run(*args, "--json").stdout)["dialect"] == dialect


@pytest.mark.requirement("A11", "T31")
@pytest.mark.parametrize("dialect", dialects.names())
def test_every_dialect_has_a_prompt_and_tells_what_its_tools_cost(dialect: str) -> None:
    value = json.loads(run("--dialect", dialect, "--json").stdout)
    assert (value["dialect"], list(value["skipped"])) == (dialect, ["odd"])
    assert value["tools"]["read_file"] > len("read_file")
    assert value["prompt"] == dialects.get(dialect).system_prompt([GOOD])
    assert "read_file" in value["prompt"]


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TABFERRY_CONFIG_DIR", str(tmp_path))
    return tmp_path / "config.toml"


@pytest.mark.requirement("A8")
def test_configuration_and_team_choose_the_dialect_too(config: Path) -> None:
    config.write_text('dialect = "forge"\n[teams.a]\ndialect = "cogency"', encoding="utf-8")
    assert json.loads(run("--json").stdout)["dialect"] == "forge"
    assert json.loads(run("--json", "--team", "a").stdout)["dialect"] == "cogency"
    assert run("--team", "b").exit_code == 2


@pytest.mark.requirement("A15")
@pytest.mark.parametrize("dialect", dialects.names())
def test_the_users_own_prompt_is_filled_in(config: Path, dialect: str) -> None:
    config.write_text('system_prompt = "Be brief.\\n{{ tools }}\\nEnd."', encoding="utf-8")
    text = run("--dialect", dialect).stdout
    assert text.startswith("Be brief.\n")
    assert "read_file" in text
    assert "{{ tools }}" not in text


@pytest.mark.requirement("F33")
@pytest.mark.parametrize(("dialect", "shown"), [("forge", True), ("tool_call", False)])
def test_the_tools_that_end_a_task_are_shown_where_they_are_needed(
    monkeypatch: pytest.MonkeyPatch, dialect: str, shown: bool
) -> None:
    monkeypatch.undo()
    assert ("task_completion" in json.loads(run("--dialect", dialect, "--json").stdout)["tools"]) is shown
