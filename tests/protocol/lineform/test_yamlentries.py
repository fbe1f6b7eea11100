"""The fast way says what the reader of YAML says, or nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bridge.protocol.lineform import yamltext
from bridge.protocol.lineform.faults import Fault
from bridge.protocol.lineform.yamlentries import Arguments, read_entries

pytestmark = pytest.mark.requirement("T55")

pieces = st.sampled_from(
    [
        "  ",
        "a",
        "b",
        ": ",
        "\n",
        "\r\n",
        "1",
        "-",
        '"',
        "\\",
        "[",
        "]",
        "{",
        "}",
        ",",
        "true",
        "null",
        ".",
        "#",
        "~",
        "e9",
    ]
)


def slowly(text: str) -> Arguments | str:
    try:
        return yamltext._read_events(text)
    except Fault as fault:
        return fault.reason


@given(st.lists(pieces, max_size=14).map("".join))
@example("  a: 1e999")
@example('  a: {"b": [1, -0, 2.50, true, null, "x"], "c": {}}\n')
@example('  a: "\\/\\ud83d\\ude00"\n')
def test_both_ways_agree(body: str) -> None:
    text = f"ARGS:\n  k: x\n{body}\n"
    quick = read_entries(text)
    assert quick is None or repr(quick) == repr(slowly(text))


@pytest.mark.parametrize(
    ("text", "args", "written", "ends"),
    [
        ("ARGS:\n", {}, {}, "none"),
        ("ARGS: {}\n\n", {}, {}, "closed"),
        ("  ARGS:\r\n   a: b.py  \r\n", {"a": "b.py"}, {}, "closed"),
        ('ARGS:\n  "a b": "x\\ny"\n  c: -1\n  d: true\n', {"a b": "x\ny", "c": -1, "d": True},
         {("c",): "-1", ("d",): "true"}, "closed"),
        ('ARGS:\n a: [1.50, {"b": null}, "5"]\n', {"a": [1.5, {"b": None}, "5"]},
         {("a", 0): "1.50", ("a", 1, "b"): "null"}, "closed"),
        ('ARGS:\n  a: "\xe4 \u4e2d"\n', {"a": "\xe4 \u4e2d"}, {}, "closed"),
    ],
)  # fmt: skip
def test_the_simple_form_is_read(text: str, args: dict[str, Any], written: dict[Any, str], ends: str) -> None:
    assert read_entries(text) == (args, written, ends)


@pytest.mark.parametrize(
    "body",
    [
        "  a: x y",
        "  a: |\n    x",
        "  a: 'x'",
        "  a:1",
        "  a: 1\n  a: 2",
        '  a: {"b": 1, "b": 2}',
        '  a: [1,\n   2]',
        '  a: "x" # y',
        '  a: "x\x7f"',
        '  a: "\x85"',
        "  a: - b",
        "  a: .inf",
        "  a: 1\n\n  b: 2",
        "  a: 1\n   b: 2",
        f'  "{"k" * 600}": 1',
        "  ? a",
        "a: 1",
    ],
)  # fmt: skip
def test_everything_else_is_left_to_the_reader_of_yaml(body: str) -> None:
    assert read_entries(f"ARGS:\n{body}\n") is None


@pytest.mark.parametrize("number", ["0x" + "f" * 4000, "0o" + "7" * 4299, "1" * 4301])
def test_integers_are_bound_by_their_decimal_digits(number: str) -> None:
    assert slowly(f"ARGS:\n  a: {number}\n") == "number"
