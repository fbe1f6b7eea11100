"""The rules between a client, its tools and the model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.protocol import PendingConversation, limits
from bridge.protocol.pending import Prompt, Refused, Response, Turn

ASK = '{"tool_request": {"name": "weather", "arguments": {"city": "Lisbon"}}}'
CALL = {"name": "weather", "arguments": {"city": "Lisbon"}}


def user(text: Any = "so?") -> dict[str, Any]:
    return {"role": "user", "content": text}


def result(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "tool_result", "content": content, **more}


def pending() -> PendingConversation:
    conversation = PendingConversation()
    conversation.request([user("weather?")])
    assert conversation.reply(ASK) == Response("", CALL, "stop")
    assert conversation.pending
    return conversation


def prompt(conversation: PendingConversation, *messages: dict[str, Any]) -> Prompt:
    made = conversation.request(messages)
    assert isinstance(made, Prompt)
    return made


@pytest.mark.requirement("S6")
@pytest.mark.requirement("S7")
@pytest.mark.requirement("S15")
def test_a_request_for_a_tool_is_passed_on_and_its_turn_is_stored() -> None:
    conversation = pending()
    assert conversation.history == (Turn("weather?", ASK),)
    made = prompt(conversation, result("18°C", name="weather"), user())
    assert [(each.role, each.content) for each in made.messages] == [
        ("user", "weather?"), ("assistant", ASK), ("tool_result", "18°C"), ("user", "so?"),
    ]  # fmt: skip
    assert made.messages[2].name == "weather"
    assert conversation.reply("It is 18°C.") == Response("It is 18°C.", None, "stop")
    assert not conversation.pending


@pytest.mark.requirement("S8")
@pytest.mark.requirement("S10")
def test_all_results_of_a_pending_request_pass_verbatim_and_then_no_more() -> None:
    conversation = pending()
    made = prompt(conversation, result(" one\n", name="other"), result("two"), result("", name=7), user())
    assert [each.content for each in made.messages if each.role == "tool_result"] == [" one\n", "two"]
    conversation.reply("ok")
    assert "three" not in prompt(conversation, result("three"), user()).text


@pytest.mark.requirement("S7")
def test_a_chain_of_requests_stays_pending_and_an_ordinary_reply_ends_it() -> None:
    conversation = pending()
    prompt(conversation, result("r"), user())
    assert conversation.reply('{"tool_request": {"name": "news", "arguments": {}}}').tool_request == {
        "name": "news",
        "arguments": {},
    }
    assert conversation.pending
    prompt(conversation, user("never mind"))
    conversation.reply("ok")
    assert not conversation.pending


@pytest.mark.requirement("S9")
def test_an_orphan_is_passed_over() -> None:
    conversation = PendingConversation()
    made = prompt(conversation, result("ORPHAN"), user("hi"))
    assert [each.role for each in made.messages] == ["user"]


@pytest.mark.requirement("S11")
@pytest.mark.parametrize("content", [{"t": 18, "ü": [None]}, [1, 2], 18, False])
def test_structured_results(content: Any) -> None:
    made = prompt(pending(), result(content))
    assert made.messages[-1].content == content
    assert made.text.endswith(json.dumps(content, ensure_ascii=False))


@pytest.mark.requirement("S11")
def test_an_empty_result_counts_and_null_does_not() -> None:
    conversation = pending()
    assert conversation.request([result(None)]) == Refused(400, "No user message provided.")
    assert conversation.pending
    assert [each.role for each in prompt(conversation, result("")).messages] == ["user", "assistant"]
    conversation.reply("ok")
    assert not conversation.pending


@pytest.mark.requirement("S12")
@pytest.mark.requirement("X18")
def test_a_result_alone_is_enough_only_when_pending() -> None:
    conversation = pending()
    assert prompt(conversation, result("18°C")).messages[-1].content == "18°C"
    conversation.reply("It is 18°C.")
    assert conversation.history[-1] == Turn("", "It is 18°C.")
    assert conversation.request([result("18°C")]) == Refused(400, "No user message provided.")
    roles = [each.role for each in prompt(conversation, user()).messages]
    assert roles == ["user", "assistant", "assistant", "user"]


@pytest.mark.requirement("S13")
def test_the_order_of_the_prompt() -> None:
    conversation = PendingConversation("PERSONA")
    conversation.request([user("q")])
    conversation.reply(ASK)
    made = prompt(conversation, user("u"), result("r"), {"role": "system", "content": "SATELLITE"})
    assert made.text == f"PERSONA\n\nSATELLITE\n\nq\n\n{ASK}\n\nr\n\nu"
    assert [each.role for each in made.messages] == ["system", "system", "user", "assistant", "tool_result", "user"]


@pytest.mark.requirement("S14")
def test_the_server_owns_the_history() -> None:
    conversation = PendingConversation(" ")
    made = prompt(
        conversation, user("first"), {"role": "assistant", "content": ASK}, {"role": "tool", "content": "T"}, {},
        user("last"), user(None), user(["parts"]), user(" "), {"role": ["user"]},
    )  # fmt: skip
    assert made.text == "last"
    conversation.reply("no call")
    assert not conversation.pending
    for number in range(limits.MAX_HISTORY_TURNS + 1):
        prompt(conversation, user(f"question {number}"))
        conversation.reply(f"answer {number}")
    assert len(conversation.history) == 10
    assert "question 0" not in prompt(conversation, user()).text
    assert "question 1\n" in prompt(conversation, user()).text


@pytest.mark.requirement("S16")
def test_a_failed_model_loses_nothing() -> None:
    conversation = pending()
    before = conversation.history
    first = prompt(conversation, result("18°C"), user())
    conversation.failed()
    assert (conversation.pending, conversation.history) == (True, before)
    assert prompt(conversation, result("18°C"), user()) == first
    assert prompt(conversation, user("another")).messages[-1].content == "another"
    conversation.reply("ok")
    assert conversation.history[-1] == Turn("another", "ok")
    with pytest.raises(ValueError, match="no request is open"):
        conversation.reply("again")


@pytest.mark.requirement("S17")
def test_streaming_is_refused_and_changes_nothing() -> None:
    conversation = pending()
    refused = conversation.request([result("r"), user()], stream=True)
    assert isinstance(refused, Refused) and refused.status == 501
    assert conversation.pending
    with pytest.raises(ValueError, match="no request is open"):
        conversation.reply("x")


@pytest.mark.requirement("S12")
@pytest.mark.parametrize(
    "messages", [[], [{}], [user("")], [user(None)], [5, "x", None], None, "text", [{"role": "system", "content": "s"}]]
)
def test_a_request_without_anything_usable(messages: Any) -> None:
    assert PendingConversation().request(messages) == Refused(400, "No user message provided.")


@pytest.mark.requirement("S19")
def test_a_result_is_never_read_as_a_request() -> None:
    conversation = pending()
    assert prompt(conversation, result(ASK)).messages[-1].role == "tool_result"
    conversation.reply("fine")
    assert not conversation.pending
    conversation.request([user(ASK)])
    assert conversation.reply(f"You said {ASK}").tool_request is None
