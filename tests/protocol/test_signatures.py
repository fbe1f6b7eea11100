from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from bridge.protocol.manifest import describe
from bridge.protocol.signatures import tool_line
from tool_manager.models import ToolSpec


def spec(properties: Any, required: Any = (), name: str = "t") -> ToolSpec:
    return ToolSpec(name, "Does it", {"type": "object", "properties": properties, "required": list(required)})


@pytest.mark.requirement("T31")
@pytest.mark.requirement("T32")
def test_the_line_of_the_document() -> None:
    tool = ToolSpec(
        "search_code",
        "Search code in codebase",
        {"properties": {"query": {"type": "string"}, "options": {"type": "object"}}, "required": ["query"]},
    )
    assert tool_line(tool) == "- search_code(query: string, options?: object): Search code in codebase"
    assert tool_line(ToolSpec("now", "Time\n  of day")) == "- now(): Time of day"


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ({"type": "array", "items": {"type": "string"}}, "string[]"),
        ({"type": "array", "items": {"type": ["string", "null"]}}, "(string|null)[]"),
        ({"type": "array"}, "array"),
        ({"enum": ["a", 1, None]}, '"a"|1|null'),
        ({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}, "string|string[]"),
        ({"type": ["string", "integer"]}, "string|integer"),
        ({}, "any"),
        (True, "any"),
        ({"type": "object", "properties": {"regex": {"type": "boolean"}}}, "object{regex?: boolean}"),
        (
            {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {}}}}, "required": ["a"]},
            "object{a: object}",
        ),
    ],
)
def test_types(schema: Any, shown: str) -> None:
    assert tool_line(spec({"p": schema}, ["p"])) == f"- t(p: {shown}): Does it"


@pytest.mark.requirement("A14")
@pytest.mark.parametrize(
    "broken",
    [
        ToolSpec("bad", "x", json.loads("[]")),
        spec([], name="bad"),
        spec({"p": 7}, name="bad"),
        spec({"p": {"type": 7}}, name="bad"),
        spec({"p": {"type": [7]}}, name="bad"),
        spec({"p": {"enum": 3}}, name="bad"),
        ToolSpec("bad", "x", {"properties": {}, "required": "p"}),
        spec({"p": {"enum": [object()]}}, name="bad"),
        ToolSpec(" ", "x"),
    ],
)
def test_a_tool_that_cannot_be_described_is_skipped_and_the_others_stay(
    broken: ToolSpec, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        found = describe([spec({}, name="a"), broken, spec({}, name="b")], tool_line)
    assert list(found.texts) == ["a", "b"]
    assert list(found.skipped) == [broken.name]
    assert found.skipped[broken.name]
    assert "left out" in caplog.text
