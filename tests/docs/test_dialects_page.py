"""`docs/dialects.md` says what the parser does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bridge.protocol import ResponseParser, ToolCall, dialects

PAGE = (Path(__file__).parents[2] / "docs" / "dialects.md").read_text("utf-8")
EXAMPLES = re.findall(r"^### `(\w+)`\n\n`{5}\n(.*?)\n`{5}$", PAGE, re.MULTILINE | re.DOTALL)


def test_every_dialect_has_a_row() -> None:
    assert sorted(re.findall(r"^\| `(\w+)`", PAGE, re.MULTILINE)) == dialects.names()


def test_every_dialect_but_auto_has_an_example() -> None:
    assert sorted([name for name, _ in EXAMPLES] + ["auto"]) == dialects.names()


@pytest.mark.requirement("A11")
@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_an_example_is_what_the_dialect_writes_and_reads(name: str, example: str) -> None:
    call = ToolCall.of("write_file", {"path": "hello.py", "content": 'print("hello")\n'})
    assert dialects.get(name).format_call(call) == example
    (read,) = ResponseParser(name).parse(example).calls
    assert (read.name, read.args) == (call.name, call.args)
