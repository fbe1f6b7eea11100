"""The one source of messages, as other languages read it; and the protocol page, replayed."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import bridge.relay
from bridge.relay import Announcement
from bridge.relay.errors import CODES
from bridge.relay.methods import METHODS, NOTIFICATIONS
from bridge.relay.schema import schema
from tests.relay.harness import FakeService

PAGE = Path(__file__).parents[2] / "docs" / "relay.md"


def test_public_names() -> None:
    assert sorted(bridge.relay.__all__) == [
        "Announcement",
        "AnswerOutcome",
        "ApprovalDecision",
        "Ephemeral",
        "EphemeralHandler",
        "Notification",
        "PendingApproval",
        "Relay",
        "RelayClient",
        "RelayClosed",
        "RelayError",
        "Service",
        "TaskRequest",
        "TaskStarted",
        "find_live",
    ]
    assert all(hasattr(bridge.relay, name) for name in bridge.relay.__all__)


def test_the_command_prints_the_same_every_time() -> None:
    command = [sys.executable, "-m", "bridge.relay.schema"]
    printed = {subprocess.run(command, capture_output=True, check=True, timeout=60).stdout for _ in range(2)}
    assert len(printed) == 1
    assert json.loads(printed.pop()) == schema()


def test_every_reference_is_defined() -> None:
    text = json.dumps(schema())
    names = set(re.findall(r'"#/\$defs/(\w+)"', text))
    assert names <= set(schema()["$defs"])
    assert {method["params"]["$ref"] for method in schema()["methods"].values()}
    assert set(schema()["notifications"]) == {"event", "delta"}


def test_events_on_the_wire_are_events_of_the_journal() -> None:
    from dataclasses import fields

    from bridge.journal import Event
    from bridge.relay.service import PendingApproval

    assert set(NOTIFICATIONS["event"].model_fields) == {field.name for field in fields(Event)}
    approval = schema()["$defs"]["Approval"]["properties"]
    assert set(approval) == {field.name for field in fields(PendingApproval)}


def test_the_page_names_every_method_and_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in text for name in METHODS)
    assert all(f"`{code}`" in text for code in CODES.values())
    for name, method in METHODS.items():
        (row,) = (line for line in text.splitlines() if line.startswith(f"| `{name}` |"))
        assert all(field in row for field in (*method.params.model_fields, *method.result.model_fields)), name


async def test_the_pages_transcript_is_true(bridge: Announcement, service: FakeService, workspace: Path) -> None:
    """Every `→` line is sent, every `←` line must come back; `…` stands for what differs from run to run."""
    from websockets.asyncio.client import connect

    block = PAGE.read_text(encoding="utf-8").split("```transcript\n")[1].split("```")[0]
    headers = {"Authorization": f"Bearer {bridge.token}"}
    async with connect(bridge.url, additional_headers=headers, proxy=None) as socket:
        for direction, lines in itertools.groupby(block.splitlines(), key=lambda line: line[0]):
            messages = [line[1:].strip() for line in lines]
            if direction == "→":
                await socket.send("".join(messages))
            else:
                received = [json.loads(await socket.recv()) for _ in messages]
                expected = [json.loads(message) for message in messages]
                # An event may overtake the answer that it belongs to.
                assert all(any(alike(each, other) for other in received) for each in expected), received


def alike(expected: Any, actual: Any) -> bool:
    if expected == "…":
        return actual is not None
    if isinstance(expected, dict) and isinstance(actual, dict):
        return set(expected) == set(actual) and all(alike(value, actual[key]) for key, value in expected.items())
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(alike, expected, actual))
    return bool(expected == actual)
