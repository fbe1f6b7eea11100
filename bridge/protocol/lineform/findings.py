"""What was found in a reply, and the reply that it makes."""

from __future__ import annotations

from bridge.protocol import limits, lint
from bridge.protocol.lineform.shapes import Shape
from bridge.protocol.models import Code, ParsedReply
from bridge.protocol.remarks import IN_THINKING, Remark, diagnostic, only_thought
from tool_manager.models import ToolCall


class Findings:
    """The calls of one reply, each with the part of the text that it is, and what is to be said of the reply."""

    def __init__(self) -> None:
        self._calls: list[tuple[ToolCall, int, int]] = []
        self._remarks: list[Remark] = []

    @property
    def is_full(self) -> bool:
        """Whether no further remark is taken."""
        return len(self._remarks) >= limits.MAX_DIAGNOSTICS

    def call(self, call: ToolCall, start: int, end: int) -> None:
        self._calls.append((call, start, end))

    def remark(self, code: Code, reason: str, message: str, offset: int) -> None:
        if not self.is_full:
            self._remarks.append(Remark(code, reason, message, offset))

    def thought(self, offset: int) -> None:
        """A call at `offset` stands in thinking."""
        self.remark("call_in_thinking", "", IN_THINKING, offset)

    def take_back(self) -> bool:
        """All calls so far were thoughts. Whether there were any."""
        calls, self._calls = self._calls, []
        for _, start, _ in calls:
            self.thought(start)
        return bool(calls)

    def reply(self, text: str, shape: Shape, *, is_thought: bool) -> ParsedReply:
        """What `text` means; `is_thought` says that nothing follows the thinking in it."""
        if is_thought:
            self._judge_thoughts()
        starts, ends = [start for _, start, _ in self._calls], [end for _, _, end in self._calls]
        outside = list(zip([0, *ends], [*starts, len(text)], strict=True))
        remarks = [*self._remarks, *self._further(text, outside, shape)][: limits.MAX_DIAGNOSTICS]
        return ParsedReply(
            kind="tool_calls" if self._calls else "text",
            calls=tuple(call for call, _, _ in self._calls),
            text=text[: outside[0][1]],
            rest="".join(text[start:end] for start, end in outside[1:]),
            diagnostics=tuple(diagnostic(text, remark) for remark in remarks),
        )

    def _judge_thoughts(self) -> None:
        """A call in thinking that an answer follows was a thought; with nothing after it, it was meant."""
        thoughts = [remark for remark in self._remarks if remark.code == "call_in_thinking"]
        if thoughts and not self._calls:
            self._remarks.insert(0, only_thought(thoughts[0].offset))

    def _further(self, text: str, outside: list[tuple[int, int]], shape: Shape) -> list[Remark]:
        remarks = list(lint.written_results(text, outside[0]))
        if not self._calls and not self._remarks:
            remarks += shape.remarks(text)
        for start, end in outside[1:]:
            if not text[start:end].strip():
                continue
            message = "a further call in the same reply was not run"
            found = shape.again.finditer(text, start, end)
            remarks += [Remark("extra_call", "", message, each.start()) for each in found]
            remarks += lint.written_results(text, (start, end))
        return remarks
