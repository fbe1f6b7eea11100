from __future__ import annotations

from typing import Annotated, Any, Literal, Optional

import pytest

from tool_manager import RegistrationError, ToolDefinition, ToolManager, builtin_specs, tool
from tool_manager.registry import definition_from
from tool_manager.schema import parameters_of


@pytest.mark.requirement("T33")
def test_the_schema_comes_from_type_hints() -> None:
    @tool(description="Find things.", cacheable=True)
    async def custom_search(
        query: Annotated[str, "what to find"],
        limit: int = 20,
        mode: Literal["fast", "slow"] = "fast",
        tags: list[str] | None = None,
        options: dict[str, Any] | None = None,
        ratio: Optional[float] = None,  # noqa: UP045 (the old spelling must work too)
        deep: bool = False,
    ) -> list[str]:
        return [query] * limit

    assert isinstance(custom_search, ToolDefinition)
    assert (custom_search.name, custom_search.description, custom_search.cacheable) == (
        "custom_search",
        "Find things.",
        True,
    )
    assert custom_search.parameters == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "what to find"},
            "limit": {"type": "integer", "default": 20},
            "mode": {"enum": ["fast", "slow"], "default": "fast"},
            "tags": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
            "options": {"type": ["object", "null"]},
            "ratio": {"type": ["number", "null"]},
            "deep": {"type": "boolean", "default": False},
        },
        "required": ["query"],
    }


async def test_a_decorated_function_can_still_be_called() -> None:
    @tool()
    async def double(value: int) -> int:
        """Twice the value.

        Not part of the description.
        """
        return 2 * value

    assert await double(4) == 8 and double.description == "Twice the value."


def untyped(value) -> None: ...  # type: ignore[no-untyped-def]
def odd(value: bytes) -> None: ...
def positional(value: int, /) -> None: ...


@pytest.mark.parametrize(
    ("function", "message"),
    [(untyped, "needs a type hint"), (odd, "no JSON form"), (positional, "passable by name")],
)
@pytest.mark.requirement("T33")
def test_what_cannot_become_a_schema_is_said(function: Any, message: str) -> None:
    with pytest.raises(RegistrationError, match=message):
        parameters_of(function)


def entry(name: str = "echo", **extra: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}
    return {"name": name, "description": "Echo.", "parameters": parameters, "handler": lambda message: message, **extra}


@pytest.mark.requirement("T37", "X10")
def test_duplicates_are_refused_unless_replaced(manager: ToolManager) -> None:
    manager.register_tool(entry())
    with pytest.raises(RegistrationError, match="exists already; pass replace=True"):
        manager.register_tool(entry())
    manager.register_tool(entry(description="Louder."), replace=True)
    assert [spec.description for spec in manager.specs() if spec.name == "echo"] == ["Louder."]
    manager.unregister("echo")
    assert manager.tool("echo") is None
    with pytest.raises(RegistrationError, match="No tool is named echo"):
        manager.unregister("echo")


@pytest.mark.requirement("X10")
@pytest.mark.parametrize("name", [spec.name for spec in builtin_specs()])
def test_built_in_tools_cannot_be_replaced_or_removed(manager: ToolManager, name: str) -> None:
    with pytest.raises(RegistrationError, match="built-in"):
        manager.register_tool(entry(name), replace=True)
    with pytest.raises(RegistrationError, match="built-in"):
        manager.unregister(name)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"name": "has space"}, "must be letters"),
        ({"handler": None}, "handler must be a function"),
        ({"parameters": {"type": "array"}}, '"type": "object"'),
        ({"parameters": {"type": "objekt"}}, "no valid JSON Schema"),
        ({"parameters": {"type": "object", "required": ["x"]}}, "'x' is not among the properties"),
        ({"effect": "boom"}, "effect must be"),
        ({"descripton": "x"}, "Unknown key 'descripton'"),
    ],
)
@pytest.mark.requirement("T33", "T37")
def test_a_bad_definition_says_what_to_change(manager: ToolManager, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(RegistrationError, match=message):
        manager.register_tool({**entry(), **changed})


def test_a_definition_needs_name_and_handler() -> None:
    with pytest.raises(RegistrationError, match="needs the key 'handler'"):
        definition_from({"name": "x"})


@pytest.mark.requirement("T32")
def test_the_five_tools_and_their_parameters() -> None:
    shapes = {spec.name: (list(spec.parameters["properties"]), spec.parameters["required"]) for spec in builtin_specs()}
    assert shapes == {
        "read_file": (["path", "start_line", "end_line"], ["path"]),
        "write_file": (["path", "content"], ["path", "content"]),
        "list_files": (["directory", "pattern", "depth", "offset"], ["directory"]),
        "search_code": (["query", "options"], ["query"]),
        "get_diagnostics": (["file"], []),
    }
