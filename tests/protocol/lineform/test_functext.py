"""Arguments as in Python, where the reader itself is at its end."""

from __future__ import annotations

import sys

import pytest

from bridge.protocol import limits
from bridge.protocol.lineform.faults import Fault
from bridge.protocol.lineform.functext import CallScanner, read_arguments
from tool_manager.models import JsonObject

DEPTH = limits.MAX_DEPTH - 1


def deep_down(text: str, frames: int) -> JsonObject:
    return deep_down(text, frames - 1) if frames else read_arguments(text)


@pytest.mark.requirement("T17")
def test_a_caller_deep_in_the_stack_gets_a_fault_and_no_recursion_error() -> None:
    nested = f"a={'[' * DEPTH}0, 'x'{']' * DEPTH})"
    assert read_arguments(nested)
    with pytest.raises(Fault, match="nested too deeply"):
        deep_down(nested, sys.getrecursionlimit() - 200 - DEPTH)


@pytest.mark.parametrize(
    "text",
    [
        r"""a="x\"", b='y\'"', c=[{"d": "("}, ["e", [')']]])rest""",
        '''a="", b="""x"y""", c='')rest''',
        "a=(1, {2: [3]}), # )\n b=2)rest",
    ],
)
def test_the_bracket_is_found_in_any_chunks(text: str) -> None:
    for size in (1, 2, 3, len(text)):
        scanner, data, base, found = CallScanner(), "", 0, -1
        for start in range(0, len(text), size):
            data += text[start : start + size]
            at, state = scanner.scan(data, 0, ended=False)
            if state == "end":
                found = base + at
                break
            data, base = data[at:], base + at
        assert text[found:] == "rest"
