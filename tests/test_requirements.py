"""The list of requirements and the tests that name them must agree, both ways."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent


def listed() -> dict[str, str]:
    requirements: dict[str, str] = tomllib.loads((TESTS / "requirements.toml").read_text("utf-8"))
    return requirements


def marks(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.requirement":
            yield from (arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))


def marked() -> dict[str, str]:
    """Requirement id → a file that tests it."""
    files = [path for path in TESTS.rglob("*.py") if path != Path(__file__)]
    return {id: path.name for path in files for id in marks(ast.parse(path.read_text("utf-8")))}


def test_every_listed_requirement_has_a_test() -> None:
    assert sorted(set(listed()) - set(marked())) == []


def test_every_mark_names_a_listed_requirement() -> None:
    assert {id: file for id, file in marked().items() if id not in listed()} == {}


def test_every_requirement_says_what_it_asks() -> None:
    assert [id for id, text in listed().items() if len(text) < 10] == []
