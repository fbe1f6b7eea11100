"""What a reply means, once its blocks, its thinking and what was remarked are known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import NamedTuple

from bridge.protocol import limits, lint
from bridge.protocol.models import Diagnostic, ParsedReply
from bridge.protocol.remarks import Remark, diagnostic
from bridge.protocol.tagged.manners import Manners
from bridge.protocol.thoughts import Thoughts
from tool_manager.models import ToolCall


class Block(NamedTuple):
    """A block that closed, with the offsets of its opening tag and after its closing tag."""

    calls: Sequence[ToolCall]
    start: int
    end: int


def conclude(
    text: str,
    blocks: Sequence[Block],
    remarks: Iterable[Remark],
    thoughts: Thoughts,
    manners: Manners,
    open_tag: str,
) -> ParsedReply:
    """The meaning of the whole reply `text`."""
    starts, ends = [block.start for block in blocks], [block.end for block in blocks]
    before, *after = zip([0, *ends], [*starts, len(text)], strict=True)
    lints = lint.outside_calls(text, [before, *after], open_tag, manners.frames)
    diagnostics = tuple(diagnostic(text, each) for each in islice(chain(remarks, lints), limits.MAX_DIAGNOSTICS))
    error = None if blocks else _error(diagnostics, manners)
    shown, rest = (_outside(text, spans, thoughts, manners) for spans in ([before], after))
    return ParsedReply(
        kind="tool_calls" if blocks else "error" if error is not None else "text",
        calls=tuple(call for block in blocks for call in block.calls),
        text=shown.strip() if manners.trims and blocks else shown,
        error=error,
        diagnostics=diagnostics,
        thinking=thoughts.text(text) if manners.moves_thinking else "",
        rest=rest.strip() if manners.trims else rest,
    )


def _error(diagnostics: Iterable[Diagnostic], manners: Manners) -> str | None:
    bad = next((each for each in diagnostics if each.code == "malformed_call" and each.reason != "thinking"), None)
    return manners.error(bad) if manners.error and bad else None


def _outside(text: str, spans: Sequence[lint.Span], thoughts: Thoughts, manners: Manners) -> str:
    if manners.moves_thinking:
        return "".join(thoughts.without(text, *span) for span in spans)
    return "".join([text[start:end] for start, end in spans])
