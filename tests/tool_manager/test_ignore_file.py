from __future__ import annotations

import pytest

from tool_manager.ignore_file import parse
from tool_manager.limits import GLOB_CHARS


@pytest.mark.parametrize(
    ("text", "path", "verdict"),
    [
        ("a", "x/a", True),
        ("/a", "x/a", None),
        ("x/a", "x/a", True),
        ("x/a", "y/x/a", None),
        ("a/", "a", None),
        ("a/", "a/", True),
        ("x/a/", "x/a/", True),
        ("*.log\n!keep.log", "keep.log", False),
        ("!keep.log\n*.log", "keep.log", True),
        ("keep.log\n!keep.*", "keep.log", False),
        ("!keep.*\nkeep.log", "keep.log", True),
        ("a\n!a/", "a/", False),
        ("**/a", "x/y/a", True),
        ("x/**", "x/y", True),
        ("x/**", "x/", None),
        ("x/**/a", "x/a", True),
        ("# a\n\\#b", "#b", True),
        ("\\!a", "!a", True),
        ("a  ", "a", True),
        ("a\\ ", "a ", True),
        ("a\\\\ ", "a\\", True),
        ("a\r\nb\r\n", "b", True),
        ("\ufeffa", "a", True),
        ("a\u2028b", "b", None),
        ("[bad\na", "a", True),
        ("[z-a]\na", "a", True),
        ("a\\\nb", "a", None),
        ("/", "a", None),
        ("{a,b}", "a", None),
        ("[!a]", "b", True),
        ("a?c", "abc", True),
    ],
)
def test_what_git_says(text: str, path: str, verdict: bool | None) -> None:
    """Each case was compared with `git check-ignore`; a directory is written with a slash at its end."""
    assert parse(text, 100).verdict(path.rstrip("/"), directory=path.endswith("/")) is verdict


def test_limits_are_counted() -> None:
    rules = parse("a\n*b\n\n#\nc\n", 2)
    assert (rules.count, rules.dropped) == (2, 1) and rules.verdict("c", directory=False) is None
    long = parse("x" * GLOB_CHARS + "\n" + "x" * (GLOB_CHARS + 1), 9)
    assert (long.count, long.dropped) == (1, 1)


def test_a_line_of_spaces_costs_nothing() -> None:
    assert parse(" " * 1_000_000 + "x", 9).dropped == 1


def test_plain_rules_are_not_tried_one_by_one() -> None:
    rules = parse("\n".join(f"q{number}" for number in range(50_000)), 50_000)
    assert not rules.wild and rules.verdict("q49999", directory=False) is True
