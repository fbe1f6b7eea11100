from __future__ import annotations

from pathlib import Path

import pytest

from bridge.protocol import PromptError, ResponseParser, dialects, prompts
from tool_manager.models import JsonObject, ToolSpec


def schema(required: list[str], **optional: str) -> JsonObject:
    properties = {name: {"type": "string"} for name in required} | {n: {"type": t} for n, t in optional.items()}
    return {"type": "object", "properties": properties, "required": required}


FIVE = [
    ToolSpec("read_file", "Read content of a file", schema(["path"], start_line="integer", end_line="integer")),
    ToolSpec("write_file", "Write content to a file", schema(["path", "content"])),
    ToolSpec("list_files", "List files in directory", schema(["directory"], pattern="string")),
    ToolSpec("search_code", "Search code in codebase", schema(["query"], options="object")),
    ToolSpec("get_diagnostics", "Get errors and warnings", schema([], file="string")),
]


def prompt(tools: list[ToolSpec]) -> str:
    return dialects.get("tool_call").system_prompt(tools)


@pytest.mark.requirement("T31")
def test_the_parts_in_order() -> None:
    text = prompt(FIVE)
    parts = [
        "You are an AI coding assistant with access to these tools:",
        "AVAILABLE TOOLS:\n- read_file(path: string, start_line?: integer, end_line?: integer): Read content of a file",
        "- get_diagnostics(file?: string): Get errors and warnings",
        "TOOL CALLING PROTOCOL:",
        "IMPORTANT RULES:\n1. Use ONLY ONE tool call per response",
        "\n6. When you have the final answer, respond normally without any tags",
        "EXAMPLES:",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "\n7. " not in text


@pytest.mark.requirement("T31")
def test_it_is_short_and_its_examples_are_calls() -> None:
    text = prompt(FIVE)
    assert len(text) < 4_000
    calls = ResponseParser("tool_call", multi=True).parse(text).calls
    assert [call.name for call in calls] == ["tool_name", "read_file", "write_file"]
    assert text.count("\n````json\n<TOOL_CALL>\n{") == 3


def test_examples_only_of_tools_that_are_there() -> None:
    text = prompt([ToolSpec("now", "Time")])
    assert "EXAMPLES" not in text
    assert "read_file" not in text
    assert "(No tools available.)" in prompt([])


@pytest.mark.requirement("A15")
@pytest.mark.parametrize("payload", ["{{ 7*7 }}", "{% for x in y %}", "{# gone #}", "<b>&amp;", "{{ ''.__class__ }}"])
def test_text_of_a_tool_is_never_rendered(payload: str) -> None:
    assert f"- t(): {payload}\n" in prompt([ToolSpec("t", payload)])


def test_templates_are_ours_and_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "system.j2").write_text("evil", "utf-8")
    monkeypatch.chdir(tmp_path)
    assert prompts.folder() != tmp_path / "prompts"
    assert "evil" not in prompt(FIVE)


@pytest.mark.parametrize(("place", "marker"), [("bridge/prompts", False), ("prompts", True)])
def test_where_templates_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, marker: bool) -> None:
    monkeypatch.setattr(prompts, "_PACKAGE", tmp_path / "bridge")
    with pytest.raises(PromptError, match="missing"):
        prompts.folder()
    (tmp_path / place).mkdir(parents=True)
    (tmp_path / place / "system.j2").write_text("x", "utf-8")
    if marker:  # beside an installed package, a folder `prompts` is somebody else's
        with pytest.raises(PromptError, match="missing"):
            prompts.folder()
        (tmp_path / "pyproject.toml").touch()
    assert prompts.folder() == tmp_path / place


@pytest.mark.parametrize("body", ["{{ missing }}", "{% broken", "{{ ''.__class__.__mro__ }}", "{{ items.append(1) }}"])
def test_a_broken_template_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    (tmp_path / "system.j2").write_text(body, "utf-8")
    monkeypatch.setattr(prompts, "folder", lambda: tmp_path)
    with pytest.raises(PromptError, match=r"system\.j2 cannot be rendered"):
        prompts.render("system.j2", items=[])
