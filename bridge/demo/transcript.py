"""What the scripted model reads out of a conversation: the task, and what came of each call it made."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]
RESULT, ERROR, TASK = "TOOL_RESULT:", "TOOL_ERROR:", "\nTASK:"
DENIED = re.compile(r"\b(denied|declined|refused|rejected|not (?:approved|allowed|confirmed|permitted))\b", re.I)
MISSING = re.compile(r"not found|no such file|does not exist", re.I)
AGAIN = re.compile(r"^No tool was run|(?:same|whole) call again", re.I)


@dataclass(frozen=True, slots=True)
class Call:
    """A call the model wants to make, and the sentence it says before it."""

    say: str
    tool: str
    args: Json


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call. `kind`: `result` (ran or failed), `invalid` (TOOL_ERROR), `repeat` (did not arrive)."""

    kind: Literal["result", "invalid", "repeat"]
    success: bool = False
    data: Any = None
    error: str = ""

    @property
    def denied(self) -> bool:
        return not self.success and bool(DENIED.search(self.error))

    @property
    def missing(self) -> bool:
        return not self.success and bool(MISSING.search(self.error))

    def text(self, key: str) -> str:
        """A text of the result, "" where there is none."""
        value = self.data.get(key) if isinstance(self.data, dict) else None
        return value if isinstance(value, str) else ""

    @property
    def next_args(self) -> Json | None:
        """The arguments of the call that gets the next page, where the result names one."""
        following = self.data.get("next") if isinstance(self.data, dict) else None
        args = following.get("args") if isinstance(following, dict) else None
        return args if isinstance(args, dict) else None

    @property
    def exact(self) -> bool:
        """Whether `content` is the file to the last byte, so that it may be edited and written back."""
        return isinstance(self.data, dict) and not {"next", "notes", "binary", "encoding", "start_line"} & set(
            self.data
        )

    def rows(self, key: str) -> list[Json]:
        """A list of objects of the result; a list of plain paths becomes `{"file": path}` each."""
        value = self.data.get(key) if isinstance(self.data, dict) else self.data
        if not isinstance(value, list):
            return []
        return [row if isinstance(row, dict) else {"file": str(row)} for row in value]


@dataclass(slots=True)
class Transcript:
    """The newest task and, in order, what came of the calls made for it so far."""

    task: str = ""
    outcomes: list[Outcome] = field(default_factory=list)


def read(messages: Sequence[Mapping[str, str]]) -> Transcript:
    """Read a conversation (`role`, `content`); never raises, whatever the messages hold."""
    found, last_reply = Transcript(), ""
    for message in messages:
        text = message["content"]
        if message["role"] == "assistant":
            last_reply = text
        elif message["role"] == "user":
            outcome = _outcome(text, calling="<TOOL_CALL>" in last_reply)
            if outcome is None:
                found = Transcript(_task(text))
            else:
                found.outcomes.append(outcome)
    return found


def _outcome(text: str, *, calling: bool) -> Outcome | None:
    start = text.lstrip()
    if start.startswith(RESULT):
        return _result(start.removeprefix(RESULT).lstrip())
    if start.startswith(ERROR):
        error = start.removeprefix(ERROR).strip()
        return Outcome("repeat" if AGAIN.search(error) else "invalid", error=error)
    if calling and TASK not in text and "TOOL_CALL" in text:
        return Outcome("repeat", error=start)
    return None


def _result(text: str) -> Outcome:
    """The one-line JSON of a result; a reminder may follow it on a new line."""
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return Outcome("invalid", error="the tool result is not readable JSON")
    if not isinstance(value, dict):
        return Outcome("invalid", error="the tool result is not a JSON object")
    return Outcome("result", value.get("success") is True, value.get("data"), str(value.get("error") or ""))


def _task(text: str) -> str:
    """The task in a first message: what follows the last `TASK:` line, else the last line that says something."""
    _, marker, after = ("\n" + text).rpartition(TASK)
    if marker:
        return after.strip()
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip() if len(lines) > 20 else text.strip()


def listing(names: Iterable[str]) -> str:
    """Names as a Markdown list of inline code."""
    return "\n".join(f"- `{name}`" for name in names)
