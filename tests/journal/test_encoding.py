"""Whatever happens can be recorded (T17, T27)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.journal import Journal
from bridge.journal.encoding import dumps, safe_data
from bridge.journal.limits import MAX_DEPTH


@dataclass
class Point:
    x: int
    y: float


cycle: dict[str, Any] = {}
cycle["self"] = cycle


@pytest.mark.requirement("T27")
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (1.5, 1.5),
        (float("inf"), "inf"),
        (float("nan"), "nan"),
        (2**53, 2**53),
        (2**53 + 1, hex(2**53 + 1)),
        pytest.param(-(10**5000), hex(-(10**5000)), id="huge"),
        ("\ud800x", "\\ud800x"),
        ("ä\x00\u2028", "ä\x00\u2028"),
        (b"\xffok", "\\xffok"),
        ((1, [2]), [1, [2]]),
        ({3, 1}, [1, 3]),
        ({1: 2, None: 3, "\udfff": 4}, {"1": 2, "null": 3, "\\udfff": 4}),
        (Point(1, float("-inf")), {"x": 1, "y": "-inf"}),
        (Path("/a"), "/a"),
    ],
)
def test_values(value: Any, expected: Any) -> None:
    assert safe_data(value) == expected
    assert json.loads(dumps(safe_data(value))) == expected


def test_depth_is_bounded() -> None:
    for value in (cycle, json.loads("[" * 500 + "]" * 500)):
        text = dumps(safe_data(value))
        assert f"deeper than {MAX_DEPTH}" in text


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    max_leaves=20,
)


@given(json_like)
def test_what_is_stored_is_what_is_read(value: Any) -> None:
    plain = safe_data(value)
    text = dumps(plain)
    assert json.loads(text) == plain
    assert safe_data(plain) == plain
    assert text.isascii()


@pytest.mark.requirement("T17")
async def test_the_returned_event_is_the_stored_one(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "journal.db")
    event = await journal.append(
        "x\ud800", session="s\ud800", call="c", data={"a": "\ud800", "n": float("inf"), "t": (1,)}
    )
    assert await journal.events() == [event]
    assert event.data == {"a": "\\ud800", "n": "inf", "t": [1]}
    await journal.close()
