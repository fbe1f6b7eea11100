"""What a dialect is: one way of writing calls, in both directions (A11: formatting is the inverse of parsing)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Protocol

from bridge.protocol import limits, prompts
from bridge.protocol.models import ParsedReply, StreamEvent
from bridge.protocol.signatures import describe
from tool_manager.models import JsonObject, ToolCall, ToolResult, ToolSpec


class StreamParser(Protocol):
    """The parser of one reply. Neither method raises on any text, and the sum of the work is linear in it."""

    def feed(self, chunk: str) -> list[StreamEvent]:
        """Take the next piece of the reply; return what it made certain: text that is no call, calls that closed.

        Raises `ValueError` after `close()`.
        """

    def close(self) -> ParsedReply:
        """The reply is over: what it means, the same for every way of cutting it into chunks. May be called again."""


class Dialect(ABC):
    """One dialect. A new one is one module in `bridge.protocol.dialects` with an instance named `DIALECT`, or an entry
    point in the group `tabferry.dialects` that names such an instance."""

    name: ClassVar[str]
    closed_block_is_final: ClassVar[bool] = False
    """Whether a call that closed while the reply was still arriving may start at once (if it only reads)."""

    @abstractmethod
    def stream(self, *, multi: bool = False) -> StreamParser:
        """A new parser for one reply; `multi` takes several calls where the dialect by itself takes one (T8)."""

    @abstractmethod
    def format_call(self, call: ToolCall) -> str:
        """`call` exactly as a model should write it; parsing it gives the call back."""

    @abstractmethod
    def result_message(self, call: ToolCall, result: ToolResult) -> str:
        """What is typed back after `call` has run. It never parses as a call."""

    def system_prompt(self, tools: Sequence[ToolSpec]) -> str:
        """The text that opens a chat: the tools and how to call them (T31). Raises `PromptError`.

        A tool that cannot be described is left out, with a warning in the log.
        """
        lines, _ = describe(tools)
        return prompts.render("system.j2", tools=list(lines.values()), instructions=self.instructions(list(lines)))

    def instructions(self, names: Sequence[str]) -> str:
        """How to call, with examples for those of the tools `names` that it has examples of. Raises `PromptError`."""
        return prompts.render(f"{self.name}.j2", names=names, call=self._call, max_call=limits.MAX_CALL_HINT)

    def error_message(self, error: str, hint: str | None = None) -> str:
        """What is typed for a call that was well-formed but wrong (T23); the hint follows on a line of its own."""
        sentence = _one_line(error)[: limits.MAX_ERROR].removesuffix(".")
        message = f"TOOL_ERROR: {sentence}. Please try again with correct format."
        return f"{message}\n{_one_line(hint)[: limits.MAX_ERROR]}" if hint else message

    def correction_message(self, reply: ParsedReply) -> str:
        """What is typed when a call was meant but none could run: what is wrong, where, and how to send it again."""
        damage = next((found.message for found in reply.diagnostics if found.code == "rendering_damage"), None)
        return prompts.render("correction.j2", found=reply.problem, damage=damage, call=self._call)

    def _call(self, name: str, args: JsonObject, reasoning: str | None = None) -> str:
        return self.format_call(ToolCall("", name, args, reasoning))


def _one_line(text: str) -> str:
    return "".join(map(_typable, text)).strip()


def _typable(char: str) -> str:
    if "\ud800" <= char <= "\udfff":
        return "\ufffd"
    return char if char.isprintable() else " "
