from __future__ import annotations

import hashlib
from typing import Any

import pytest

from bridge.conversation import Conversation
from bridge.errors import ChatError, JournalError, NeedsUser
from bridge.protocol import ResponseParser
from tests.agent.scripted import ScriptedChat, call, read_as


class Pen:
    """Keeps what it is told, beside what the page was told."""

    def __init__(self, chat: ScriptedChat, refuse: str | None = None) -> None:
        self.kept: list[tuple[str, dict[str, Any]]] = []
        self._chat = chat
        self._refuse = refuse

    def note(self, type: str, *, turn: int | None = None, call: str | None = None, **data: Any) -> None:
        self.kept.append((type, {"turn": turn, "typed": len(self._chat.typed), **data}))

    async def record(self, type: str, *, turn: int | None = None, call: str | None = None, **data: Any) -> None:
        if type == self._refuse:
            raise JournalError("The disk is full.")
        self.note(type, turn=turn, call=call, **data)

    def names(self) -> list[str]:
        return [data.get("state", type) for type, data in self.kept]


@pytest.mark.requirement("T2")
async def test_one_turn_needs_no_tools() -> None:
    chat = ScriptedChat(["The answer is *42*. \n"])
    turn = await Conversation(chat, ResponseParser()).turn("What is it?")
    assert (turn.reply.kind, turn.reply.text) == ("text", "The answer is *42*. \n")
    assert (turn.trust, turn.number, chat.typed) == ("full", 1, ["What is it?"])


async def test_a_call_is_reported_and_nothing_else_happens() -> None:
    turn = await Conversation(ScriptedChat([call("read_file", path="a")]), ResponseParser()).turn("Read a")
    assert [(each.name, each.args) for each in turn.reply.calls] == [("read_file", {"path": "a"})]


async def test_every_step_is_told_before_it_takes_effect() -> None:
    chat = ScriptedChat(["Done."])
    pen = Pen(chat)
    await Conversation(chat, ResponseParser(), pen).turn("Do it", kind="result")
    assert pen.names() == ["sending", "prompt.sent", "waiting", "replying", "reply.done", "settled"]
    sending = pen.kept[0][1]
    assert (sending["typed"], sending["text"], sending["kind"]) == (0, "Do it", "result")
    assert sending["text_sha256"] == hashlib.sha256(b"Do it").hexdigest()
    assert pen.kept[4][1]["sources"] == ["cdp"]


async def test_nothing_is_sent_when_the_intent_cannot_be_recorded() -> None:
    chat = ScriptedChat(["Done."])
    with pytest.raises(JournalError):
        await Conversation(chat, ResponseParser(), Pen(chat, refuse="state")).turn("Do it")
    assert chat.typed == []


async def test_deltas_carry_turn_and_offset() -> None:
    pieces: list[tuple[int, int, str]] = []
    conversation = Conversation(ScriptedChat(["First.", "A longer reply."]), ResponseParser())
    await conversation.turn("1")
    await conversation.turn("2", lambda *piece: pieces.append(piece))
    assert {turn for turn, _, _ in pieces} == {2}
    assert "".join(text for _, _, text in pieces) == "A longer reply."
    assert all("A longer reply."[offset:].startswith(text) for _, offset, text in pieces)


async def test_who_waits_for_the_message_is_told_once_it_is_accepted() -> None:
    chat = ScriptedChat()
    seen: list[int] = []
    await Conversation(chat, ResponseParser()).turn("1", on_sent=lambda: seen.append(len(chat.typed)))
    assert seen == [1]


@pytest.mark.parametrize("blank", ["", " \n\t"])
async def test_an_empty_reply_is_an_error(blank: str) -> None:
    with pytest.raises(ChatError, match="empty reply"):
        await Conversation(ScriptedChat([blank]), ResponseParser()).turn("Do it")


async def test_a_reply_stopped_in_the_page_needs_the_user_and_runs_nothing() -> None:
    chat = ScriptedChat([read_as(call("read_file", path="a"), "cdp", ending="stopped")])
    pen = Pen(chat)
    with pytest.raises(NeedsUser) as caught:
        await Conversation(chat, ResponseParser(), pen).turn("Do it")
    assert (caught.value.reason, pen.names()[-1]) == ("user_acted", "needs_user")


async def test_a_page_that_needs_the_user_leaves_the_turn_where_it_was() -> None:
    chat = ScriptedChat([NeedsUser("captcha", "Solve the captcha in the page.")])
    pen = Pen(chat)
    conversation = Conversation(chat, ResponseParser(), pen)
    with pytest.raises(NeedsUser):
        await conversation.turn("Do it")
    assert pen.kept[-1][1]["reason"] == "captcha"
    assert conversation.machine.resume() == "waiting"


async def test_a_disagreement_is_recorded_with_both_calls() -> None:
    reply = read_as(call("delete", path="a"), "cdp")
    other = read_as(call("delete", path="b"), "tee")
    chat = ScriptedChat([type(reply)((*reply.captures, *other.captures), "end", 1.0)])
    pen = Pen(chat)
    turn = await Conversation(chat, ResponseParser(), pen).turn("Do it")
    assert (turn.trust, turn.doubt) == ("none", "disagreement")
    [diagnostic] = [data for type_, data in pen.kept if type_ == "diagnostic"]
    assert diagnostic["calls"]["cdp"] != diagnostic["calls"]["tee"]
