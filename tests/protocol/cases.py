"""Cases as data: `sample_cases.jsonl` came with the requirements, `own_cases.jsonl` is ours in the same form.

A case names its requirements itself (`requirements`), or `case_requirements.toml` does. Where a case allows several
outcomes, `expect` is the one that is asked for, unless that file settles it otherwise; `accept` is not read.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from bridge.protocol import ParsedReply, dialects

Case: TypeAlias = dict[str, Any]

DATA = Path(__file__).parent / "data"
FILES = ("sample_cases.jsonl", "own_cases.jsonl")
SETTLED = ("kind", "calls")
NAMES = {
    "toolcall": "tool_call",
    "autobyteus-openai": "openai_json",
    "autobyteus-gemini": "gemini_json",
    "autobyteus-default": "default_json",
    "autobyteus-xml": "autobyteus_xml",
    "forge-xml": "forge",
    "assistant-api": "assistant_api",
    "yaml": "yaml_style",
    "funcall": "function_style",
    "xml-arg": "xml_style",
}
"""The cases' names of dialects that are not ours."""


def load() -> list[Case]:
    """Every case, with its `requirements` and what was settled."""
    lines = [line for name in FILES for line in (DATA / name).read_text("utf-8").splitlines()]
    known: dict[str, dict[str, Any]] = tomllib.loads((DATA / "case_requirements.toml").read_text("utf-8"))
    cases = [{"requirements": known["requirements"].get(case["id"], []), **case} for case in map(json.loads, lines)]
    for case in cases:
        case["expect"] |= {key: known["settled"].get(case["id"], {}).get(key, case["expect"][key]) for key in SETTLED}
    return cases


CASES = load()


def of(*levels: str) -> list[Any]:
    """The cases of `levels` as parameters; each marks its test with its requirements."""
    return [
        pytest.param(case, id=case["id"], marks=pytest.mark.requirement(*case["requirements"]))
        for case in CASES
        if case["level"] in levels
    ]


def dialect_of(case: Case) -> str:
    """The name of the dialect that reads `case`."""
    if case["dialect"] == "autobyteus-provider":
        return dialects.for_provider(case["provider"], case["use_xml_tool_format"])
    name: str = case["dialect"]
    return NAMES.get(name, name)


def expanded(case: Case, value: Any) -> Any:
    """`value` with the placeholders of the case's `repeat` filled in."""
    repeats = case.get("repeat", [])
    for each in [repeats] if isinstance(repeats, dict) else repeats:
        if isinstance(value, str):
            value = value.replace(each["placeholder"], each["unit"] * each["count"])
    if isinstance(value, dict):
        return {key: expanded(case, item) for key, item in value.items()}
    return [expanded(case, item) for item in value] if isinstance(value, list) else value


def exact(value: Any) -> str:
    """`value` so that equal means equal types too: 1 is neither "1" nor true nor 1.0."""
    return json.dumps(value, sort_keys=True)


def plain_calls(reply: ParsedReply) -> list[dict[str, Any]]:
    return [{"name": call.name, "args": call.args} for call in reply.calls]


def check_calls(case: Case, calls: list[dict[str, Any]]) -> None:
    """`calls` are those that `case` expects."""
    expect, compare = expanded(case, case["expect"]), case.get("compare")
    if compare == "count_only":
        assert len(calls) == expect["count"]
    elif compare == "names_only":
        assert [call["name"] for call in calls] == [call["name"] for call in expect["calls"]]
    elif compare != "no_crash":
        assert exact(calls) == exact(expect["calls"])
