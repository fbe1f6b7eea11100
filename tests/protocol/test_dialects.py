from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import pytest

from bridge.protocol import ResponseParser, ToolCall, ToolResult, UnknownDialect, dialects
from tool_manager.models import ToolSpec

TOY = """
from bridge.protocol.tagged.blocks import BlockStream
from bridge.protocol.dialect import Dialect
from bridge.protocol.dialects.tool_call import read_call
from bridge.protocol import wire

class Toy(Dialect):
    name = "toy"
    def stream(self, *, multi=False, tools=None):
        return BlockStream("TOY", read_call, multi=multi)
    def format_call(self, call):
        return "<TOY>" + wire.one_line({"tool": call.name, "args": call.args}) + "</TOY>"
    def result_message(self, call, result):
        return "TOY: " + wire.one_line(result.data)
    def instructions(self, names):
        return "Write " + self._call("name", {})

DIALECT = Toy()
NOT_A_DIALECT = 1
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution with entry points, as a package manager leaves it."""
    targets = {"toy": "DIALECT", "tool_call": "DIALECT", "wrong": "NOT_A_DIALECT", "absent": "NOTHING"}
    lines = [f"{name} = tabferry_toy:{value}" for name, value in targets.items()]
    info = tmp_path / "tabferry_toy-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tabferry-toy\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("\n".join([f"[{dialects.ENTRY_POINTS}]", *lines, ""]), "utf-8")
    (tmp_path / "tabferry_toy.py").write_text(TOY, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "tabferry_toy", raising=False)


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    dialects.get.cache_clear()
    yield
    dialects.get.cache_clear()


def test_the_default() -> None:
    assert ResponseParser().dialect is dialects.get("tool_call")
    assert "tool_call" in dialects.names()
    assert dialects.get("tool_call").closed_block_is_final


def test_all_dialects_of_the_design_are_here() -> None:
    assert dialects.names() == [
        "assistant_api", "auto", "autobyteus_xml", "cogency", "default_json", "forge", "function_style", "gemini_json",
        "openai_json", "tool_call", "xml_style", "yaml_style",
    ]  # fmt: skip
    assert all(dialects.get(name).name == name for name in dialects.names())


@pytest.mark.parametrize("name", ["", "TOOL_CALL", "../tool_call", "os"])
def test_an_unknown_dialect_names_the_known(name: str) -> None:
    with pytest.raises(UnknownDialect, match=r"There is no dialect .*there is: .*tool_call"):
        ResponseParser(name)


@pytest.mark.requirement("A39")
@pytest.mark.usefixtures("installed")
def test_a_dialect_from_an_entry_point_reads_writes_and_prompts() -> None:
    toy, call = dialects.get("toy"), ToolCall.of("read_file", {"path": "a"})
    assert {"toy", "tool_call"} <= set(dialects.names())
    assert ResponseParser("toy").parse(toy.format_call(call)).calls == (call,)
    assert toy.result_message(call, ToolResult.ok({"a": "<TOY>"})) == 'TOY: {"a": "\\u003cTOY>"}'
    prompt = toy.system_prompt([ToolSpec("read_file", "Reads")])
    assert "- read_file(): Reads" in prompt
    assert '<TOY>{"tool": "name", "args": {}}</TOY>' in prompt


@pytest.mark.usefixtures("installed")
def test_entry_points_never_replace_ours() -> None:
    assert dialects.get("tool_call").name == "tool_call"
    assert dialects.names().count("tool_call") == 1


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
        (" OpenAI\n", "openai_json"),
        *((each, "default_json") for each in (None, "", "kimi", "ollama", "QWEN", "nobody")),
    ],
)
def test_the_provider_table(provider: str | None, name: str) -> None:
    assert dialects.for_provider(provider) == name


class Provider(Enum):
    OPENAI = "openai"
    GEMINI = 2
    KIMI = "kimi"


@pytest.mark.requirement("A7")
def test_a_provider_may_be_a_member_of_an_enumeration() -> None:
    found = [dialects.for_provider(provider) for provider in Provider]
    assert found == ["openai_json", "gemini_json", "default_json"]


def test_a_parser_takes_a_dialect_as_well_as_its_name() -> None:
    forge = dialects.get("forge")
    assert ResponseParser(forge).dialect is forge
    assert ResponseParser(forge).parse(forge.format_call(ToolCall.of("x", {}))).calls == (ToolCall.of("x", {}),)


@pytest.mark.requirement("A8")
@pytest.mark.parametrize("provider", [None, "openai", "gemini", "anthropic", "kimi"])
def test_xml_overrides_the_provider(provider: str | None) -> None:
    assert dialects.for_provider(provider, xml=True) == "autobyteus_xml"
