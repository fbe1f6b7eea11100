from __future__ import annotations

from typing import Any

import pytest

from tool_manager import RegistrationError, ToolCall, ToolManager, builtin_specs

NAMES = ["task_completion", "ask_question", "converse"]


async def run(manager: ToolManager, name: str, **args: Any) -> tuple[bool, Any, str | None]:
    result = await manager.execute(ToolCall.of(name, args))
    return result.success, result.data, result.error


@pytest.mark.requirement("F5")
@pytest.mark.parametrize(
    ("name", "args", "text"),
    [
        ("task_completion", {"result": "Task completed successfully!"}, "Task completed successfully!"),
        ("converse", {"message": " Hello! "}, " Hello! "),
        ("ask_question", {"question": "Which?"}, "Which?"),
        ("ask_question", {"question": "Which?", "suggestions": []}, "Which?"),
        (
            "ask_question",
            {"question": "Which?", "suggestions": ["this", "that"]},
            "Which?\n\nSuggested answers:\n1. this\n2. that",
        ),
    ],
)
async def test_the_result_is_what_the_tool_says(
    manager: ToolManager, name: str, args: dict[str, Any], text: str
) -> None:
    assert await run(manager, name, **args) == (True, text, None)


@pytest.mark.requirement("F5")
@pytest.mark.parametrize("text", ["", " \n"])
@pytest.mark.parametrize(("name", "key"), [*zip(NAMES, ["result", "question", "message"], strict=True)])
async def test_nothing_said_is_an_error(manager: ToolManager, name: str, key: str, text: str) -> None:
    assert await run(manager, name, **{key: text}) == (False, None, f"{key} cannot be empty")


@pytest.mark.requirement("F3")
async def test_more_than_four_suggestions_are_refused(manager: ToolManager) -> None:
    success, _, error = await run(manager, "ask_question", question="?", suggestions=["a"] * 5)
    assert not success
    assert error is not None
    assert "maxItems" in error


@pytest.mark.requirement("F3")
@pytest.mark.parametrize("name", NAMES)
def test_they_are_always_there_and_cannot_be_overridden(manager: ToolManager, name: str) -> None:
    definition = manager.tool(name)
    assert definition is not None
    assert definition.loop_breaking
    entry = {"name": name, "description": "", "parameters": definition.parameters, "handler": lambda: None}
    with pytest.raises(RegistrationError, match=f"^cannot override built-in tool: {name}$"):
        manager.register_tool(entry, replace=True)


@pytest.mark.requirement("F33")
def test_they_are_hidden_yet_known(manager: ToolManager) -> None:
    assert not {spec.name for spec in [*manager.specs(), *builtin_specs()]} & set(NAMES)
    assert {spec.name for spec in manager.specs(hidden=True)} >= set(NAMES)
    assert {spec.name for spec in builtin_specs(hidden=True)} >= set(NAMES)
