"""A chat that replies from a script, a journal that tells when it became durable, and whole tasks run on both.

For a loop in any dialect: `run = await drive(workspace, journal, [reply, …], dialect="cogency", prepare=register)`.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.agent import LLMManager
from bridge.conversation import Capture, ChatLocation, ChatReply, Ending, SentMessage, Source
from bridge.conversation.port import DeltaHandler
from bridge.errors import JournalError, TabferryError
from bridge.journal import Event, Journal
from bridge.protocol import dialects
from tool_manager import ToolCall, ToolManager

Step = str | ChatReply | Exception
Log = list[tuple[str, str]]


def call(tool: str, **args: Any) -> str:
    """A reply that calls `tool`."""
    return f"<TOOL_CALL>\n{json.dumps({'tool': tool, 'args': args})}\n</TOOL_CALL>"


def read_as(text: str, *sources: Source, ending: Ending = "end") -> ChatReply:
    """`text` as a reply that was read from `sources`."""
    return ChatReply(tuple(Capture(source, text) for source in sources), ending, 1.0)


class ScriptedChat:
    """A `ChatPort`. `typed` is what was sent; a script that has run out answers "Done."; an exception in it is raised.

    `hold` names a step ("open", "send", "reply", "settle") that waits to be cancelled; `reached` is set when it does.
    """

    def __init__(self, script: Iterable[Step] = (), *, log: Log | None = None, hold: str | None = None) -> None:
        self._script = list(script)
        self._hold = hold
        self.reached = asyncio.Event()
        self.log: Log = [] if log is None else log
        self.typed: list[str] = []
        self.opened = 0
        self.stopped = 0
        self.closed = 0

    async def open(self, *, new_chat: bool = True) -> ChatLocation:
        await self._wait("open")
        self.opened += 1
        return ChatLocation("http://chat.test/1", "http://chat.test", "scripted", "none")

    async def send(self, text: str) -> SentMessage:
        await self._wait("send")
        self.log.append(("effect", "send"))
        self.typed.append(text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        return SentMessage("http://chat.test/1", len(self.typed) - 1, None, digest)

    async def reply(self, sent: SentMessage, on_delta: DeltaHandler | None = None) -> ChatReply:
        await self._wait("reply")
        await asyncio.sleep(0)
        step = self._script.pop(0) if self._script else "Done."
        if isinstance(step, Exception):
            raise step
        reply = step if isinstance(step, ChatReply) else read_as(step, "cdp")
        if on_delta is not None:
            for at in range(0, len(reply.text), 7):
                on_delta(reply.text[at : at + 7])
        return reply

    async def settle(self, sent: SentMessage) -> None:
        await self._wait("settle")

    async def stop(self) -> None:
        self.stopped += 1

    async def close(self) -> None:
        self.closed += 1

    async def _wait(self, step: str) -> None:
        if step == self._hold:
            self.reached.set()
            await asyncio.Event().wait()


class LoggedJournal(Journal):
    """Logs each event once it is durable; refuses those for which `refuse` says so."""

    log: Log
    refuse: Callable[[str], bool]

    @classmethod
    def at(cls, folder: Path, log: Log | None = None, refuse: Callable[[str], bool] | None = None) -> LoggedJournal:
        journal = cls.open(folder / "journal" / "journal.db")
        journal.log = [] if log is None else log
        journal.refuse = refuse or (lambda type: False)
        return journal

    async def append(self, type: str, **fields: Any) -> Event:
        if self.refuse(type):
            raise JournalError(f"The disk is full: {type} was not recorded.")
        event = await super().append(type, **fields)
        state = event.data.get("state") if type == "state" else None
        self.log.append(("durable", f"{type}:{state}" if state else type))
        return event


async def types(journal: Journal, *wanted: str) -> list[str]:
    """The types of all events in order, or only those that are `wanted`."""
    return [event.type for event in await journal.events(limit=10_000) if not wanted or event.type in wanted]


async def data(journal: Journal, type: str) -> list[dict[str, Any]]:
    """The data of each event of `type`."""
    return [event.data for event in await journal.events(limit=10_000) if event.type == type]


@dataclass(frozen=True, slots=True)
class Run:
    """What became of one task: its end (`kind` is `text` or `error`), answer or error sentence, the chat, and the calls
    that were begun, in order, with their arguments as they ran and what the record holds of their outcomes."""

    kind: str
    text: str
    chat: ScriptedChat
    calls: list[dict[str, Any]]
    done: list[dict[str, Any]]


async def drive(
    workspace: Path,
    journal: Journal,
    script: Iterable[Step],
    *,
    prepare: Callable[[ToolManager], object] = lambda tools: None,
    task: str = "Do it",
    **options: Any,
) -> Run:
    """Run one task of a real `LLMManager` with a real `ToolManager` on `script`, in any dialect.

    `options` are those of `LLMManager`: `dialect`, `provider`, `xml`, `multi`, `approve` (default `auto`), `approver`,
    `max_iterations`, `on_malformed`, `bounds` …; `prepare` registers tools. Replies are plain text as the model would
    write it: `written(dialect, …)` writes calls. `chat.typed[0]` is system prompt and task, the rest is what went back.
    """
    chat = ScriptedChat(script)
    async with LLMManager(workspace, chat=chat, journal=journal, **{"approve": "auto", **options}) as llm:
        prepare(llm.tools)
        try:
            kind, text = "text", await llm.call(task)
        except TabferryError as error:
            kind, text = "error", str(error)
    events = [event for event in await journal.events(limit=10_000) if event.session == llm.session]
    begun = {event.call for event in events if event.type == "call.started"}
    ran = {event.call: event.data["args"] for event in events if event.type == "call.granted" and "args" in event.data}
    parsed = [event for event in events if event.type == "call.parsed" and event.call in begun]
    calls = [{"name": event.data["tool"], "args": ran.get(event.call, event.data["args"])} for event in parsed]
    return Run(kind, text, chat, calls, [event.data for event in events if event.type == "call.done"])


def written(dialect: str, *calls: tuple[str, dict[str, Any]]) -> str:
    """A reply that makes `calls` (name, arguments), as `dialect` writes them."""
    return dialects.get(dialect).format_calls([ToolCall.of(name, args) for name, args in calls])
