from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bridge.config import config_file, load_settings, workspace_notice
from bridge.errors import UsageError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TABFERRY_CONFIG_DIR", str(tmp_path))
    return tmp_path


def write(text: str) -> None:
    config_file().write_text(text, encoding="utf-8")


def test_defaults() -> None:
    settings = load_settings()
    assert (settings.site, settings.dialect, settings.approve, settings.mode) == ("demo", "tool_call", "ask", "act")
    assert (settings.max_iterations, settings.headless, settings.url) == (50, True, None)


def test_flags_over_environment_over_file(monkeypatch: pytest.MonkeyPatch) -> None:
    write('site = "file"\napprove = "edits"\nmax_iterations = 7\n')
    assert load_settings().site == "file"
    monkeypatch.setenv("TABFERRY_SITE", "environment")
    monkeypatch.setenv("TABFERRY_MAX_ITERATIONS", "9")
    settings = load_settings(site="flag", approve=None)
    assert (settings.site, settings.max_iterations, settings.approve) == ("flag", 9, "edits")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('sight = "demo"', ["config.toml", "'sight'", "unknown setting", "site"]),
        ('approve = "always"', ["config.toml", "'approve'", "'always'"]),
        ("max_iterations = 0", ["config.toml", "'max_iterations'"]),
        ('headless = "perhaps"', ["config.toml", "'headless'"]),
        ("site = \n", ["config.toml", "not valid TOML", "line 1"]),
    ],
)
def test_a_bad_file_is_one_sentence_that_names_file_and_key(text: str, parts: list[str]) -> None:
    write(text)
    with pytest.raises(UsageError) as caught:
        load_settings()
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert [part for part in parts if part not in sentence] == []


def test_a_file_that_is_not_text_is_one_sentence() -> None:
    config_file().write_bytes(b"site = '\xff'")
    with pytest.raises(UsageError, match=r"config\.toml"):
        load_settings()


def test_a_bad_variable_and_a_bad_flag_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"^--max-iterations: .*0"):
        load_settings(max_iterations=0)
    monkeypatch.setenv("TABFERRY_APPROVE", "always")
    with pytest.raises(UsageError, match=r"^TABFERRY_APPROVE: .*'always'"):
        load_settings()


def test_other_variables_of_ours_are_no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABFERRY_STATE_DIR", "/somewhere")
    assert load_settings().site == "demo"


def test_settings_in_a_workspace_are_named_and_never_read(tmp_path: Path) -> None:
    assert workspace_notice(tmp_path / "ws") is None
    ours = tmp_path / "ws" / ".tabferry"
    ours.mkdir(parents=True)
    (ours / "config.toml").write_text('approve = "auto"\nsite = "evil"\n', encoding="utf-8")
    sentence = workspace_notice(tmp_path / "ws")
    assert sentence is not None
    assert "Ignored" in sentence
    assert load_settings().approve == "ask"


@pytest.mark.requirement("A7", "A8")
@pytest.mark.parametrize(
    ("text", "flags", "dialect"),
    [
        ("", {}, "tool_call"),
        ('dialect = "cogency"', {}, "cogency"),
        ('provider = "OpenAI"', {}, "openai_json"),
        ('provider = "OpenAI"\nxml = true', {}, "autobyteus_xml"),
        ('dialect = "cogency"', {"provider": "gemini"}, "gemini_json"),
        ('dialect = "cogency"', {"xml": True}, "autobyteus_xml"),
        ('provider = "openai"', {"dialect": "forge"}, "forge"),
        ('dialect = "cogency"\nteam = "a"\n[teams.a]\ndialect = "forge"', {}, "forge"),
        ('dialect = "cogency"\n[teams.a]\ndialect = "forge"', {}, "cogency"),
        ('dialect = "cogency"\n[teams.a]\ndialect = "forge"', {"team": "a"}, "forge"),
        ('[teams.a]\ndialect = "forge"', {"team": "a", "dialect": "cogency"}, "cogency"),
        ('dialect = "cogency"\n[teams.a]\nxml = true', {"team": "a"}, "autobyteus_xml"),
        ("[teams.a]\nxml = true", {"team": "a", "provider": "openai"}, "autobyteus_xml"),
        ("[teams.a]\nxml = false", {"team": "a", "provider": "openai", "xml": True}, "openai_json"),
        ('[teams.a]\nprovider = "gemini"', {"team": "a"}, "gemini_json"),
    ],
)
def test_flags_over_team_over_file_but_a_teams_xml_over_all(text: str, flags: dict[str, Any], dialect: str) -> None:
    write(text)
    settings = load_settings(**flags)
    assert (settings.dialect, settings.choices.dialect) == (dialect, dialect)


@pytest.mark.requirement("A8")
def test_a_team_is_chosen_by_variable_too(monkeypatch: pytest.MonkeyPatch) -> None:
    write("[teams.a]\nxml = true")
    monkeypatch.setenv("TABFERRY_TEAM", "a")
    assert load_settings().choices.team_xml is True


@pytest.mark.parametrize(
    ("text", "flags", "parts"),
    [
        ("", {"team": "a"}, ["There is no team 'a' in", "config.toml", "no [teams.NAME]"]),
        ("[teams.b]\n[teams.a]", {"team": "c"}, ["There is no team 'c'", "there is: a, b."]),
        ('[teams.a]\ndialekt = "forge"', {}, ["'teams.a.dialekt'", "unknown setting", "dialect, provider, xml."]),
        ("[teams.a]\nxml = 7", {}, ["'teams.a.xml'"]),
        ('dialect = "forge"\nxml = true', {}, ["config.toml", "leave out provider and xml"]),
        ('team = "a"\n[teams.a]\ndialect = "forge"\nprovider = "openai"', {}, ["[teams.a]", "leave out provider"]),
        ("", {"dialect": "forge", "xml": True}, ["--dialect names the dialect already"]),
    ],
)
def test_a_bad_team_or_wish_is_one_sentence(text: str, flags: dict[str, Any], parts: list[str]) -> None:
    write(text)
    with pytest.raises(UsageError) as caught:
        load_settings(**flags)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert [part for part in parts if part not in sentence] == []


def test_choices_are_all_that_settings_say() -> None:
    write('multi = true\nsystem_prompt = "Tools: {{tools}}"\nheadless = false\nmax_iterations = 3')
    choices = load_settings(site="s").choices
    assert (choices.site, choices.multi, choices.headless, choices.max_iterations) == ("s", True, False, 3)
    assert (choices.system_prompt, choices.team_xml) == ("Tools: {{tools}}", None)
