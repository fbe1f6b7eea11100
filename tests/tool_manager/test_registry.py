from __future__ import annotations

from typing import Annotated, Any, Literal, Optional

import pytest

from tool_manager import RegistrationError, ToolCall, ToolDefinition, ToolManager, builtin_specs, tool
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


@pytest.mark.requirement("T37")
@pytest.mark.parametrize("parameters", [{}, {"properties": {"message": {"type": "string"}}}])
async def test_a_schema_that_does_not_say_its_type_is_completed(
    manager: ToolManager, parameters: dict[str, Any]
) -> None:
    manager.register_tool({**entry(), "parameters": parameters, "handler": lambda: "done"})
    definition = manager.tool("echo")
    assert definition is not None
    assert definition.parameters == {"type": "object", "properties": {}, **parameters}
    assert (await manager.execute(ToolCall.of("echo", {}))).data == "done"


@pytest.mark.requirement("T37")
@pytest.mark.parametrize(
    ("handler", "args", "data"),
    [
        (lambda: "none", {}, "none"),
        (lambda args: args, {"a": 1, "b": [2]}, {"a": 1, "b": [2]}),
        (lambda a, b=2: [a, b], {"a": 1}, [1, 2]),
        (lambda a, *, b: [a, b], {"a": 1, "b": 3}, [1, 3]),
        (lambda a, **more: [a, more], {"a": 1, "c": 4}, [1, {"c": 4}]),
    ],
)
async def test_a_handler_without_hints_needs_no_schema(
    manager: ToolManager, handler: Any, args: dict[str, Any], data: Any
) -> None:
    manager.register_tool({"name": "echo", "description": "Echo.", "handler": handler})
    assert (await manager.execute(ToolCall.of("echo", args))).data == data


@pytest.mark.requirement("T37")
async def test_without_a_schema_a_parameter_without_a_default_is_required(manager: ToolManager) -> None:
    manager.register_tool({"name": "echo", "handler": lambda a, b=2: [a, b]})
    assert (await manager.execute(ToolCall.of("echo", {}))).error == "Missing required parameter: a"


def take_all(params, /):  # type: ignore[no-untyped-def]
    return params


async def take_all_later(_args: dict[str, Any]) -> Any:
    return _args


@pytest.mark.requirement("T37")
@pytest.mark.parametrize("handler", [lambda a: a, lambda params: params, take_all, take_all_later])
async def test_a_handler_of_one_parameter_is_given_the_whole_object(manager: ToolManager, handler: Any) -> None:
    manager.register_tool({**entry(), "handler": handler})
    assert (await manager.execute(ToolCall.of("echo", {"message": "hi"}))).data == {"message": "hi"}


@pytest.mark.requirement("T37")
@pytest.mark.parametrize("handler", [lambda message: message, lambda message="x": message])
async def test_a_handler_whose_parameter_is_a_property_is_given_its_value(manager: ToolManager, handler: Any) -> None:
    manager.register_tool({**entry(), "handler": handler})
    assert (await manager.execute(ToolCall.of("echo", {"message": "hi"}))).data == "hi"


async def test_an_optional_parameter_that_is_no_property_keeps_its_default(manager: ToolManager) -> None:
    manager.register_tool({**entry(), "handler": lambda loud=False: loud})
    assert (await manager.execute(ToolCall.of("echo", {"message": "hi"}))).data is False
