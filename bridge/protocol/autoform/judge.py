"""What the parts of a reply come to that is in an unknown dialect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from bridge.protocol import limits
from bridge.protocol.dialect import Dialect, Tools
from bridge.protocol.models import Diagnostic, ParsedReply
from bridge.protocol.remarks import Remark, diagnostic, only_thought

_JSON = ("openai_json", "gemini_json", "default_json")
_NO_CALL = Remark("malformed_call", "shape", "the block that begins first is no call, so none after it runs", 0)

Find: TypeAlias = Callable[[str], Dialect]
"""The dialect of a name."""


class Judge:
    """Asks the dialects that `find` knows; `tools` are those that may be named, if they are known."""

    def __init__(self, find: Find, tools: Tools | None) -> None:
        self._find, self._tools = find, tools

    def value(self, text: str, *, is_whole: bool) -> ParsedReply | None:
        """What the JSON value `text` means in the first dialect that it is a call of; None for data. `is_whole` says
        that it is all of the reply, not of a fence."""
        problem = None
        for name in ("assistant_api", *_JSON) if is_whole else _JSON:
            reply = replace(self._parse(name, text), dialect=name)
            if name == "assistant_api" and not reply.calls:
                continue
            known = self._tools is None or any(call.name in self._tools for call in reply.calls)
            if reply.kind == "error" or (reply.calls and known):
                return reply
            problem = problem or (reply if reply.problem else None)
        return problem

    def with_block(
        self, text: str, remarks: Sequence[Remark], block: ParsedReply, start: int, end: int | None, *, is_call: bool
    ) -> ParsedReply:
        """The reply `text`, of which `block` is what its dialect makes of everything from `start` on, or up to `end`.

        Without `is_call` its calls do not count.
        """
        remarks = [*remarks, *([] if is_call or not block.calls else [_NO_CALL._replace(offset=start)])]
        found = [diagnostic(text, remark) for remark in remarks]
        found += [_moved(each, text, start) for each in block.diagnostics]
        diagnostics = tuple(found[: limits.MAX_DIAGNOSTICS])
        if not block.calls or not is_call:
            kind = "text" if block.calls else block.kind
            return ParsedReply(kind, text=text, error=block.error, diagnostics=diagnostics, dialect=block.dialect)
        rest = block.rest if end is None else text[end:]
        return replace(block, text=text[:start] + block.text, diagnostics=diagnostics, rest=rest)

    def without_block(self, text: str, remarks: Sequence[Remark], *, is_thought: bool) -> ParsedReply:
        """The reply `text`, which holds none; `is_thought` says that nothing follows the thinking in it. What is said
        of the dialect that we teach is said here too."""
        found = [diagnostic(text, remark) for remark in remarks]
        thoughts = [each for each in found if each.code == "call_in_thinking"]
        if thoughts and is_thought:
            found.insert(0, diagnostic(text, only_thought(thoughts[0].offset)))
        taught = self._parse("tool_call", text) if not found else ParsedReply("text")
        return ParsedReply("text", text=text, diagnostics=(*found, *(() if taught.calls else taught.diagnostics)))

    def _parse(self, name: str, text: str) -> ParsedReply:
        stream = self._find(name).stream(tools=self._tools)
        stream.feed(text)
        return stream.close()


def _moved(found: Diagnostic, text: str, by: int) -> Diagnostic:
    offset = min(found.offset + by, len(text))
    return diagnostic(text, Remark(found.code, found.reason, found.message, offset))
