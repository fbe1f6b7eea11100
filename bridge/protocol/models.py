"""What a reply means: plain values, no behaviour beyond reading them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from tool_manager.models import ToolCall, ToolResult

ReplyKind = Literal["tool_calls", "text", "error"]

Code = Literal[
    "malformed_call",
    "rendering_damage",
    "extra_call",
    "call_in_thinking",
    "look_alike_tag",
    "model_written_result",
]

CORRECTABLE: frozenset[str] = frozenset({"malformed_call", "look_alike_tag"})
"""Codes that say: the model meant to call a tool, and nothing ran."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One remark on a reply.

    `code` is for machines: `malformed_call` (a block that cannot run), `rendering_damage` (beside a `malformed_call`:
    it looks as if the page had changed the text), `extra_call` (a further block, not run, T7), `call_in_thinking`
    (X19), `look_alike_tag` (T5), `model_written_result` (T29). `reason` is one word that narrows it: for a malformed
    block `cut`, `json`, `shape`, `closing_tag`, `depth`, `number`, `thinking` or `tags` (they are missing), for damage
    what was done. `message` is one sentence without its period. `offset` counts characters of the reply from 0, `line`
    and `column` from 1.
    """

    code: Code
    message: str
    offset: int
    line: int = 1
    column: int = 1
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """A reply, understood (design, section 4).

    Without a call, `kind` is `text` and `text` the reply unchanged (T2). With one, `kind` is `tool_calls`, `text` what
    precedes the first call and `rest` what follows it (with several, also what stands between), both to the character;
    `rest` is never fed back. `error` is what would go back to the model, for the dialects that answer a bad block so;
    `thinking` is filled by those that move it out of `text`. `dialect` is the one that `auto` found, else empty.
    """

    kind: ReplyKind
    calls: tuple[ToolCall, ...] = ()
    text: str = ""
    error: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    thinking: str = ""
    rest: str = ""
    dialect: str = ""

    @property
    def problem(self) -> Diagnostic | None:
        """The first sign that a call was meant where none came out of it; None when there is nothing to correct."""
        if self.kind == "tool_calls":
            return None
        return next((found for found in self.diagnostics if found.code in CORRECTABLE), None)

    @property
    def prose(self) -> str:
        """`text` for people: without space at the end, and without the line that only opens the fence of the call."""
        text = self.text.rstrip()
        if self.kind != "tool_calls":
            return text
        before, _, last = text.rpartition("\n")
        is_fence = last.lstrip(" ").startswith(("```", "~~~")) and "`" not in last.lstrip(" `")
        return before.rstrip() if is_fence else text


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A further piece of `ParsedReply.text`, sent as soon as it cannot be part of a call."""

    text: str


@dataclass(frozen=True, slots=True)
class CallClosed:
    """A call whose block has just closed.

    The end of thinking that began before the reply can still take it back and, in a dialect whose closed blocks are not
    final, later text that shows the block to be a part of something longer; the `ParsedReply` then holds no call for
    it. So what cannot be undone waits for the reply.
    """

    call: ToolCall


StreamEvent: TypeAlias = TextDelta | CallClosed

__all__ = [
    "CORRECTABLE",
    "CallClosed",
    "Code",
    "Diagnostic",
    "ParsedReply",
    "ReplyKind",
    "StreamEvent",
    "TextDelta",
    "ToolCall",
    "ToolResult",
]
