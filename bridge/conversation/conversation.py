"""One chat as a sequence of turns: text in, a judged reply out. It knows no tools and runs nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from bridge.conversation.agreement import Doubt, Judgement, Trust, judge
from bridge.conversation.port import Capture, ChatPort, ChatReply, SentMessage
from bridge.conversation.record import NullRecorder, Recorder
from bridge.conversation.turn_machine import TurnMachine
from bridge.errors import ChatError, NeedsUser
from bridge.protocol import ParsedReply

PromptKind = Literal["task", "result", "error", "correction"]
"""Why a message is typed: the user's task, a tool's result, an invalid call, or a format correction."""

DeltaHandler = Callable[[int, int, str], None]
"""Called with (turn, offset in characters of the reply so far, new text)."""


class Parser(Protocol):
    """What a conversation needs of `bridge.protocol.ResponseParser`."""

    def parse(self, text: str, /) -> ParsedReply: ...


@dataclass(frozen=True, slots=True)
class Turn:
    """One message and its reply. A call in `reply` may do what `trust` allows; `doubt` says why it may do nothing."""

    number: int
    sent: SentMessage
    reply: ParsedReply
    captures: tuple[Capture, ...]
    trust: Trust
    doubt: Doubt | None


class Conversation:
    """One chat behind `port`, read through `parser`. One turn at a time: the caller awaits each before the next.

    Every step is told to `recorder` before it takes effect; what has happened is noted without waiting for the disk.
    """

    def __init__(self, port: ChatPort, parser: Parser, recorder: Recorder | None = None) -> None:
        self._port = port
        self._parser = parser
        self._recorder: Recorder = recorder or NullRecorder()
        self.turns = 0
        self._sent: SentMessage | None = None
        self.machine = TurnMachine()

    async def turn(
        self,
        text: str,
        on_delta: DeltaHandler | None = None,
        *,
        kind: PromptKind = "task",
        on_sent: Callable[[], None] | None = None,
    ) -> Turn:
        """Send `text`, wait for the reply, judge it; `on_sent` is called once the page has accepted the message.

        A reply with a call comes back as soon as its text is final: `settle` before anything but reading is done with
        it. Every other reply comes back settled.

        Raises `ChatError` when the page failed or the reply is empty, `NeedsUser` when only the user can go on, and
        `JournalError` when the intent to send could not be recorded: then nothing was sent.
        """
        await self.settle()
        self.turns += 1
        self.machine = TurnMachine()
        try:
            sent = self._sent = await self._send(text, kind)
            if on_sent is not None:
                on_sent()
            reply = await self._port.reply(sent, self._watch(on_delta))
        except NeedsUser as error:
            self._need_user(error)
            raise
        turn = self._judge(sent, reply, kind)
        if turn.reply.kind != "tool_calls":
            await self.settle()
        self._refuse(reply, turn)
        return turn

    async def settle(self) -> None:
        """Return when the turn is settled: the page is idle and still shows our chat; at once when it is already."""
        if self.machine.state != "replying" or self._sent is None:
            return
        try:
            await self._port.settle(self._sent)
        except NeedsUser as error:
            self._need_user(error)
            raise
        self._step("settled")

    async def _send(self, text: str, kind: PromptKind) -> SentMessage:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        self.machine.go("sending")
        await self._recorder.record("state", turn=self.turns, state="sending", kind=kind, text=text, text_sha256=digest)
        sent = await self._port.send(text)
        self._recorder.note(
            "prompt.sent",
            turn=self.turns,
            text=text,
            chars=len(text),
            kind=kind,
            url=sent.url,
            ordinal=sent.ordinal,
            message_id=sent.message_id,
            text_sha256=sent.text_sha256,
        )
        self._step("waiting")
        return sent

    def _watch(self, on_delta: DeltaHandler | None) -> Callable[[str], None]:
        offset = 0

        def handle(chunk: str) -> None:
            nonlocal offset
            if self.machine.state == "waiting":
                self._step("replying")
            if on_delta is not None:
                on_delta(self.turns, offset, chunk)
            offset += len(chunk)

        return handle

    def _judge(self, sent: SentMessage, reply: ChatReply, kind: PromptKind) -> Turn:
        if self.machine.state == "waiting":
            self._step("replying")
        judgement = judge(self._parser.parse, reply.captures)
        self._note_reply(reply, judgement, kind)
        return Turn(self.turns, sent, judgement.reply, reply.captures, judgement.trust, judgement.doubt)

    def _note_reply(self, reply: ChatReply, judgement: Judgement, kind: PromptKind) -> None:
        self._recorder.note(
            "reply.done",
            turn=self.turns,
            text=judgement.capture.text,
            sources=[capture.source for capture in reply.captures],
            trust=judgement.trust,
            ms=reply.ms,
            kind=judgement.reply.kind,
            ending=reply.ending,
            answers=kind,
            **_kept(judgement.reply, judgement.capture.text),
        )
        if judgement.doubt is not None:
            self._recorder.note("diagnostic", turn=self.turns, code=judgement.doubt, calls=judgement.detail)

    def _refuse(self, reply: ChatReply, turn: Turn) -> None:
        if reply.ending == "stopped":
            message = "The reply was stopped in the page before it was complete; look at the chat, then start again."
            error = NeedsUser("user_acted", message)
            self._need_user(error)
            raise error
        if not any(capture.text.strip() for capture in turn.captures):
            raise ChatError("The chat page gave an empty reply; look at the page, then start the task again.")

    def _need_user(self, error: NeedsUser) -> None:
        self.machine.need_user(error.reason)
        self._recorder.note("state", turn=self.turns, state="needs_user", reason=error.reason, message=str(error))

    def _step(self, state: Literal["waiting", "replying", "settled"]) -> None:
        self.machine.go(state)
        self._recorder.note("state", turn=self.turns, state=state)


def _kept(reply: ParsedReply, text: str) -> dict[str, Any]:
    """What a history needs of a reply beside the `text` that it was read from, where that is something else."""
    kept = {"prose": reply.prose if reply.prose != text else None, "thinking": reply.thinking or None}
    return {name: value for name, value in kept.items() if value is not None}
