"""What pages and models leave between tags and JSON, inside the block."""

from __future__ import annotations

import pytest

from bridge.protocol import ParsedReply, ResponseParser
from bridge.protocol.tagged.edges import LABELS

READ = '{"tool":"read_file","args":{"path":"a"}}'


def parse(text: str) -> ParsedReply:
    """The reply, which is the same for every size of chunk."""
    whole = ResponseParser().parse(text)
    for size in (1, 2, 5):
        stream = ResponseParser().stream()
        for start in range(0, len(text), size):
            stream.feed(text[start : start + size])
        assert stream.close() == whole
    return whole


@pytest.mark.requirement("T4")
@pytest.mark.parametrize(
    "fence", ["```", "```json", "``` json", "````json", "`" * 64, "~~~", "~~~~text", "```c++", "```objective-c"]
)
def test_a_fence_inside_the_tags(fence: str) -> None:
    marks = fence[: len(fence) - len(fence.lstrip("`~"))]
    for close in (marks, ""):
        reply = parse(f"<TOOL_CALL>\n{fence}\n{READ}\n{close}\n</TOOL_CALL>")
        assert [call.args for call in reply.calls] == [{"path": "a"}]


@pytest.mark.requirement("T4")
@pytest.mark.parametrize("label", LABELS)
def test_labels_of_a_code_block_at_its_edges(label: str) -> None:
    for text in (
        f"<TOOL_CALL>\n{label}\n{READ}\n</TOOL_CALL>",
        f"<TOOL_CALL>json{label}{READ}{label}</TOOL_CALL>",
        f"<TOOL_CALL>\n```\njson\n{label.upper() if label.isascii() else label}\n{READ}\n```\n{label}\n</TOOL_CALL>",
    ):
        assert len(parse(text).calls) == 1


@pytest.mark.requirement("T10")
@pytest.mark.parametrize(
    "inner",
    [
        f"Copy that {READ}", f"jsonx{READ}", f"``{READ}", f"{READ}Cop", f"{READ}Copyx", f"Copy{READ[:-1]} Copy }}",
        f"{READ}```{READ}", f"{'`' * 66}{READ}", READ.replace(",", ",\nCopy code\n", 1),
    ],
)  # fmt: skip
def test_nothing_else_and_never_in_the_json(inner: str) -> None:
    text = f"<TOOL_CALL>{inner}</TOOL_CALL>"
    reply = parse(text)
    assert (reply.kind, reply.text) == ("text", text)


def test_a_mention_is_released_as_soon_as_it_can_be_no_label() -> None:
    stream = ResponseParser().stream()
    assert stream.feed("<TOOL_CALL> Cop") == []
    assert [event.text for event in stream.feed("s")] == ["<TOOL_CALL> Cops"]  # type: ignore[union-attr]
