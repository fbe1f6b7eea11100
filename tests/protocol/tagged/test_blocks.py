from __future__ import annotations

import json

import pytest

from bridge.protocol import ParsedReply, ResponseParser, ToolCall
from bridge.protocol.dialects.tool_call import read_call
from bridge.protocol.tagged.blocks import BlockStream
from tool_manager.models import call_id

READ = '{"tool":"read_file","args":{"path":"a"}}'
BLOCK = f"<TOOL_CALL>{READ}</TOOL_CALL>"
CALL = ToolCall(call_id("read_file", {"path": "a"}), "read_file", {"path": "a"})


def parse(text: str, *, multi: bool = False) -> ParsedReply:
    return ResponseParser("tool_call", multi=multi).parse(text)


def codes(reply: ParsedReply) -> list[tuple[str, str]]:
    return [(found.code, found.reason) for found in reply.diagnostics]


@pytest.mark.requirement("T58")
def test_the_documents_own_examples() -> None:
    good = parse('<TOOL_CALL>{"tool":"read_file","args":{"path":"test.ts"}}</TOOL_CALL>')
    assert good.kind == "tool_calls"
    assert good.calls[0].args == {"path": "test.ts"}
    assert parse("<TOOL_CALL>{invalid json}</TOOL_CALL>").kind == "text"


@pytest.mark.requirement("T2")
@pytest.mark.parametrize("text", ["", "  Hello.\n", "a < b && c > d", "<b>bold</b>", "\ud800", "\x00", "TOOL_CALL"])
def test_a_reply_without_a_block_is_the_answer_unchanged(text: str) -> None:
    assert parse(text) == ParsedReply("text", text=text)


@pytest.mark.requirement("T3")
def test_text_before_and_after_is_kept_apart_to_the_character() -> None:
    reply = parse(f" Let me look.\n{BLOCK}\r\n bye ")
    assert (reply.text, reply.rest, reply.calls) == (" Let me look.\n", "\r\n bye ", (CALL,))


@pytest.mark.requirement("T4")
@pytest.mark.parametrize(
    "space", ["", " ", "\t", "\r\n", "\u00a0", "\ufeff", "\u200b", "\u200c", "\u200d", "\u2060", "\u2028"]
)
def test_space_between_tag_and_json(space: str) -> None:
    assert parse(f"<TOOL_CALL>{space * 3}{READ}{space * 3}</TOOL_CALL>").calls == (CALL,)


@pytest.mark.requirement("T4")
@pytest.mark.parametrize("space", ["\u00a0", "\ufeff", "\u200b", "\x0b"])
def test_between_json_tokens_only_the_space_of_json(space: str) -> None:
    reply = parse(BLOCK.replace(":", f":{space}", 1))
    assert reply.kind == "text"
    assert codes(reply)[0] == ("malformed_call", "json")


@pytest.mark.requirement("T1")
@pytest.mark.parametrize("fence", ["```", "```json", "````json", "`````text", "~~~", "````JSON title"])
def test_a_fence_around_the_block_of_any_length_and_label(fence: str) -> None:
    ticks = fence.rstrip("abcdefghijklmnopqrstuvwxyzJSON ")
    reply = parse(f"I look.\n\n{fence}\n<TOOL_CALL>\n{READ}\n</TOOL_CALL>\n{ticks}\n")
    assert reply.calls == (CALL,)
    assert reply.prose == "I look."
    assert reply.text.endswith(f"{fence}\n")


def test_prose_keeps_what_is_no_fence() -> None:
    assert parse(f"use `x`:\n{BLOCK}").prose == "use `x`:"
    assert parse(f"```\ncode\n``` and `x`\n{BLOCK}").prose.endswith("``` and `x`")
    assert parse("```\ncode\n```").prose == "```\ncode\n```"


@pytest.mark.requirement("T5")
@pytest.mark.parametrize(
    "tag",
    [
        "<tool_call>", "<Tool_Call>", "<TOOL_CALL >", "< TOOL_CALL>", '<TOOL_CALL id="1">', "<TOOL\u200b_CALL>",
        "＜TOOL_CALL＞", "<ТOOL_CALL>", "&lt;TOOL_CALL&gt;", "\\<TOOL_CALL\\>", "<TOOL-CALL>", "<TOOLCALL>",
        "<tool call>", "<TOOL\\_CALL>",
    ],
)  # fmt: skip
def test_look_alike_tags_are_text_with_a_diagnostic(tag: str) -> None:
    text = f"Well.\n{tag}\n{READ}\n{tag.replace('TOOL', '/TOOL')}"
    reply = parse(text)
    assert (reply.kind, reply.text) == ("text", text)
    assert codes(reply) == [("look_alike_tag", "")]
    assert (reply.diagnostics[0].line, reply.diagnostics[0].column) == (2, 1)
    assert reply.problem == reply.diagnostics[0]


@pytest.mark.requirement("T5")
@pytest.mark.parametrize(
    "text", ["the <tool_call> tag is lower-case", "<div>{x}</div>", "<tool>{}</tool>", "`<TOOL_CALL>`"]
)
def test_ordinary_tags_and_mentions_bring_no_diagnostic(text: str) -> None:
    assert parse(text).diagnostics == ()


@pytest.mark.requirement("T6")
def test_names_are_taken_as_they_are() -> None:
    assert parse(BLOCK.replace("read_file", " Read_File ")).calls[0].name == " Read_File "


@pytest.mark.requirement("T7")
def test_the_first_call_counts_and_the_others_are_reported() -> None:
    reply = parse(f"{BLOCK}\n{BLOCK.replace('read', 'write')}")
    assert reply.calls == (CALL,)
    assert codes(reply) == [("extra_call", "")]
    assert reply.diagnostics[0].line == 2
    assert reply.problem is None


@pytest.mark.requirement("T7")
@pytest.mark.parametrize(
    "rest", ["<TOOL_CALL>", "<TOOL_CALL> \n", "<TOOL_CALL> is the tag", "</TOOL_CALL>", "<TOOL_CALL"]
)
def test_a_mention_after_the_call_is_no_further_call(rest: str) -> None:
    reply = parse(BLOCK + rest)
    assert (reply.calls, reply.rest, reply.diagnostics) == ((CALL,), rest, ())


@pytest.mark.requirement("T8")
@pytest.mark.requirement("X1")
def test_multi_takes_them_all_in_order() -> None:
    reply = parse(f"a{BLOCK}b{BLOCK.replace('read', 'write')}c", multi=True)
    assert [call.name for call in reply.calls] == ["read_file", "write_file"]
    assert (reply.text, reply.rest, reply.diagnostics) == ("a", "bc", ())


@pytest.mark.requirement("T8")
def test_multi_stops_at_a_broken_block() -> None:
    reply = parse(f"{BLOCK}<TOOL_CALL>{{'tool'}}</TOOL_CALL>{BLOCK}", multi=True)
    assert reply.calls == (CALL,)
    assert ("malformed_call", "json") in codes(reply)


@pytest.mark.requirement("T9")
@pytest.mark.requirement("T10")
@pytest.mark.requirement("X3")
@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("<TOOL_CALL>", "cut"),
        ("<TOOL_CALL>\n", "cut"),
        ('<TOOL_CALL>{"tool":"a","args":{"content":"ab', "cut"),
        ('<TOOL_CALL>{"tool":"a","args":{"content":"ab\\', "cut"),
        ('<TOOL_CALL>{"tool":"a","args":{', "cut"),
        (f"<TOOL_CALL>{READ}", "closing_tag"),
        (f"<TOOL_CALL>{READ}</TOOL_CAL", "closing_tag"),
        (f"<TOOL_CALL>{READ}</tool_call>", "closing_tag"),
        (f"<TOOL_CALL>{READ}}}</TOOL_CALL>", "closing_tag"),
        (f"<TOOL_CALL>{READ}{READ}</TOOL_CALL>", "closing_tag"),
        ('<TOOL_CALL>{"tool":"a","args":{}</TOOL_CALL>', "json"),
        ("<TOOL_CALL>{'tool':'a','args':{}}</TOOL_CALL>", "json"),
        ('<TOOL_CALL>{"tool":"a","args":{},}</TOOL_CALL>', "json"),
        ('<TOOL_CALL>{"tool":"a",/* c */"args":{}}</TOOL_CALL>', "json"),
        ('<TOOL_CALL>{"tool":"a","args":{"x":"a\nb"}}</TOOL_CALL>', "json"),
        ('<TOOL_CALL>{"tool":"a","args":{"x":01}}</TOOL_CALL>', "json"),
        ('<TOOL_CALL>{"tool":"a","args":{"x":NaN}}</TOOL_CALL>', "number"),
        ('<TOOL_CALL>{"tool":"a","args":{"x":-Infinity}}</TOOL_CALL>', "number"),
        ('<TOOL_CALL>{"tool":"a","args":{"x":1e999}}</TOOL_CALL>', "number"),
        (f'<TOOL_CALL>{{"tool":"a","args":{{"x":{"9" * 6000}}}}}</TOOL_CALL>', "number"),
        ("<TOOL_CALL>[]</TOOL_CALL>", "shape"),
        (f"<TOOL_CALL>[{READ}]</TOOL_CALL>", "shape"),
        ("<TOOL_CALL>null</TOOL_CALL>", "shape"),
        ("<TOOL_CALL>\n-1\n</TOOL_CALL>", "shape"),
        ("<TOOL_CALL>read_file</TOOL_CALL>", "shape"),
        (f"<TOOL_CALL>\n``json\n{READ}\n``\n</TOOL_CALL>", "shape"),
        (f"<TOOL_CALL>\n```json\nSure: {READ}\n```\n</TOOL_CALL>", "shape"),
        ("<TOOL_CALL>\n```", "cut"),
        ("<TOOL_CALL>\n```json\n", "cut"),
        (f"<TOOL_CALL>{READ}\n```", "closing_tag"),
        (f"<TOOL_CALL>{READ}\nCopy that\n</TOOL_CALL>", "closing_tag"),
        ("<TOOL_CALL>{}</TOOL_CALL>", "shape"),
    ],
)
def test_a_doubtful_block_is_text_with_the_reason(block: str, reason: str) -> None:
    text = f"So:\n{block}"
    reply = parse(text)
    assert (reply.kind, reply.text, reply.calls) == ("text", text, ())
    assert codes(reply)[0] == ("malformed_call", reason)
    assert reply.problem is reply.diagnostics[0]
    assert 4 <= reply.diagnostics[0].offset <= len(text)


@pytest.mark.requirement("T11")
@pytest.mark.requirement("T12")
@pytest.mark.parametrize("tool", ["", None, 7, ["read_file"], True, {}])
def test_tool_must_be_a_name(tool: object) -> None:
    reply = parse(f"<TOOL_CALL>{json.dumps({'tool': tool, 'args': {}})}</TOOL_CALL>")
    assert codes(reply) == [("malformed_call", "shape")]


@pytest.mark.requirement("T11")
@pytest.mark.parametrize("args", [[], None, "x", 0, False, [{}]])
def test_args_must_be_an_object(args: object) -> None:
    reply = parse(f"<TOOL_CALL>{json.dumps({'tool': 'a', 'args': args})}</TOOL_CALL>")
    assert codes(reply) == [("malformed_call", "shape")]
    assert parse('<TOOL_CALL>{"tool":"a","args":{}}</TOOL_CALL>').calls[0].args == {}


@pytest.mark.requirement("T13")
def test_extra_keys_are_ignored_and_the_last_of_equal_keys_wins() -> None:
    reply = parse('<TOOL_CALL>{"tool":"x","id":1,"tool":"a","args":{"k":1,"k":2},"reasoning":3}</TOOL_CALL>')
    assert (reply.calls[0].name, reply.calls[0].args, reply.calls[0].reasoning) == ("a", {"k": 2}, None)


@pytest.mark.requirement("T14")
@pytest.mark.requirement("X4")
@pytest.mark.parametrize(
    "content",
    ["</TOOL_CALL>", "<TOOL_CALL>", BLOCK, "}}</TOOL_CALL>", '"}</TOOL_CALL>', "C:\\", "```", '\\"</TOOL_CALL>'],
)
def test_tags_in_strings_are_content(content: str) -> None:
    body = json.dumps({"tool": "write_file", "args": {"content": content}})
    reply = parse(f"x<TOOL_CALL>{body}</TOOL_CALL>y")
    assert (reply.calls[0].args, reply.text, reply.rest) == ({"content": content}, "x", "y")


@pytest.mark.requirement("T15")
@pytest.mark.parametrize(
    "mention", ["I use <TOOL_CALL> now:", "`<TOOL_CALL>`…`</TOOL_CALL>`", "<TOOL_CALL>...</TOOL_CALL>", "<TOOL_CALL>"]
)
def test_a_mention_of_the_tag_is_skipped(mention: str) -> None:
    reply = parse(f"{mention}\n{BLOCK}")
    assert (reply.calls, reply.text, reply.diagnostics) == ((CALL,), f"{mention}\n", ())


@pytest.mark.requirement("T15")
@pytest.mark.parametrize(
    "broken",
    [
        '<TOOL_CALL>{"tool":"write_file","args":{"content":"he said "hi" ',
        '<TOOL_CALL>{"tool":"write_file","args":{"content":"cut',
        "<TOOL_CALL>{...}</TOOL_CALL>",
        '<TOOL_CALL>{"tool":"a"}</TOOL_CALL>',
        "<TOOL_CALL>42</TOOL_CALL>",
    ],
)
def test_nothing_runs_after_a_broken_block(broken: str) -> None:
    reply = parse(f"{broken}\n{BLOCK}")
    assert reply.kind == "text"
    assert codes(reply)[0][0] == "malformed_call"


@pytest.mark.requirement("X19")
@pytest.mark.parametrize(
    "text",
    [
        f"<think>{BLOCK}</think>done",
        f"<thinking>{BLOCK}</thinking>",
        f"<THINK>{BLOCK}</THINK>",
        f"<think>let me\n{BLOCK}",
        f"<think></thinking>{BLOCK}",
        f'<think><TOOL_CALL>{{"tool":"w","args":{{"c":"</think> <b>"}}}}</TOOL_CALL> {BLOCK}',
        f"<think>a<TOOL_CALL> b {BLOCK}</think>",
        f"<think >{BLOCK}</think >",
        f'<think type="deep">{BLOCK}</think>',
        f"<Thinking\n>{BLOCK}",
    ],
)
def test_calls_in_thinking_never_run(text: str) -> None:
    reply = parse(text)
    assert (reply.kind, reply.text) == ("text", text)
    found = set(codes(reply))
    assert found - {("malformed_call", "thinking")} == {("call_in_thinking", "")}
    assert (reply.problem is None) is text.endswith("done")


@pytest.mark.requirement("X19")
@pytest.mark.parametrize(
    "thinking",
    [
        "<think>hm</think>",
        f"<think>{BLOCK}</think>",
        "<thinking>a < b <think></thinking>",
        '<think>maybe <TOOL_CALL>{"tool":"x"</think>',
        "<think><think></think>",
        "<think>hm</think >",
        "<think/>",
        "<think />",
        "<thinker>",
        f"<think {'x' * 70}>",
        "a thought that began before the reply </think>",
        "</think><think>a</think>",
    ],
)
def test_a_call_after_thinking_runs(thinking: str) -> None:
    reply = parse(f"{thinking}\n{BLOCK}")
    assert (reply.calls, reply.text) == ((CALL,), f"{thinking}\n")


@pytest.mark.requirement("X19")
@pytest.mark.parametrize("multi", [False, True])
@pytest.mark.parametrize(
    "text", [f"{BLOCK} hm </think>", f"{BLOCK}</THINKING >\n", f"<think>a<think>b</think>{BLOCK}</think>"]
)
def test_thinking_that_ends_without_a_beginning_takes_its_calls_back(text: str, multi: bool) -> None:
    reply = parse(text, multi=multi)
    assert (reply.kind, reply.text, reply.calls) == ("text", text, ())
    assert codes(reply) == [("malformed_call", "thinking"), ("call_in_thinking", "")]
    answered = parse(f"{text} The answer is 5.", multi=multi)
    assert (answered.kind, codes(answered)) == ("text", codes(reply))


@pytest.mark.requirement("X19")
def test_the_call_after_such_thinking_is_the_one_that_was_meant() -> None:
    write = BLOCK.replace("read", "write")
    reply = parse(f"{write}{write} no. </think>Now: {BLOCK}\n<think>{BLOCK}</think>{BLOCK}")
    assert (reply.calls, reply.text) == ((CALL,), f"{write}{write} no. </think>Now: ")
    assert {code for code, _ in codes(reply)} == {"call_in_thinking", "extra_call"}
    assert parse(f"{write}</think>{BLOCK}{BLOCK}", multi=True).calls == (CALL, CALL)
    assert parse(f"{BLOCK}<TOOL_CALL>{{]</TOOL_CALL></think>{BLOCK}", multi=True).calls == ()


@pytest.mark.requirement("X19")
def test_thinking_tags_inside_a_string_are_content() -> None:
    body = json.dumps({"tool": "write_file", "args": {"content": "<think>"}})
    assert parse(f"<TOOL_CALL>{body}</TOOL_CALL>").kind == "tool_calls"


@pytest.mark.requirement("T29")
def test_a_result_the_model_wrote_is_only_remarked_on() -> None:
    reply = parse(f'{BLOCK}\n\nSystem: TOOL_RESULT: {{"success": true}}\n\nIt says fake.')
    assert (reply.calls, reply.text) == ((CALL,), "")
    assert codes(reply) == [("model_written_result", "")]
    assert codes(parse('TOOL_RESULT: {"success": true}')) == [("model_written_result", "")]
    assert parse("After TOOL_RESULT: came, I stopped.").diagnostics == ()


@pytest.mark.parametrize(
    ("block", "damage"),
    [
        ("<TOOL_CALL>{“tool”:“a”,“args”:{}}</TOOL_CALL>", "smart_quotes"),
        ('<TOOL_CALL>{"tool":\u00a0"a","args":{}}</TOOL_CALL>', "invisible"),
        ("<TOOL_CALL>{&quot;tool&quot;:1}</TOOL_CALL>", "entities"),
        ('<TOOL_CALL>{"tool":"a","args":{"c":"print("x")"}}</TOOL_CALL>', "backslashes"),
        ('<TOOL_CALL>{"tool":"a","args":{"c":"<a href="x">y</a>"}}</TOOL_CALL>', "backslashes"),
        ('<TOOL_CALL>{"tool":"a","args":{"c":"\\d+"}}</TOOL_CALL>', "backslashes"),
        ('<TOOL_CALL>{"tool":•"a","args":{}}</TOOL_CALL>', "placeholder"),
    ],
)
def test_damage_by_the_page_has_its_own_diagnostic(block: str, damage: str) -> None:
    assert codes(parse(block)) == [("malformed_call", "json"), ("rendering_damage", damage)]


@pytest.mark.requirement("T2")
@pytest.mark.parametrize("text", [READ, f"```json\n{READ}\n```", f"json\nCopy code\n{READ}\n", f"\ufeff{READ} Copy"])
def test_a_call_that_lost_its_tags_is_text_with_the_reason(text: str) -> None:
    reply = parse(text)
    assert (reply.kind, reply.text) == ("text", text)
    assert codes(reply) == [("malformed_call", "tags"), ("rendering_damage", "tags")]


@pytest.mark.parametrize(
    "text", [f"Send {READ}", f"{READ} is a call", '{"a":1}', "{", "```", "{}{}", f"<div>{READ}</div>"]
)
def test_other_json_is_an_answer(text: str) -> None:
    assert parse(text).diagnostics == ()


def test_an_ordinary_mistake_is_no_damage() -> None:
    assert codes(parse('<TOOL_CALL>{"tool":"a","args":{},}</TOOL_CALL>')) == [("malformed_call", "json")]


@pytest.mark.requirement("T17")
def test_lone_surrogates_pass_through() -> None:
    assert parse('<TOOL_CALL>{"tool":"a","args":{"x":"\\ud800"}}</TOOL_CALL>').calls[0].args == {"x": "\ud800"}


@pytest.mark.requirement("T17")
def test_nesting_is_limited_by_us_and_not_by_the_stack() -> None:
    def nested(levels: int) -> str:
        return f'<TOOL_CALL>{{"tool":"a","args":{{"x":{"[" * levels}{"]" * levels}}}}}</TOOL_CALL>'

    assert parse(nested(198)).kind == "tool_calls"
    assert codes(parse(nested(199))) == [("malformed_call", "depth")]
    assert codes(parse(nested(100_000))) == [("malformed_call", "depth")]


def test_remarks_are_bounded() -> None:
    assert len(parse("<think>" + BLOCK * 1000).diagnostics) == 50
    assert len(parse(BLOCK * 1000).diagnostics) == 50


def test_a_closed_stream_takes_no_more() -> None:
    stream = BlockStream("TOOL_CALL", read_call)
    stream.feed(BLOCK)
    assert stream.close() is stream.close()
    with pytest.raises(ValueError, match="closed"):
        stream.feed("x")
