"""Calls of forge written as elements (F35)."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bridge.protocol import CallClosed, ParsedReply, ResponseParser, TextDelta, limits
from bridge.protocol.tagged.forgexml import BadMarkup, read_markup
from tests.protocol.tagged.tagged import fed

pytestmark = pytest.mark.requirement("F35")

XML = "failed to parse tool call XML: "
BRACKET = f"{XML}a < begins no element; write it as &lt; or in CDATA"
REQUIRED = "tool_name is required in tool call"
HEAD = "<server_name>local</server_name>\n<tool_name>w</tool_name>\n"


def parse(text: str) -> ParsedReply:
    return ResponseParser("forge").parse(text)


def block(arguments: str, head: str = HEAD) -> str:
    return f"<tool>\n{head}<arguments>{arguments}</arguments>\n</tool>"


def args(reply: ParsedReply) -> dict[str, Any]:
    assert (reply.kind, reply.error) == ("tool_calls", None)
    (call,) = reply.calls
    assert (call.name, call.written) == ("w", {})
    return call.args


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("", {}),
        ("\n  \n", {}),
        ("<a>1</a><b> x </b>", {"a": "1", "b": " x "}),
        ("\n<a/>\n<b></b>\n", {"a": "", "b": ""}),
        ("<a>1</a><b>2</b><a>3</a>", {"a": ["1", "3"], "b": "2"}),
        ("<o><p>1</p><p>2</p><q><r>3</r></q></o>", {"o": {"p": ["1", "2"], "q": {"r": "3"}}}),
        ("<u>http://e.org?a=1&b=2&c</u>", {"u": "http://e.org?a=1&b=2&c"}),
        ("<t>&amp; &lt;b&gt; &#65;&#x42; & &nope;</t>", {"t": "& <b> AB & &nope;"}),
        ("<c><![CDATA[if a < b && c: </c></tool><tool>]]>&amp;</c>", {"c": "if a < b && c: </c></tool><tool>&"}),
        ("<c>&amp;lt;</c>", {"c": "&lt;"}),
    ],
)
def test_elements_are_arguments(arguments: str, expected: dict[str, Any]) -> None:
    assert args(parse(block(arguments))) == expected


def test_text_around_is_trimmed_and_names_too() -> None:
    reply = parse(f"So:\n\n{block('<a>1</a>', '<tool_name> w </tool_name>')}\n done ")
    assert args(reply) == {"a": "1"}
    assert (reply.text, reply.rest) == ("So:", "done")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (block("", "<server_name>local</server_name>"), REQUIRED),
        (block("", "<tool_name> </tool_name>"), REQUIRED),
        (block("", "<server_name>x</server_name><tool_name>w</tool_name>"), "Only local supported"),
        (block('{"a":1}'), "invalid arguments for w: they must be a JSON object"),
        (block("<a>x < y</a>"), BRACKET),
        (block('<a b="c">x</a>'), BRACKET),
        (block("<a>x</b>"), f"{XML}a closing tag does not match"),
        (block("<a>x"), f"{XML}a closing tag does not match"),
        (block("x<a>y</a>"), f"{XML}text stands beside elements"),
        (block("<a><b>1</b>x</a>"), f"{XML}text stands beside elements"),
        (block("", f"{HEAD}x"), f"{XML}text stands beside elements"),
        (block("", HEAD + HEAD), f"{XML}an element stands there twice"),
        (block("", f"{HEAD}<parameters/>"), f"{XML}'parameters' is none of server_name, tool_name, arguments"),
        (f"<tool>{HEAD}<path>a</path></tool>", f"{XML}'path' is none of server_name, tool_name, arguments"),
        ("<tool><tool_name>w</tool>", f"{XML}an element is not closed"),
        (block("<a>" * 300 + "</a>" * 300), f"{XML}it is nested more than {limits.MAX_DEPTH} levels deep"),
        ('<tool><tool_name>w</tool_name><!DOCTYPE x [<!ENTITY y "z">]></tool>', BRACKET),
    ],
)
def test_what_is_no_call_is_an_error_and_nothing_runs(text: str, error: str) -> None:
    reply = parse(f"{text} {block('<a>1</a>')}")
    assert (reply.kind, reply.calls, reply.error) == ("error", (), error)
    assert reply.text.startswith(text)


def test_a_call_of_endless_length_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_MARKUP", 100)
    assert read_markup(f"<tool_name>{'x' * 77}</tool_name>") == {"tool_name": "x" * 77}
    with pytest.raises(BadMarkup, match="longer than 100"):
        read_markup(f"<tool_name>{'x' * 78}</tool_name>")


@pytest.mark.requirement("F34")
@pytest.mark.parametrize("cut", range(len("<tool>"), len(block("<a><![CDATA[x]]></a>"))))
def test_a_truncated_call_never_runs(cut: int) -> None:
    reply = parse(f"a {block('<a><![CDATA[x]]></a>')[:cut]}")
    assert (reply.kind, reply.calls) == ("error", ())


@pytest.mark.parametrize(
    "text", ["Use <tool> <b>here</b>, or <tool><x/> there.", "<think><tool><tool_name>w</tool_name></tool></think>"]
)
def test_other_elements_and_thoughts_are_no_calls(text: str) -> None:
    assert (parse(text).kind, parse(text).calls) == ("text", ())


PIECES = [
    "<tool>", "</tool>", "<tool_name>w</tool_name>", "<tool_name>", "<arguments>", "</arguments>", "<a>", "</a>", "&",
    "<", "<![CDATA[", "]]>", "]", "x", "\n", "<think>", "</think>", block("<a>1</a>"),
    block("<a><![CDATA[</tool>]]></a>"),
]  # fmt: skip


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.lists(st.integers(0, 500), max_size=12))
@example("a <tool>\n<tool", [5])
def test_every_chunking_gives_the_same_answer(text: str, cuts: list[int]) -> None:
    whole = parse(text)
    for places in (cuts, list(range(len(text)))):
        events, reply = fed("forge", text, places)
        assert reply == whole
        closed = tuple(event.call for event in events if isinstance(event, CallClosed))
        assert closed == whole.calls or "</think" in text
        shown = "".join(event.text for event in events if isinstance(event, TextDelta))
        assert whole.text.strip().startswith(shown.strip())


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_escaped_text_comes_back(text: str) -> None:
    assert args(parse(block(f"<a>{escape(text)}</a>"))) == {"a": text}
