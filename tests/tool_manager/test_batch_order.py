from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tool_manager.attacks import call
from tool_manager import Prepared
from tool_manager.batch import predecessors
from tool_manager.limits import KEY_CHARS, KEY_DEPTH
from tool_manager.plan import EffectKind

ANYTHING = "tree:."


def prepared(effect: EffectKind, *resources: str) -> Prepared:
    return Prepared(call("x"), "allow", "", "", effect, None, resources, {}, {}, "", named=resources)


def unsure(*named: str) -> Prepared:
    """A call of a tool that did not declare its effect."""
    return replace(prepared("read", ANYTHING), named=named, unsure=bool(named))


@pytest.mark.requirement("X5")
@pytest.mark.parametrize(
    ("one", "other", "waits"),
    [
        (prepared("write", "file:a"), prepared("read", "file:a"), True),
        (prepared("read", "file:a"), prepared("write", "file:A"), True),
        (prepared("write", "file:a"), prepared("write", "file:b"), False),
        (prepared("write", "file:a/b"), prepared("read", "tree:a"), True),
        (prepared("write", "file:ab"), prepared("read", "tree:a"), False),
        (prepared("read", ANYTHING), prepared("write", "file:../x"), True),
        (prepared("write", "port:80"), prepared("write", "port:80"), True),
        (prepared("write", "port:80"), prepared("write", "port:81"), False),
        (prepared("read", "file:a"), prepared("read", "file:a"), False),
        (prepared("command"), prepared("read", "file:a"), True),
        (unsure("tree:a"), unsure("tree:a"), True),
        (unsure("tree:a"), unsure("tree:b"), False),
        (unsure("tree:a"), unsure(), False),
        (unsure(), unsure(), False),
        (unsure("tree:a/b"), prepared("read", "file:a/b"), True),
        (prepared("read", "tree:a"), unsure("tree:a/b"), True),
        (prepared("read", "file:b"), unsure("tree:a/b"), False),
        (unsure(), prepared("write", "file:a"), True),
    ],
)
def test_who_waits_for_whom(one: Prepared, other: Prepared, waits: bool) -> None:
    assert predecessors([one, other]) == [[], [0] if waits else []]


def test_only_the_nearest_are_waited_for() -> None:
    a, b = prepared("write", "file:a"), prepared("write", "file:b")
    assert predecessors([a, b, a, b, prepared("read", ANYTHING), a]) == [[], [], [0], [1], [2, 3], [4]]
    assert predecessors([unsure("tree:a")] * 1_000) == [[], *([at] for at in range(999))]


@pytest.mark.parametrize("path", ["a/" * 500_000, "a" * 5_000_000, "/".join(["a" * 10_000] * 100)])
def test_a_path_of_megabytes_is_cut_but_still_told(path: str) -> None:
    one, shorter = prepared("write", f"file:{path}x"), prepared("write", f"file:{path[:KEY_CHARS]}/b/c")
    assert predecessors([one, one, prepared("read", "file:b"), shorter]) == [[], [0], [], [1]]


def test_what_lies_deep_is_taken_for_its_tree() -> None:
    deep = "/".join(["d"] * KEY_DEPTH)
    assert predecessors([prepared("write", f"file:{deep}/x"), prepared("read", f"file:{deep}/y")]) == [[], [0]]
