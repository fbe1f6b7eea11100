"""A call that is the whole message, strictly: any other character makes it text (S1–S5)."""

from __future__ import annotations

from bridge.protocol.jsonform.jsonwalk import SPACES, JsonWalk
from bridge.protocol.jsontext import decode_prefix
from bridge.protocol.models import ParsedReply, StreamEvent, TextDelta
from tool_manager.models import JsonValue, ToolCall


class WholeStream:
    """The parser of one reply. See `bridge.protocol.dialect.StreamParser` for the contract.

    Text is held back only while the whole can still be a request. No call is ever announced before `close()`: any
    further character would make the message text.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._unshown: list[str] = []
        self._walk: JsonWalk | None = None
        self._value: JsonValue = None  # of a message that came in one piece
        self._is_text = self._is_over = self._is_closed = False

    def feed(self, chunk: str) -> list[StreamEvent]:
        if self._is_closed:
            raise ValueError("this stream is closed: make a new one for each reply")
        self._parts.append(chunk)
        self._unshown.append(chunk)
        if not self._is_text:
            self._is_text = not self._goes_on(chunk)
        if not self._is_text:
            return []
        text, self._unshown = "".join(self._unshown), []
        return [TextDelta(text)] if text else []

    def close(self) -> ParsedReply:
        self._is_closed = True
        text = "".join(self._parts)
        call = self._call(text) if self._is_over and not self._is_text else None
        return ParsedReply("tool_calls", (call,)) if call else ParsedReply("text", text=text)

    def _call(self, text: str) -> ToolCall | None:
        return read_request(text) if self._value is None else _request(self._value)

    def _goes_on(self, chunk: str) -> bool:
        """Whether the message can still be one JSON object and nothing else."""
        at = 0
        if self._walk is None:
            at = len(chunk) - len(chunk.lstrip(SPACES))
            if at == len(chunk):
                return True
            if chunk[at] != "{":
                return False
            self._walk = JsonWalk()
            self._value, end = decode_prefix(chunk, at)
            self._is_over, at = bool(end), max(at, end)
        if not self._is_over:
            at, state = self._walk.walk(chunk, at)
            self._is_over = state == "end"
            if state in ("broken", "deep"):
                return False
        return not chunk[at:].strip(SPACES)


def read_request(message: str) -> ToolCall | None:
    """The request that the whole of `message` is; None for everything else. Never raises (S1–S5).

    Of two equal keys nobody can tell which was meant: such a message is text, too.
    """
    value, end = decode_prefix(message, len(message) - len(message.lstrip(SPACES)))
    return None if not end or message[end:].strip(SPACES) else _request(value)


def _request(value: JsonValue) -> ToolCall | None:
    request: JsonValue = value["tool_request"] if _has_keys(value, {"tool_request"}) else None
    if _has_keys(request, {"name"}):
        request = {**request, "arguments": {}}
    if not _has_keys(request, {"name", "arguments"}):
        return None
    name, arguments = request["name"], request["arguments"]
    if not isinstance(name, str) or not name.strip() or not isinstance(arguments, dict):
        return None
    return ToolCall.of(name, arguments)


def _has_keys(value: JsonValue, keys: set[str]) -> bool:
    return isinstance(value, dict) and value.keys() == keys
