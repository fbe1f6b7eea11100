"""What dialects choose of `BlockStream`: errors, thinking moved away, strict blocks, trimmed text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.protocol import ParsedReply, TextDelta, ToolCall
from bridge.protocol.tagged.blocks import BlockStream, Manners
from tool_manager.models import JsonValue

STRICT = Manners(error=lambda found: f"E: {found.message}", moves_thinking=True, strict=True)
TRIMMED = Manners(moves_thinking=True, trims=True)
PIECES = [
    "<x>",
    "</x>",
    "[]",
    "[1]",
    "{",
    "null",
    "7",
    "<think>",
    "</think>",
    "<THINKING >",
    "</thinking>",
    " ",
    "\n",
    "a",
]


def read(value: JsonValue) -> list[ToolCall] | str:
    return [ToolCall.of(str(each), {}) for each in value] if isinstance(value, list) else "it is no list"


def parse(text: str, manners: Manners = STRICT, *, multi: bool = False) -> ParsedReply:
    whole, (shown, cut) = fed(text, len(text) or 1, manners, multi)[1], fed(text, 1, manners, multi)
    assert cut == whole
    assert manners.trims or whole.text.startswith(shown)
    return whole


def fed(text: str, size: int, manners: Manners, multi: bool) -> tuple[str, ParsedReply]:
    stream, shown = BlockStream("x", read, multi=multi, manners=manners), ""
    for start in range(0, len(text), size):
        events = stream.feed(text[start : start + size])
        shown += "".join(event.text for event in events if isinstance(event, TextDelta))
    return shown, stream.close()


@pytest.mark.requirement("X3")
@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("<x>not json</x>", "E: the JSON is not valid: expecting value at character 1, at 'not json\\\\x3c/x>'"),
        ("<x></x>", "E: nothing stands between the tags"),
        ("<x> \n </x>", "E: nothing stands between the tags"),
        ("<x><b></x>", "E: the JSON is not valid: expecting value at character 1, at '\\\\x3cb>\\\\x3c/x>'"),
        ("<x>null</x>", "E: it is no list"),
        ("so <x>\n true \n</x>", "E: it is no list"),
        ("<x>{}</x>", "E: it is no list"),
        ("<x>[]", "E: the reply ends without </x>"),
        ("<x>", "E: the reply ends after <x>"),
        ("<x>\n```json\n[]\n```\n</x>", "E: no JSON object follows the opening tag"),
        (
            "<x>[</x> <x>[]</x>",
            "E: the JSON breaks off after 1 characters of it, at '\\\\x3c/x> \\\\x3cx>[]\\\\x3c/x>'",
        ),
    ],
)
def test_the_first_malformed_block_is_the_error(text: str, error: str) -> None:
    reply = parse(text)
    assert (reply.kind, reply.error, reply.text, reply.calls) == ("error", error.replace("\\\\", "\\"), text, ())


@pytest.mark.requirement("X3")
def test_a_list_where_read_wants_none_is_malformed_too() -> None:
    stream = BlockStream("x", lambda value: [], manners=STRICT)
    stream.feed("<x>7</x>")
    assert stream.close().error == "E: no JSON object stands between the tags"


@pytest.mark.parametrize(
    "text", ["use `<x>`", "</x>", "an <x> tag", "<x> <think></x></think>", "<think><x><b></think></x>", "<y>1</y>", ""]
)
def test_mentions_are_text(text: str) -> None:
    reply = parse(text)
    assert (reply.kind, reply.diagnostics) == ("text", ())


def test_an_opening_tag_before_the_block_is_a_mention() -> None:
    reply = parse("the <x> tag: <x>[1]</x> done</x>")
    assert (reply.kind, reply.text, reply.rest) == ("tool_calls", "the <x> tag: ", " done</x>")


@pytest.mark.requirement("C7")
def test_a_block_without_calls_is_one() -> None:
    reply = parse("a<x>[]</x>b <x>[1]</x>")
    assert (reply.kind, reply.calls, reply.text, reply.rest) == ("tool_calls", (), "a", "b <x>[1]</x>")
    assert reply.problem is None
    assert parse("a \n<x>[]</x>").prose == "a"


@pytest.mark.requirement("C1")
@pytest.mark.requirement("C3")
@pytest.mark.requirement("C4")
@pytest.mark.parametrize(
    ("text", "thinking", "shown", "rest"),
    [
        ("<think>content</think>after", "content", "after", ""),
        ("a<think> b </think>c<THINKING>d</thinking >e", " b \nd", "ace", ""),
        ("<think> \n </think>after", "", "after", ""),
        ("<think>unclosed <x>[1]</x>", "", "<think>unclosed <x>[1]</x>", ""),
        ("p<think>q</think><x>[1]</x>r<think>s</think>t<think>u", "q\ns", "p", "rt<think>u"),
        ("<think>f <x>[1]</x> { <b></think><x>[1]</x>", "f <x>[1]</x> { <b>", "", ""),
        ("<x>{]</x><think>a</think>b", "a", "<x>{]</x>b", ""),
        ("a </think> b", "", "a </think> b", ""),
    ],
)
def test_thinking_is_moved_out_of_text_and_rest(text: str, thinking: str, shown: str, rest: str) -> None:
    reply = parse(text)
    assert (reply.thinking, reply.text, reply.rest) == (thinking, shown, rest)


@pytest.mark.requirement("C2")
def test_a_call_that_only_stands_in_thinking_is_no_error() -> None:
    reply = parse("<think><x>[1]</x></think>")
    assert (reply.kind, reply.error) == ("text", None)
    assert reply.problem is not None
    assert reply.problem.reason == "thinking"


@pytest.mark.requirement("F12")
def test_text_around_a_call_is_trimmed() -> None:
    reply = parse(" a \n<think>t</think>\n<x>[1]</x>\n b \n", TRIMMED)
    assert (reply.text, reply.rest, reply.thinking) == ("a", "b", "t")
    assert parse(" a ", TRIMMED).text == " a "
    assert parse(" <x>{}</x> ", TRIMMED).text == " <x>{}</x> "


@given(st.lists(st.sampled_from(PIECES), max_size=16).map("".join), st.booleans())
def test_however_it_is_cut_and_every_character_is_kept(text: str, multi: bool) -> None:
    reply = parse(text, multi=multi)
    assert (reply.error is not None) is (reply.kind == "error")
    if not reply.thinking and not any(tag in text.lower() for tag in ("think>", "thinking >")):
        assert reply.text + reply.rest == text if reply.kind != "tool_calls" else text.startswith(reply.text)
