from __future__ import annotations

import pytest

from bridge.conversation import Capture, Doubt, Source, Trust, judge
from bridge.protocol import ResponseParser
from tests.agent.scripted import call

A = call("write_file", path="a", content="1")
B = call("write_file", path="a", content="2")
A_REORDERED = '<TOOL_CALL>{"args": {"content": "1", "path": "a"}, "tool": "write_file"}</TOOL_CALL>'
parse = ResponseParser().parse


def captures(*readings: tuple[Source, str]) -> list[Capture]:
    return [Capture(source, text) for source, text in readings]


@pytest.mark.parametrize(
    ("readings", "trust", "doubt"),
    [
        ([("cdp", A)], "full", None),
        ([("cdp", A), ("copy", A_REORDERED)], "full", None),
        ([("cdp", A), ("tee", B)], "none", "disagreement"),
        ([("cdp", A), ("copy", B)], "none", "disagreement"),
        ([("cdp", A), ("code", B)], "none", "disagreement"),
        ([("cdp", A), ("code", "x = 1")], "full", None),
        ([("cdp", A), ("copy", "")], "full", None),
        ([("cdp", "All done."), ("copy", A)], "none", "disagreement"),
        ([("cdp", f"<think>\n{A}\n</think>\nDone."), ("code", A)], "full", None),
        ([("cdp", f"{A}\nAfter that I would run:\n{B}"), ("code", B)], "full", None),
        ([("cdp", A), ("rendered", B)], "full", None),
        ([("copy", A), ("tee", A)], "full", None),
        ([("copy", A), ("code", A)], "full", None),
        ([("tee", A), ("copy", B)], "none", "disagreement"),
        ([("copy", A)], "read_only", None),
        ([("copy", A), ("code", "x = 1")], "read_only", None),
        ([("copy", A), ("rendered", A)], "read_only", None),
        ([("tee", A)], "read_only", None),
        ([("tee", A), ("code", A)], "read_only", None),
        ([("code", A), ("rendered", "I write it.")], "read_only", None),
        ([("rendered", A)], "none", "rendered_call"),
        ([("code", "x = 1"), ("rendered", A)], "none", "rendered_call"),
        ([("rendered", "Done.")], "none", None),
    ],
)
def test_how_far_a_reply_is_trusted(readings: list[tuple[Source, str]], trust: Trust, doubt: Doubt | None) -> None:
    judgement = judge(parse, captures(*readings))
    assert (judgement.trust, judgement.doubt) == (trust, doubt)


def test_a_disagreement_shows_both_calls() -> None:
    judgement = judge(parse, captures(("cdp", A), ("tee", B)))
    assert judgement.detail == {
        "cdp": [{"tool": "write_file", "args": {"path": "a", "content": "1"}}],
        "tee": [{"tool": "write_file", "args": {"path": "a", "content": "2"}}],
    }


@pytest.mark.parametrize(("one", "other"), [("1", "true"), ("1", '"1"'), ("1", "null"), ("[1,2]", "[2,1]")])
def test_arguments_are_compared_as_json_values(one: str, other: str) -> None:
    text = '<TOOL_CALL>{"tool":"t","args":{"v":%s}}</TOOL_CALL>'
    assert judge(parse, captures(("cdp", text % one), ("tee", text % other))).doubt == "disagreement"


def test_the_tap_is_what_counts_whatever_order_the_page_gives() -> None:
    assert judge(parse, captures(("rendered", "Done"), ("code", "x"), ("cdp", "Done, *really*."))).reply.text == (
        "Done, *really*."
    )


def test_prose_is_read_where_code_blocks_leave_it_out() -> None:
    assert judge(parse, captures(("code", "x = 1"), ("rendered", "Use this: x = 1"))).reply.text == "Use this: x = 1"
