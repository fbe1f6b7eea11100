from __future__ import annotations

import pytest

from bridge.cli.carets import AFTER, BEFORE, INDENT, pointed
from bridge.protocol import Diagnostic


def picture(text: str, offset: int) -> tuple[str, str, str]:
    """Message, source line and caret line without their indent."""
    line, column = text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
    head, source, caret = pointed(text, Diagnostic("malformed_call", "why", offset, line, column, "json"), "f").split(
        "\n"
    )
    assert source.startswith(INDENT) and caret.startswith(INDENT)
    return head, source.removeprefix(INDENT), caret.removeprefix(INDENT)


def test_the_caret_stands_under_the_place() -> None:
    head, source, caret = picture("first\n{'a'}\nlast", 7)
    assert (head, source, caret) == ("f:2:2: malformed_call (json): why", "{'a'}", " ^")


def test_a_diagnostic_without_a_reason_has_no_parentheses() -> None:
    assert pointed("a", Diagnostic("extra_call", "why", 0), "f").startswith("f:1:1: extra_call: why\n")


@pytest.mark.parametrize(
    ("before", "shown"),
    [
        ("\tx", "    x"),
        ("ab\tx", "ab  x"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\u200bb", "a\\u200bb"),
        ("\u202e", "\\u202e"),
        ("\u00a0", "\\xa0"),
        ("\ud800", "\\ud800"),
        ("\x00", "\\x00"),
    ],
)
def test_what_a_terminal_would_obey_or_hide_is_escaped(before: str, shown: str) -> None:
    _, source, caret = picture(before + "!", len(before))
    assert (source, caret) == (shown + "!", " " * len(shown) + "^")


@pytest.mark.parametrize(("before", "width"), [("đọc", 3), ("e\u0301", 1), ("文件", 4), ("👍", 2), ("Ａ", 2)])
def test_wide_and_combining_characters_count_as_they_are_drawn(before: str, width: int) -> None:
    assert picture(before + "!", len(before))[2] == " " * width + "^"


def test_a_long_line_is_cut_around_the_place() -> None:
    _, source, caret = picture("a" * 5_000 + "!" + "b" * 5_000, 5_000)
    assert source == f"…{'a' * BEFORE}!{'b' * (AFTER - 1)}…"
    assert source[caret.index("^")] == "!"


@pytest.mark.parametrize(("text", "offset"), [("abc", 3), ("abc\n", 3), ("abc\r\nx", 3), ("abc\r\nx", 4)])
def test_the_end_of_a_line_can_be_the_place(text: str, offset: int) -> None:
    _, source, caret = picture(text, offset)
    assert source in ("abc", "abc\\r")
    assert caret == " " * max(3, len(source)) + "^"


def test_an_empty_reply_has_a_place() -> None:
    assert picture("", 0)[1:] == ("", "^")
