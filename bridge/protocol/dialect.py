"""What a dialect is: one way of writing calls, in both directions (A11: formatting is the inverse of parsing)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Protocol, TypeAlias

from bridge.protocol import limits, prompts
from bridge.protocol.harmless import harmless
from bridge.protocol.injection import inject
from bridge.protocol.manifest import Manifest, describe
from bridge.protocol.models import ParsedReply, StreamEvent
from bridge.protocol.signatures import tool_line
from tool_manager.models import JsonObject, ToolCall, ToolResult, ToolSpec

Tools: TypeAlias = Mapping[str, ToolSpec]
"""The tools that a session offers, by name."""


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
    """Whether a call that closed while the reply was still arriving may start at once, if it only reads: nothing but
    the end of thinking that never began takes it back then, and a needless read harms nothing."""
    several: ClassVar[bool] = False
    """Whether a reply may hold several calls without `multi` (X1)."""
    needs_call: ClassVar[bool] = False
    """Whether a reply without a call is an error that is fed back (X8)."""
    executes: ClassVar[bool] = True
    """Whether calls of this dialect may run here at all (X17)."""
    thinking_tag: ClassVar[str] = "think"
    """The tag around thinking where a conversation is written again (C29)."""
    separator: ClassVar[str] = "\n"
    """What stands between two tools in the prompt."""

    @abstractmethod
    def stream(self, *, multi: bool = False, tools: Tools | None = None) -> StreamParser:
        """A new parser for one reply.

        `multi` takes several calls where the dialect by itself takes one (T8). `tools` are those that the session
        offers; None says that nobody knows, and then no name is refused.
        """

    @abstractmethod
    def format_call(self, call: ToolCall) -> str:
        """`call` exactly as a model should write it; parsing it gives the call back."""

    def format_calls(self, calls: Sequence[ToolCall]) -> str:
        """Several calls as one reply; parsing it gives them back where the dialect takes several."""
        return "\n".join(map(self.format_call, calls))

    @abstractmethod
    def result_message(self, call: ToolCall, result: ToolResult) -> str:
        """What is typed back after `call` has run, or was refused (see `worded`). It never parses as a call."""

    def results_message(self, outcomes: Sequence[tuple[ToolCall, ToolResult]]) -> str:
        """What is typed back after the calls of one reply, in their order."""
        return "\n".join(self.result_message(call, result) for call, result in outcomes)

    def tool_text(self, tool: ToolSpec) -> str:
        """What the prompt says of one tool. Raises `ValueError` or `TypeError` where its schema makes no sense."""
        return tool_line(tool)

    def manifest(self, tools: Sequence[ToolSpec]) -> Manifest:
        """What the prompt says of `tools`; a tool that cannot be described is left out and reported (A14)."""
        return describe(tools, self.tool_text, self.separator)

    def system_prompt(self, tools: Sequence[ToolSpec], template: str | None = None) -> str:
        """The text that opens a chat: the tools and how to call them (T31). Raises `PromptError`.

        `template` is the user's own prompt: the tools go where it says `{{tools}}` (A15), how to call them follows it.
        """
        manifest = self.manifest(tools)
        if template is None:
            return self.opening(manifest)
        listed = None if manifest.skipped and not manifest.texts else manifest.text
        return f"{inject(template, listed)}\n\n{self.instructions(list(manifest.texts))}"

    def opening(self, manifest: Manifest) -> str:
        """The text that opens a chat where the user has none. Raises `PromptError`."""
        instructions = self.instructions(list(manifest.texts))
        return prompts.render("system.j2", tools=manifest.text, instructions=instructions, dialect=self.name)

    def instructions(self, names: Sequence[str]) -> str:
        """How to call, with examples for those of the tools `names` that it has examples of. Raises `PromptError`."""
        return prompts.render(f"{self.name}.j2", names=names, call=self._call, max_call=limits.MAX_CALL_HINT)

    def invalid_text(self, call: ToolCall, code: str, error: str) -> str:
        """`error`, what the ToolManager says of a call that cannot run, in the dialect's own words (X15).

        `code` is `unknown_tool`, `missing`, `type` or `other`.
        """
        del call, code
        return error

    def worded(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """`result`, its error in the dialect's own words if the call could not run: what is to be typed back (X15)."""
        if result.code is None:
            return result
        return replace(result, error=self.invalid_text(call, result.code, result.error or "it cannot run"))

    def error_message(self, error: str, hint: str | None = None) -> str:
        """What is typed for a call that was well-formed but wrong (T23); the hint follows on a line of its own."""
        sentence = harmless(error).removesuffix(".")
        message = f"TOOL_ERROR: {sentence}. Please try again with correct format."
        return f"{message}\n{harmless(hint)}" if hint else message

    def correction_message(self, reply: ParsedReply) -> str:
        """What is typed when a call was meant but none could run: what is wrong, where, and how to send it again."""
        damage = next((found.message for found in reply.diagnostics if found.code == "rendering_damage"), None)
        return prompts.render(
            "correction.j2", found=reply.problem, damage=damage, call=self._call, max_told=limits.MAX_TOLD
        )

    def extra_calls_note(self, count: int) -> str:
        """What is typed on a line after the result when `count` further calls of the reply did not run (T7)."""
        calls = "1 more call was" if count == 1 else f"{count} more calls were"
        return f"Only your first call was run: {calls} in the same reply. Send one call at a time."

    def _call(self, name: str, args: JsonObject, reasoning: str | None = None) -> str:
        return self.format_call(ToolCall("", name, args, reasoning))
