from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints

import pytest

from bridge.protocol import Dialect, ResponseParser, UnknownDialect, dialects
from bridge.protocol.dialects.tool_call import ToolCallDialect


class Toy(ToolCallDialect):
    name = "toy"


TOY = Toy()
NOT_A_DIALECT = 1


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three entry points as an installed package would have them."""
    targets = {"toy": "TOY", "tool_call": "TOY", "wrong": "NOT_A_DIALECT", "absent": "NOTHING"}
    points = EntryPoints(
        EntryPoint(name, f"{__name__}:{value}", dialects.ENTRY_POINTS) for name, value in targets.items()
    )
    monkeypatch.setattr(dialects, "_entry_points", lambda: points)
    dialects.get.cache_clear()


@pytest.fixture(autouse=True)
def fresh() -> None:
    dialects.get.cache_clear()


def test_the_default() -> None:
    assert ResponseParser().dialect is dialects.get("tool_call")
    assert "tool_call" in dialects.names()
    assert dialects.get("tool_call").closed_block_is_final


@pytest.mark.parametrize("name", ["cogency", "openai_json", "yaml_style", "auto"])
def test_a_planned_dialect_is_said_to_be_absent(name: str) -> None:
    if name in dialects.names():
        pytest.skip("it is here by now")
    with pytest.raises(UnknownDialect, match=f"'{name}' is not available in this version; there is: .*tool_call"):
        dialects.get(name)


@pytest.mark.parametrize("name", ["", "TOOL_CALL", "../tool_call", "os"])
def test_an_unknown_dialect_names_the_known(name: str) -> None:
    with pytest.raises(UnknownDialect, match=r"There is no dialect .*there is: .*tool_call"):
        ResponseParser(name)


@pytest.mark.usefixtures("installed")
def test_entry_points_add_and_never_replace() -> None:
    assert isinstance(dialects.get("toy"), Dialect)
    assert ResponseParser("toy").parse('<TOOL_CALL>{"tool":"a","args":{}}</TOOL_CALL>').kind == "tool_calls"
    assert dialects.get("tool_call").name == "tool_call"
    assert {"toy", "tool_call"} <= set(dialects.names())


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(("name", "message"), [("wrong", "is no Dialect"), ("absent", "cannot be loaded")])
def test_a_bad_entry_point_is_a_sentence(name: str, message: str) -> None:
    with pytest.raises(UnknownDialect, match=message):
        dialects.get(name)


@pytest.mark.requirement("A7")
@pytest.mark.parametrize(
    ("provider", "name"),
    [
        *((each, "openai_json") for each in ("openai", "MISTRAL", "DeepSeek", "grok")),
        ("Gemini", "gemini_json"),
        ("ANTHROPIC", "autobyteus_xml"),
        *((each, "default_json") for each in (None, "", "kimi", "ollama", "QWEN", "nobody")),
    ],
)
def test_the_provider_table(provider: str | None, name: str) -> None:
    assert dialects.for_provider(provider) == name


@pytest.mark.requirement("A8")
@pytest.mark.parametrize("provider", [None, "openai", "gemini", "anthropic", "kimi"])
def test_xml_overrides_the_provider(provider: str | None) -> None:
    assert dialects.for_provider(provider, xml=True) == "autobyteus_xml"
