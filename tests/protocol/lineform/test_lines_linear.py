"""The readers of lines, and `auto`, do work in proportion to the text, however it is cut."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from bridge.protocol import ResponseParser
from tool_manager.models import ToolSpec

TOOLS = [ToolSpec("a", ""), ToolSpec("f", "")]
SHAPES = {
    "openers": "TOOL: a\nARGS:\n",
    "mentions": "f(a=1) x\n",
    "half calls": "f(\n",
    "spaces": " ",
    "lines": "\n",
    "brackets": "[",
    "braces": "{",
    "quotes": '"',
    "backslashes": "\\",
    "fences": "```\n",
    "json fences": "\n```json\n{",
    "tags": "<TOOL_CALL>",
    "xml": "<tool name='x'>",
    "thinking": "<think>\nTOOL: a\n\nf(a=1)\n",
    "less than": "<",
    "names": "a",
}
HEADS = {
    "": "",
    "yaml": "TOOL: a\nARGS:\n  a: ",
    "args": "TOOL: a\nARGS:",
    "function": "f(a=",
    "text": 'f(a="""',
    "tag": "<TOOL_CALL>",
}


def calls(dialect: str, text: str, size: int) -> int:
    """How many functions of Python run while `text` is read in chunks of `size`."""
    count = 0

    def profile(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal count
        count += event == "call"

    stream = ResponseParser(dialect, tools=TOOLS).stream()
    sys.setprofile(profile)
    try:
        for start in range(0, len(text), size):
            stream.feed(text[start : start + size])
        stream.close()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.requirement("T16")
@pytest.mark.parametrize("dialect", ["yaml_style", "function_style", "auto"])
@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_text_is_twice_the_work(dialect: str, head: str, shape: str) -> None:
    unit = SHAPES[shape]
    for size, length in ((1, 500), (1 << 20, 2_500)):
        short, long = (HEADS[head] + unit * (n // len(unit)) for n in (length, 2 * length))
        assert calls(dialect, long, size) <= 2.5 * calls(dialect, short, size) + 400
