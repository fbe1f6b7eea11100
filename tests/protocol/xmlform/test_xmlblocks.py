"""What is a call in the XML dialects, and what is not."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.protocol import ParsedReply, ResponseParser, dialects
from bridge.protocol.dialects.autobyteus_xml import AutobyteusXmlDialect
from tool_manager.models import call_id

PARSER = ResponseParser("autobyteus_xml")
STYLE = ResponseParser("xml_style")


def calls(text: str) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.args) for call in PARSER.parse(text).calls]


def value(written: str) -> Any:
    """What `written` inside an `<arg>` means."""
    [(name, args)] = calls(f'<tool name="t"><arguments><arg name="x">{written}</arg></arguments></tool>')
    assert name == "t"
    return args["x"]


def signs(reply: ParsedReply) -> list[tuple[str, str, int]]:
    assert reply.calls == ()
    return [(found.code, found.reason, found.offset) for found in reply.diagnostics]


def refused(inside: str) -> str:
    """The reason why `inside` makes no call of a block, and nothing after it one either."""
    text = f'<tool name="t">{inside}</tool>\n<tool name="later"></tool>'
    reply = PARSER.parse(text)
    assert (reply.kind, reply.calls, reply.text) == ("text", (), text)
    return reply.diagnostics[0].reason


@pytest.mark.requirement("A24")
@pytest.mark.requirement("X1")
def test_several_blocks_in_their_order() -> None:
    text = 'One <tool name="a"></tool> two <b> <tool name="b"><arguments/></tool> three'
    reply = PARSER.parse(text)
    assert [call.name for call in reply.calls] == ["a", "b"]
    assert (reply.text, reply.rest) == ("One ", " two <b>  three")


@pytest.mark.requirement("T57")
@pytest.mark.requirement("X21")
def test_one_block_where_the_document_has_one() -> None:
    text = '<tool name="a"><arg name="k">v</arg></tool> and <tool name="b"></tool>'
    reply = STYLE.parse(text)
    assert [(call.name, call.args) for call in reply.calls] == [("a", {"k": "v"})]
    assert [(found.code, found.offset) for found in reply.diagnostics] == [("extra_call", text.index('<tool name="b"'))]
    assert [call.name for call in ResponseParser("xml_style", multi=True).parse(text).calls] == ["a", "b"]
    assert calls('<tool>{"tool_name":"x","arguments":{}}</tool>') == []


@pytest.mark.requirement("A24")
@pytest.mark.parametrize(
    "tag",
    [
        '<tool name="t">', "<tool name='t'>", '<tool\n  name = "t"\n>', '<tool id="7" name="t" description="">',
        '<tool name="t" >',
        '<tool\u00a0name="t">', '<tool name="t" description="it&apos;s">',
    ],
)  # fmt: skip
def test_ways_to_write_the_tag(tag: str) -> None:
    assert calls(f"{tag}</tool >") == [("t", {})]


@pytest.mark.requirement("A24")
@pytest.mark.parametrize(
    "tag",
    [
        "<tool>", "<tool/>", '<tool name="t"/>', '<toolbox name="t">', "<tool name=t>", '<tool name="">',
        '<tool name=" ">',
        '<tool name="a" name="b">', '<tool name="t"x="1">', '<Tool name="t">', '<tool name="t" / >x',
        "<tool name='writer'",
        '<tool name="open>\n<arguments><arg name="x">1</arg>\n', "<tool name=“t”>", '< tool name="t">',
        '<tool-x name="t">',
        '<tool name="t" "u">', '<tool name>', '<tool ="t">', '<tool name="mention"> is how it begins. ',
    ],
)  # fmt: skip
def test_what_opens_no_block_does_not_end_the_search(tag: str) -> None:
    assert calls(f"{tag}</tool>") == []
    assert calls(f'{tag} then <tool name="ok"></tool>') == [("ok", {})]


@pytest.mark.requirement("A24")
@pytest.mark.requirement("A33")
def test_an_unclosed_block_that_cannot_hold_the_next_one_is_passed_over() -> None:
    assert calls('<tool name="bad"><arguments>\n<tool name="ok"></tool>') == [("ok", {})]
    assert calls("<tool><arguments><arg name='p'>v</arg></arguments></tool><tool name=\"ok\"></tool>") == [("ok", {})]
    assert calls("<tool name='bad'><arg name='p'>v</tool>\n<tool name=\"ok\"><arguments/></tool>") == [("ok", {})]
    assert calls('Let me <tool name="write_file"\n  Whoops, again: <tool name="ok"></tool>') == [("ok", {})]


@pytest.mark.requirement("A25")
def test_arguments_with_and_without_a_wrapper() -> None:
    for inside in ("", "<arguments></arguments>", "<arguments/>", "\u200b<arguments />\n", "<!-- none -->"):
        assert calls(f'<tool name="t">{inside}</tool>') == [("t", {})]
    for inside in ("{}", "<arguments>{}</arguments>", "<arguments/>{}", "stray <arguments>{} text</arguments>"):
        assert calls(f'<tool name="t">{inside.format("<arg name=" + chr(34) + "x" + chr(34) + ">1</arg>")}</tool>') == [
            ("t", {"x": "1"})
        ]


@pytest.mark.requirement("A26")
@pytest.mark.parametrize(
    "data",
    [
        "a</tool>b", "a</arguments>b", "<arguments>", '<tool name="rm"><arg name="y">1</arg></tool>', "<tool/>",
        '<tool name="a"><tool name="b"><item></tool></arg></tool>', '<tool name="a"><!-- </tool>', "<tool>{}</tool>",
        "<tool><![CDATA[</tool>",
    ],
)  # fmt: skip
def test_tags_that_a_value_may_hold(data: str) -> None:
    assert value(f"<{data}>") == f"<{data}>"


@pytest.mark.requirement("A26")
@pytest.mark.parametrize(
    ("inside", "reason"),
    [
        ('<arg name="x">a', "closing_tag"),
        ('<arguments><arg name="x">a</arguments>', "closing_tag"),
        ('<arguments><arg name="x">a</arg>', "closing_tag"),
        ('<arg name="x">a</arg> b</arg>', "closing_tag"),
        ('<arg name="x">a</arg></arguments>', "closing_tag"),
        ('<arg name="x"><item>a</arg></item>', "closing_tag"),
        ('<arg name="x"><item>a</item></tool></arg>', "closing_tag"),
        ('<arg name="x">a</tool><arg name="y">b</arg></arg>', "closing_tag"),
        ('<arg name="x">a</arg><tool name="in">', "closing_tag"),
        ("</item>", "closing_tag"),
        ("<item>a</item>", "shape"),
        ('<arg name="x"><item>a</item><arg name="y">b</arg></arg>', "shape"),
        ("<arguments></arguments><arguments/>", "shape"),
        ('{"path": "a"}', "shape"),
        ("<arguments>path</arguments>", "shape"),
        ('<arg name="x" type="string" required="true" />', "shape"),
        ('<arg name="x">a</arg><think>b</think>', "shape"),
        ('<arg name="x"><tool name="lone"></arg>', "cut"),
        ('<arg name="x"><!-- </arg>', "cut"),
        ('<arg name="x"><![CDATA[</arg>', "cut"),
        ('<arg name="x">' * 300, "depth"),
    ],
)
def test_a_doubtful_block_never_runs_and_none_after_it(inside: str, reason: str) -> None:
    assert refused(inside) == reason


@pytest.mark.requirement("A26")
@pytest.mark.parametrize("rest", [" more</arg></arguments></tool>", "</tool>", "</arguments>", '<tool name="b"></arg>'])
@pytest.mark.parametrize("parser", [PARSER, STYLE])
def test_a_call_that_leaves_closing_tags_behind_was_cut(parser: ResponseParser, rest: str) -> None:
    """The value held the whole end of a block: what was read of it is not what was meant."""
    text = '<tool name="w"><arguments><arg name="content">Ends with </arg></arguments></tool>' + rest
    found = signs(parser.parse(text))
    assert found == [("malformed_call", "closing_tag", 0)]
    before = '<tool name="first"></tool>'
    assert [call.name for call in PARSER.parse(before + text).calls] == ["first"]
    assert not dialects.get("autobyteus_xml").closed_block_is_final


@pytest.mark.requirement("A27")
@pytest.mark.parametrize(
    "data", ["x < 5 && y > 3", "<b>", "<br/>", "</b>", "<note>", "<argx>", "<arg.x>", "<", "<ARG>", "a &b; &"]
)
def test_everything_else_is_literal(data: str) -> None:
    assert value(data) == data


@pytest.mark.requirement("A28")
@pytest.mark.requirement("X22")
@pytest.mark.parametrize(
    ("written", "read"),
    [("true", "true"), ("5", "5"), ('["a"]', '["a"]'), ("", ""), (" \n\t", ""), (" a\n", " a\n"), ("&#32;", " ")],
)
def test_leaves_are_text(written: str, read: str) -> None:
    assert value(written) == read


@pytest.mark.requirement("A29")
@pytest.mark.parametrize(
    ("written", "read"),
    [
        ('<arg name="a">1</arg> stray <arg name="b"/>', {"a": "1", "b": ""}),
        ("<item>a</item>, <item/>\n<item> </item>", ["a", "", ""]),
        ('<item><arg name="n">a</arg></item><item>b</item>', [{"n": "a"}, "b"]),
        ("<item><item>a</item></item><item><item>b</item><item>c</item></item>", [["a"], ["b", "c"]]),
        ("before <item>a</item><!-- <item>b</item> --> after", ["a"]),
        ("<!-- <b> --><item>a</item><![CDATA[ a < b ]]>", ["a"]),
    ],
)  # fmt: skip
def test_structure(written: str, read: Any) -> None:
    assert value(written) == read


@pytest.mark.requirement("A30")
def test_the_traps_of_the_reference() -> None:
    def args(inside: str) -> Any:
        [(_, found)] = calls(f'<tool name="t"><arguments>{inside}</arguments></tool>')
        return found

    assert args('<arg name="x"/><arg name="y">1</arg>') == {"x": "", "y": "1"}
    assert args("<arg name='x'>1</arg><arg\n name=\"y\">2</arg>") == {"x": "1", "y": "2"}
    assert args('<arg name="x">1</arg><arg name="x">2</arg>') == {"x": "2"}
    assert args('<arg>1</arg><arg type="y"><item>2</item></arg><arg name="y">3</arg>') == {"y": "3"}
    assert args('<arg name="">1</arg><arg name="a&amp;b">2</arg>') == {"": "1", "a&b": "2"}
    assert value('a<![CDATA[</arg><arg name="y">&lt;]]></b>') == 'a</arg><arg name="y">&lt;</b>'
    assert value("<![CDATA[ ]]>") == " "
    assert value("<![CDATA[]]]><![CDATA[]>]]>") == "]]>"
    assert value("<!-- a -->") == "<!-- a -->"


@pytest.mark.requirement("X12")
@pytest.mark.requirement("A31")
@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("&lt;&gt;&amp;&quot;&apos;", "<>&\"'"),
        ("&amp;lt;", "&lt;"),
        ("&#65;&#x42;&#X43;", "ABC"),
        ("&#xD83D;&#xDE00;", "😀"),
        ("a & b &nbsp; &#x110000; &#; &am", "a & b &nbsp; &#x110000; &#; &am"),
        ("&am<![CDATA[]]>p;", "&amp;"),
    ],
)
def test_entities_are_decoded_once(written: str, read: str) -> None:
    assert value(written) == read
    stream = AutobyteusXmlDialect(decode_entities=False).stream()
    stream.feed(f'<tool name="t"><arg name="x">{written}</arg></tool>')
    assert stream.close().calls[0].args["x"] == written.replace("<![CDATA[]]>", "")


@pytest.mark.requirement("A32")
@pytest.mark.requirement("A34")
def test_an_id_that_is_given_wins() -> None:
    found = [PARSER.parse(f'<tool name="t"{each}></tool>').calls[0].id for each in ("", ' id="call_xyz"', ' id="a b"')]
    assert found == [call_id("t", {}), "call_xyz", call_id("t", {})]


@pytest.mark.requirement("X19")
@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('<think><tool name="rm"></tool></think><tool name="ok"></tool>', ["ok"]),
        ('<Thinking>use <tool name="rm"> or so</THINKING><tool name="ok"></tool>', ["ok"]),
        ('<think><tool name="rm"><arg name="x"></think><tool name="rm"></tool></arg></tool></think>', []),
        ('<think><tool name="rm"><arg name="x"></arg></arg></think><tool name="ok"></tool>', ["ok"]),
        ('<think><tool name="rm"><arg name="x"></think><tool name="rm"></tool>', []),
        ('<think><tool name="x"/> <tool name="rm"></tool>', []),
        ('<tool name="rm"></tool></think><tool name="ok"></tool>', ["ok"]),
        ('use <tool name="x"> <think>or</think> <tool name="ok"></tool>', ["ok"]),
        ('<tool name="t"><arg name="x"><think>hm</think></arg></tool>', ["t"]),
        ("<think></arg></think><tool name='ok'></tool>", ["ok"]),
    ],
)
def test_thinking_runs_nothing(text: str, names: list[str]) -> None:
    assert [name for name, _ in calls(text)] == names


@pytest.mark.requirement("X19")
def test_a_call_that_stands_only_in_thinking_is_corrected() -> None:
    text = '<think><tool name="a"><arg name="x">1</arg></tool></think>\n'
    assert signs(PARSER.parse(text)) == [("malformed_call", "thinking", 7), ("call_in_thinking", "", 7)]
    assert signs(PARSER.parse(text + "Done.")) == [("call_in_thinking", "", 7)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('<tool name="t"', [("malformed_call", "cut", 0)]),
        ('<tool name="t" ', [("malformed_call", "cut", 0)]),
        ("<tool ", []),
        ('<tool name="t">', [("malformed_call", "cut", 15)]),
        ('<tool name="t"> is a tag', []),
        ("<tool><arguments>", []),
        ('<tool><arg name="x">', [("malformed_call", "cut", 20)]),
        ('<tool name="t"><arg name="x">a</tool>', [("malformed_call", "closing_tag", 30)]),
        ('<tool name="t"/>', [("malformed_call", "shape", 0)]),
        ('<tool name="t"><arg name="x">', [("malformed_call", "cut", 29)]),
    ],
)
def test_where_and_why(text: str, found: list[tuple[str, str, int]]) -> None:
    assert signs(PARSER.parse(text)) == found


def test_a_broken_block_after_a_call_leaves_the_call() -> None:
    text = '<tool name="a"></tool><tool name="b"><item/></tool><tool name="c"></tool>'
    reply = PARSER.parse(text)
    assert [call.name for call in reply.calls] == ["a"]
    assert [found.code for found in reply.diagnostics] == ["malformed_call"]
    assert [found.code for found in STYLE.parse(text).diagnostics] == []
    assert [call.name for call in PARSER.parse(text + "</arg>").calls] == ["a"]
    assert PARSER.parse(text + "</think>").calls == ()


def test_remarks_are_bounded() -> None:
    reply = PARSER.parse('<tool name="t"/>' * 500)
    assert len(reply.diagnostics) == 50


@pytest.mark.requirement("A24", "T16")
@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("size", [1, 7, 19, 10_000])
def test_of_openers_in_a_row_only_the_last_opens_a_block(count: int, size: int) -> None:
    text = "a " + '<tool name="t">' * count + '<arguments><arg name="x">1</arg></arguments></tool>'
    stream = PARSER.stream()
    for at in range(0, len(text), size):
        stream.feed(text[at : at + size])
    reply = stream.close()
    assert [(call.name, call.args) for call in reply.calls] == [("t", {"x": "1"})]
    assert reply.text == "a " + '<tool name="t">' * (count - 1)
    thought = PARSER.parse(f"<think>{text}</think>b")
    assert (thought.calls, [found.code for found in thought.diagnostics]) == ((), ["call_in_thinking"])
