"""An opening tag directly after an opening tag, where all that stands between the tags is the block (C11)."""

from __future__ import annotations

import pytest

from bridge.protocol import ResponseParser

BATCH = '[{"name":"a","args":{}}]'
TOOL = '{"tool_name":"a","arguments":{}}'
BOTH = [("cogency", "execute", BATCH), ("forge", "tool", TOOL), ("forge", "tool", "<tool_name>a</tool_name>")]


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(("dialect", "tag", "body"), BOTH)
@pytest.mark.parametrize("between", ["", " \n", "\u200b"])
def test_a_block_in_a_block_is_malformed(dialect: str, tag: str, body: str, between: str) -> None:
    text = f"Now:\n<{tag}>{between}<{tag}>{body}</{tag}></{tag}>"
    parser = ResponseParser(dialect)
    whole, stream = parser.parse(text), parser.stream()
    for char in text:
        stream.feed(char)
    assert stream.close() == whole
    assert (whole.kind, whole.calls, whole.text) == ("error", (), text)
    assert whole.diagnostics[0].offset == text.rindex(f"<{tag}>")


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(("dialect", "tag", "body"), BOTH)
@pytest.mark.parametrize("before", ["the <{0}> tag: ", "<{0}> and ", "<think><{0}></think>"])
def test_a_mention_before_a_block_is_none(dialect: str, tag: str, body: str, before: str) -> None:
    reply = ResponseParser(dialect).parse(f"{before.format(tag)}<{tag}>{body}</{tag}>")
    assert [call.name for call in reply.calls] == ["a"]


@pytest.mark.requirement("T15")
def test_the_primary_dialect_takes_the_inner_block() -> None:
    text = '<TOOL_CALL><TOOL_CALL>{"tool":"a","args":{}}</TOOL_CALL>'
    assert [call.name for call in ResponseParser().parse(text).calls] == ["a"]


ALL = [("tool_call", "TOOL_CALL", '{"tool":"a","args":{}}'), *BOTH]


@pytest.mark.requirement("T15")
@pytest.mark.parametrize(("dialect", "tag", "body"), ALL)
@pytest.mark.parametrize("before", ["", "So:\n", "  ", "a\r\n\t", "```\n"])
@pytest.mark.parametrize("held", ["path: a\nor ", "Note:\n", "<b>\n", "<think>no</think>"])
def test_an_opening_tag_on_its_own_line_may_hold_the_next_one(
    dialect: str, tag: str, body: str, before: str, held: str
) -> None:
    block = f"<{tag}>{body}</{tag}>"
    text = f"{before}<{tag}>\n{held}{block}\n{block}"
    parser = ResponseParser(dialect, multi=dialect == "tool_call")
    whole, stream = parser.parse(text), parser.stream()
    for char in text:
        stream.feed(char)
    assert stream.close() == whole
    assert whole.calls == ()
    assert [(found.code, found.reason) for found in whole.diagnostics] == [("malformed_call", "shape")]
    assert whole.diagnostics[0].offset == text.index(block)


@pytest.mark.requirement("T15")
@pytest.mark.parametrize(
    "before",
    [
        "- <TOOL_CALL>\nis it. ", "<TOOL_CALL> is it. ", "<TOOL_CALL>\n</TOOL_CALL>\n", "<TOOL_CALL>\n<TOOL_CALL>\n",
        "<TOOL_CALL>\nso </think>", "<think><TOOL_CALL>\nso </think>", f"{' ' * 30}<TOOL_CALL>\nis it. ",
    ],
)  # fmt: skip
def test_other_mentions_stay_mentions(before: str) -> None:
    block = '<TOOL_CALL>{"tool":"a","args":{}}</TOOL_CALL>'
    for size in (1, 7, 1000):
        stream, text = ResponseParser(multi=True).stream(), f"{before}{block}\nx {block}"
        for start in range(0, len(text), size):
            stream.feed(text[start : start + size])
        assert [call.name for call in stream.close().calls] == ["a", "a"]


@pytest.mark.requirement("X19")
@pytest.mark.parametrize(("dialect", "tag", "body"), ALL)
def test_a_call_that_thinking_takes_back_is_to_be_sent_again(dialect: str, tag: str, body: str) -> None:
    block = f"<{tag}>{body}</{tag}>"
    reply = ResponseParser(dialect).parse(f"{block}</think> It is 4.")
    assert (reply.kind, reply.calls) == ("text", ())
    assert reply.problem is not None
    assert reply.problem.reason == "thinking"
    assert ResponseParser(dialect).parse(f"{block}</think>{block}").problem is None
    cut = ResponseParser(dialect).parse(f"{block}</think>{block[:-2]}")
    assert cut.problem is not None
    assert cut.problem.reason != "thinking"
