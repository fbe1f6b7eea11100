"""What differs between the dialects that write calls as `<TAG>` JSON `</TAG>`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bridge.protocol import lint
from bridge.protocol.models import Diagnostic
from tool_manager.models import JsonValue, ToolCall

ReadCalls = Callable[[JsonValue], "Sequence[ToolCall] | str"]
"""Makes the calls of a decoded block, or says in half a sentence why it holds none."""


@dataclass(frozen=True, slots=True)
class Manners:
    """What differs between the dialects that write calls so."""

    error: Callable[[Diagnostic], str] | None = None
    """Makes of the first malformed block what goes back; the reply is an `error` then, not a `text` (X3). A call that
    only stands in thinking is no error."""
    moves_thinking: bool = False
    """Whether thinking is moved out of `text` and `rest` into `thinking` (design, section 4)."""
    trims: bool = False
    """Whether `text` and `rest` lose their outer white space when a call is found (F12)."""
    strict: bool = False
    """Whether anything between the two tags is a block, so that what is not JSON there is malformed. A JSON value that
    is no object or array goes to `read` too, which must refuse it."""
    frames: Sequence[str] = lint.FRAMES
    """What marks a line as a result of ours, for the remark on those that the model writes itself (T29)."""
    edges: bool = False
    """Whether a fence inside the tags and the labels of a code block are skipped around the JSON, and a reply that is
    only the JSON is told apart from an answer."""


PLAIN = Manners()
