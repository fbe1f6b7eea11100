"""Streaming one reply: from the model's text to server-sent events, with the faults a test asked for."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Protocol

from bridge.demo.chats import Chat, Exchange, Message
from bridge.demo.faults import Faults, ReplyFault, truncate
from bridge.demo.http import EventStream
from bridge.demo.model import chunks


class Model(Protocol):
    """Whatever writes the replies: the conversation so far (`role`, `content`) in, the next reply out."""

    def reply(self, messages: list[dict[str, str]]) -> str: ...


class ReplyWriter:
    """Lets `model` answer, `delay` seconds between two chunks, misbehaving as `faults` says."""

    def __init__(self, model: Model, delay: float, faults: Faults) -> None:
        self._model, self._delay, self._faults = model, delay, faults

    async def write(self, chat: Chat, exchange: Exchange, number: int, stream: EventStream) -> None:
        """Answer the newest message of `chat`, reply `number` (0-based), into `stream` and `exchange`."""
        fault = self._faults.hit(number)
        answer = _spoil(fault, self._model.reply([{"role": m.role, "content": m.content} for m in chat.messages]))
        message = chat.add("assistant", "")
        try:
            await stream.send(_event(message.id, {"role": "assistant", "content": ""}))
            await self._stream(answer, message, exchange, stream)
            while fault == "endless":
                await self._stream(answer + "\n\n", message, exchange, stream)
            self._finish(fault, exchange, stream)
        except OSError:
            exchange.replied_ns, exchange.ended = time.monotonic_ns(), "stopped"

    async def _stream(self, answer: str, message: Message, exchange: Exchange, stream: EventStream) -> None:
        for piece in chunks(answer):
            if stream.gone:
                raise ConnectionAbortedError
            await stream.send(_event(message.id, {"content": piece}))
            message.content += piece
            exchange.reply = message.content
            await asyncio.sleep(self._delay)

    def _finish(self, fault: ReplyFault, exchange: Exchange, stream: EventStream) -> None:
        if fault == "drop":
            exchange.replied_ns, exchange.ended = stream.drop(), "dropped"
            return
        cut = fault == "truncated"
        exchange.replied_ns = stream.end(None if cut and not self._faults.done else "[DONE]")
        exchange.ended = "truncated" if cut else "done"


def _spoil(fault: ReplyFault, answer: str) -> str:
    match fault:
        case "empty":
            return ""
        case "truncated":
            return truncate(answer)
        case "drop":
            return answer[: len(answer) // 2]
        case _:
            return answer


def _event(message_id: str, delta: dict[str, str]) -> str:
    """One chunk in the shape of OpenAI's streaming API."""
    return json.dumps({"id": message_id, "choices": [{"index": 0, "delta": delta}]})
