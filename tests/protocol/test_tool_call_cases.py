"""The sample cases of the protocol, as data (`data/protocol_cases.jsonl`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bridge.protocol import ParsedReply, ResponseParser

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "protocol_cases.jsonl").read_text("utf-8").splitlines()
]


def expanded(case: dict[str, Any], value: Any) -> Any:
    """`value` with the placeholders of the case's `repeat` filled in."""
    repeats = case.get("repeat", [])
    for each in [repeats] if isinstance(repeats, dict) else repeats:
        if isinstance(value, str):
            value = value.replace(each["placeholder"], each["unit"] * each["count"])
    if isinstance(value, dict):
        return {key: expanded(case, item) for key, item in value.items()}
    return [expanded(case, item) for item in value] if isinstance(value, list) else value


def outcome(reply: ParsedReply) -> tuple[str, str]:
    return reply.kind, json.dumps([{"name": call.name, "args": call.args} for call in reply.calls], sort_keys=True)


@pytest.mark.requirement("T1")
@pytest.mark.requirement("T9")
@pytest.mark.requirement("X1")
@pytest.mark.requirement("X4")
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_sample_case(case: dict[str, Any]) -> None:
    reply_text, expect = expanded(case, case["reply"]), expanded(case, case["expect"])
    parser = ResponseParser("tool_call", multi=case.get("options", {}).get("multi", False))
    reply = parser.parse(reply_text)
    # no alternative of `accept`: the settlements in the requirements leave one reading
    assert outcome(reply) == (expect["kind"], json.dumps(expect["calls"], sort_keys=True))
    if reply.kind == "text":
        assert reply.text == reply_text
    if "reasoning" in expect:
        assert reply.calls[0].reasoning == expect["reasoning"]


def test_there_are_cases() -> None:
    assert len(CASES) > 20
