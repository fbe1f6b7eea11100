"""What fuzzing and properties once found: `data/regressions/*.json`, each `{"dialect", "reply", "note"}`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.protocol.invariants import check

FILES = sorted((Path(__file__).parent / "data" / "regressions").glob("*.json"))


@pytest.mark.requirement("C27")
@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
@pytest.mark.parametrize("cuts", [(1,), (2, 3), (7,), (10_000,)])
def test_what_once_failed(file: Path, cuts: tuple[int, ...]) -> None:
    found = json.loads(file.read_text("utf-8"))
    for multi in (False, True):
        check(found["dialect"], found["reply"], cuts, multi=multi)
