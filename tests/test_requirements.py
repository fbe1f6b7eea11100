"""The list of requirements, the tests that name them and the cases that name them must agree, every way."""

from __future__ import annotations

import ast
import json
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent
DATA = TESTS / "protocol" / "data"
LAST = {"T": 58, "C": 38, "A": 40, "F": 36, "S": 20, "X": 22}
"""The numbers of each document's requirements, without a gap from 1."""


def listed() -> dict[str, dict[str, str]]:
    """Requirement id → what it asks, or why not here: for each of `covered`, `declined` and `later`."""
    tables: dict[str, dict[str, str]] = tomllib.loads((TESTS / "requirements.toml").read_text("utf-8"))
    return tables


def marks(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.requirement":
            yield from (arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))


def of_cases() -> Iterator[tuple[str, str]]:
    """Requirement id and case id."""
    mapping: dict[str, list[str]] = tomllib.loads((DATA / "case_requirements.toml").read_text("utf-8"))["requirements"]
    for name in ("sample_cases.jsonl", "own_cases.jsonl"):
        cases: list[dict[str, Any]] = [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]
        for case in cases:
            yield from ((id, case["id"]) for id in case.get("requirements") or mapping[case["id"]])


def marked() -> dict[str, str]:
    """Requirement id → a file or a case that tests it."""
    files = [path for path in TESTS.rglob("*.py") if path != Path(__file__)]
    in_files = {id: path.name for path in files for id in marks(ast.parse(path.read_text("utf-8")))}
    return in_files | dict(of_cases())


def test_every_requirement_is_listed_once() -> None:
    every = {f"{letter}{number}" for letter, last in LAST.items() for number in range(1, last + 1)}
    counts = Counter(id for table in listed().values() for id in table)
    assert set(listed()) == {"covered", "declined", "later"}
    assert (every - set(counts), set(counts) - every) == (set(), set())
    assert [id for id, count in counts.items() if count > 1] == []


def test_every_covered_requirement_has_a_test() -> None:
    assert sorted(set(listed()["covered"]) - set(marked())) == []


def test_every_mark_names_a_covered_requirement() -> None:
    assert {id: place for id, place in marked().items() if id not in listed()["covered"]} == {}


def test_what_is_put_off_names_the_issue() -> None:
    assert [id for id, why in listed()["later"].items() if not why.startswith("issue ")] == []


def test_every_requirement_says_what_it_asks() -> None:
    assert [id for table in listed().values() for id, text in table.items() if len(text) < 10] == []


def test_every_case_of_the_mapping_exists() -> None:
    mapping = tomllib.loads((DATA / "case_requirements.toml").read_text("utf-8"))["requirements"]
    sample = {json.loads(line)["id"] for line in (DATA / "sample_cases.jsonl").read_text("utf-8").splitlines()}
    assert set(mapping) - sample == set()
