"""Blocks that hold more than their tags can say, or whose end is in doubt: none of them runs."""

from __future__ import annotations

import pytest

from bridge.protocol import ParsedReply, ResponseParser
from bridge.protocol.xmlform.xmlfences import unclosed

CALL = '<tool name="a"><arg name="x">1</arg></tool>'
BOTH = ["autobyteus_xml", "xml_style"]


def parse(text: str, name: str = "autobyteus_xml") -> ParsedReply:
    """What `text` means, whole and character by character."""
    whole, stream = ResponseParser(name).parse(text), ResponseParser(name).stream()
    for char in text:
        stream.feed(char)
    assert stream.close() == whole
    return whole


def names(text: str, name: str = "autobyteus_xml") -> list[str]:
    return [call.name for call in parse(text, name).calls]


@pytest.mark.requirement("A24")
@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize(
    "block",
    [
        '<tool name="a" file="b"></tool>',
        f'<tool name="a" file="b">{CALL[15:]}',
        '<tool name="a"><arg name="x" value="1"/></tool>',
        '<tool name="a"><arg name="x" value="1">2</arg></tool>',
        '<tool name="a"><arg value="1"/><arg name="x">2</arg></tool>',
        '<tool name="a"><arg name="x"><item value="1"/></arg></tool>',
        '<tool name="a"><arg name="x" default="1" required="true" value=""></arg></tool>',
    ],
)
def test_arguments_in_attributes_are_malformed(name: str, block: str) -> None:
    reply = parse(f"{block} {CALL}", name)
    assert (reply.kind, reply.calls) == ("text", ())
    assert [(found.code, found.reason) for found in reply.diagnostics] == [("malformed_call", "shape")]
    assert "attribute" in reply.diagnostics[0].message


@pytest.mark.requirement("A24")
def test_attributes_of_a_definition_and_missing_names_are_no_harm() -> None:
    assert names(
        '<tool name="a" id="1" description="d"><arg name="x" type="string" required="true">1</arg></tool>'
    ) == ["a"]
    assert parse('<tool name="a"><arg>no</arg><arg name="x">1</arg></tool>').calls[0].args == {"x": "1"}


@pytest.mark.requirement("A29")
@pytest.mark.parametrize(
    "inside",
    [
        '<arg name="x"><item>1</item><b>2</b></arg>',
        '<arg name="x"><li>1</li> <item>2</item></arg>',
        '<arg name="x"><arg name="y">1</arg><z>2</z></arg>',
        '<path>p</path><arg name="x">1</arg>',
        '<arguments><arg name="x">1</arg><path>p</path></arguments>',
        '<é>p</é><arg name="x">1</arg>',
        '<arg name=y>2</arg><arg name="x">1',
        '<arg name="x"><item>1</item><![CDATA[<item>2</item>]]></arg>',
        '<arg name="x"><item>1</item><tool name="rm"></tool></arg>',
    ],
)
def test_markup_beside_structure_is_malformed(inside: str) -> None:
    reply = parse(f'<tool name="a">{inside}</tool>{CALL}')
    assert (reply.kind, reply.calls) == ("text", ())
    assert reply.diagnostics[0].code == "malformed_call"


@pytest.mark.requirement("A29")
@pytest.mark.parametrize(
    "inside",
    ["two: <item>1</item> and <item>2</item> 1 < 2 > 1", "<!-- <b> --><item>1</item><!-- <b> --> <item>2</item>"],
)
def test_plain_text_and_comments_beside_structure_are_dropped(inside: str) -> None:
    assert parse(f'<tool name="a">so <arg name="x">{inside}</arg> 1<2</tool>').calls[0].args == {"x": ["1", "2"]}


@pytest.mark.requirement("A26")
def test_an_item_that_is_no_item_is_named() -> None:
    told = "write &lt;item> if it is text"
    inside = '<tool name="a"><arg name="x">use <item> here</arg></tool>'
    assert told in parse(inside).diagnostics[0].message
    reply = parse('<tool name="a"><arg name="x">use <item> here</tool>')
    assert [found.reason for found in reply.diagnostics] == ["closing_tag"]
    assert reply.diagnostics[0].message.startswith("an <item> is not closed before this tag; write it as &lt;item>")
    assert parse('<tool name="a"><arg name="x"><item>cut').diagnostics[0].reason == "cut"


@pytest.mark.requirement("A33")
@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("fence", ["```xml", "```", "````xml", "~~~", "  ```xml", "```\n\n"])
def test_a_fence_that_opens_before_the_call_must_end(name: str, fence: str) -> None:
    text = f"So:\n{fence}\n{CALL}\n"
    reply = parse(text, name)
    assert (reply.kind, reply.calls, reply.text) == ("text", (), text)
    assert [(found.code, found.reason, found.offset) for found in reply.diagnostics] == [
        ("malformed_call", "cut", len(text))
    ]
    for closing in ("```", "`````\n", "``` \r\nDone."):
        assert names(text + closing.replace("`", fence.strip()[0]), name) == ["a"]
    assert names(text[:-1] + fence.strip()[:3], name) == ["a"]


@pytest.mark.requirement("A33")
def test_all_calls_of_such_a_fence_are_cut() -> None:
    fenced = f"```xml\n{CALL}\n```\n"
    assert names(f"{fenced}```xml\n{CALL}\n{CALL}\n{CALL[:-9]}") == ["a"]
    assert names(f"```xml\n{CALL}\n{CALL}\n```") == ["a", "a"]
    assert names(f"```xml\n{CALL}\n``` no end\n{CALL}\n~~~") == []


@pytest.mark.requirement("A33")
@pytest.mark.parametrize(
    "before", ["", "```\ncode\n```\n", "````md\n```\n````\n", "```\nopen\n", "```py\nx\n~~~\n", "`x`\n"]
)
def test_other_fences_decide_nothing(before: str) -> None:
    assert names(f"{before}{CALL}") == ["a"]


@pytest.mark.requirement("T16")
def test_many_fences_are_read_once() -> None:
    text = "```xml\n" * 50_000
    assert unclosed(text, [(0, len(text)), (len(text), len(text))]) is None
    assert unclosed(f"{text}```\n```\n", [(0, len(text) + 8), (len(text) + 8, len(text) + 8)]) == 0


@pytest.mark.requirement("X19")
@pytest.mark.parametrize("name", BOTH)
def test_a_call_that_thinking_takes_back_is_to_be_sent_again(name: str) -> None:
    for rest in ("", " The answer is 4."):
        reply = parse(f"{CALL}</think>{rest}", name)
        assert (reply.kind, reply.calls) == ("text", ())
        assert reply.problem is not None
        assert (reply.problem.code, reply.problem.reason) == ("malformed_call", "thinking")
    assert parse(f"{CALL}</think>{CALL}", name).problem is None
    cut = parse(f"{CALL}</think>{CALL[:-9]}", name)
    assert [found.reason for found in cut.diagnostics if found.code == "malformed_call"] == ["cut"]
