"""The rules of assistant-api between a client, its tools and the model (S6–S17, X17, X18), as plain values.

    outcome = conversation.request(messages)      # Prompt: send it to the model; Refused: answer with its status
    response = conversation.reply(text)           # what the model said; or
    conversation.failed()                         # the model could not be asked: as if the request had not been

Nothing here runs a tool, asks the model again or reads a result: a request for a tool goes out in the response, and
whoever runs it sends the result with the next request.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bridge.protocol import limits
from bridge.protocol.jsonform.wholejson import read_request
from tool_manager.models import JsonObject, JsonValue

Role = Literal["system", "user", "assistant", "tool_result"]


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message for the model. `content` is text, or for a tool's result any JSON value, as it came (S11); `name` is
    what the client calls the tool, which nothing checks (S10)."""

    role: Role
    content: JsonValue
    name: str | None = None

    @property
    def text(self) -> str:
        return self.content if isinstance(self.content, str) else json.dumps(self.content, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model is asked: persona, the client's system prompt, history, tool results, user message (S13)."""

    messages: tuple[PromptMessage, ...]

    @property
    def text(self) -> str:
        return "\n\n".join(message.text for message in self.messages)


@dataclass(frozen=True, slots=True)
class Refused:
    """A request that never reaches the model: the HTTP status and one sentence."""

    status: int
    error: str


@dataclass(frozen=True, slots=True)
class Response:
    """What the client gets: text, or with no text the request for a tool, `{"name", "arguments"}` (S6)."""

    content: str
    tool_request: JsonObject | None = None
    finish_reason: str = "stop"


@dataclass(frozen=True, slots=True)
class Turn:
    """What is remembered of a turn: both sides' text. `user` is empty where only results were sent (X18)."""

    user: str
    assistant: str


class PendingConversation:
    """One conversation. It owns the history, whatever the client sends along (S14); results are shown to the model once
    and not remembered.

    `pending` says whether the last reply asked for a tool: only then does a request's `tool_result` count (S7–S9).
    """

    def __init__(self, persona: str = "") -> None:
        self.pending = False
        self._persona = persona
        self._history: deque[Turn] = deque(maxlen=limits.MAX_HISTORY_TURNS)
        self._asked: str | None = None  # the user's message of the request that the model is working on

    @property
    def history(self) -> tuple[Turn, ...]:
        return tuple(self._history)

    def request(self, messages: Sequence[Mapping[str, JsonValue]], *, stream: bool = False) -> Prompt | Refused:
        """What to ask the model for a client's `messages`, each `{"role", "content", "name"?}`, or why not.

        Never raises. Unknown roles, messages that are none, empty ones and results that nobody asked for are passed
        over. Nothing changes until `reply`; a new request takes the place of one that is still open.
        """
        if stream:
            return Refused(501, "Streaming is not supported.")
        given = messages if isinstance(messages, Sequence) else ()
        valid = [message for message in given if isinstance(message, Mapping)]
        user = next((text for text in reversed(_texts(valid, "user")) if text.strip()), "")
        results = list(_results(valid)) if self.pending else []
        if not user and not results:
            return Refused(400, "No user message provided.")
        self._asked = user
        return Prompt(tuple(self._prompt(_texts(valid, "system"), results, user)))

    def reply(self, text: str) -> Response:
        """What the client gets for the model's `text`; only now the turn is stored (S15, S16).

        Raises `ValueError` if no request is open.
        """
        if self._asked is None:
            raise ValueError("no request is open: a reply answers the prompt of a request")
        self._history.append(Turn(self._asked, text))
        self._asked = None
        call = read_request(text)
        self.pending = call is not None
        if call is None:
            return Response(text)
        return Response("", {"name": call.name, "arguments": call.args})

    def failed(self) -> None:
        """The model gave no reply: nothing is stored, and the result may be sent again (S16)."""
        self._asked = None

    def _prompt(self, system: list[str], results: list[PromptMessage], user: str) -> Iterator[PromptMessage]:
        for text in (self._persona, *system):
            if text.strip():
                yield PromptMessage("system", text)
        for turn in self._history:
            if turn.user:
                yield PromptMessage("user", turn.user)
            yield PromptMessage("assistant", turn.assistant)
        yield from (result for result in results if result.content != "")
        if user:
            yield PromptMessage("user", user)


def _texts(messages: Sequence[Mapping[str, JsonValue]], role: Role) -> list[str]:
    found = (message.get("content") for message in messages if message.get("role") == role)
    return [content for content in found if isinstance(content, str)]


def _results(messages: Sequence[Mapping[str, JsonValue]]) -> Iterator[PromptMessage]:
    """The results among `messages`; an empty one counts, though the model is not shown it, null does not (S11)."""
    for message in messages:
        if message.get("role") == "tool_result" and message.get("content") is not None:
            name = message.get("name")
            yield PromptMessage("tool_result", message["content"], name if isinstance(name, str) else None)
