from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_manager.wildcards import compile_path


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*a*b", "xaab", True),
        ("*a*b", "xaabc", False),
        ("a*a", "a", False),
        ("a*", "a/b", False),
        ("**/a/**/b", "a/b", True),
        ("**/a/**/b", "x/a/a/y/b", True),
        ("**/a/x/**/b", "a/a/x/b", True),
        ("**/a*b", "x/ab/y", False),
        ("a/**", "a", False),
        ("a/**", "a/b\n/c", True),
        ("***/b", "a/b", True),
        ("a**b", "a/b", False),
        ("[]a]", "]", True),
        ("[]-a]", "^", True),
        ("[!a]", "/", False),
        (r"[\]x]", "]", True),
        ("[a--b]", "a", False),
        ("[]", "[]", True),
        (r"a\/b", "a/b", True),
    ],
)
def test_what_matches(pattern: str, path: str, matches: bool) -> None:
    if pattern == "[a--b]":
        with pytest.raises(ValueError, match="range"):
            compile_path(pattern)
    else:
        assert bool(compile_path(pattern).fullmatch(path)) is matches


def _plainly(pattern: str, path: str) -> bool:
    """The definition itself, with all its backtracking."""
    if not pattern or not path:
        return pattern in {"", "*"} and not path
    if pattern[0] == "*":
        return _plainly(pattern[1:], path) or (path[0] != "/" and _plainly(pattern, path[1:]))
    return (pattern[0] == path[0] or (pattern[0] == "?" and path[0] != "/")) and _plainly(pattern[1:], path[1:])


@given(st.text("ab*?/", max_size=9).filter(lambda text: "**" not in text), st.text("ab/", max_size=9))
def test_taking_the_first_match_loses_none(pattern: str, path: str) -> None:
    assert bool(compile_path(pattern).fullmatch(path)) is _plainly(pattern, path)


@pytest.mark.requirement("T39")
@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 12 + "*b", "a" * 250),
        ("**/a/" * 12 + "b", "a/" * 60 + "c"),
        ("**/" + "*a" * 12 + "*b/" + "**/*a" * 9, ("a" * 200 + "/") * 20 + "c"),
        ("?*" * 40 + "b", "a" * 250),
    ],
)
def test_hostile_patterns_end(pattern: str, path: str) -> None:
    """In a process of its own: a regular expression cannot be interrupted."""
    code = "import sys; from tool_manager.wildcards import *; print(compile_path(sys.argv[1]).fullmatch(sys.argv[2]))"
    done = subprocess.run(
        [sys.executable, "-c", code, pattern, path], capture_output=True, text=True, encoding="utf-8", timeout=30
    )
    assert done.stdout.strip() == "None" and done.returncode == 0
