"""What a task runs under: the choices of configuration, flags or `task/start`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from bridge.agent.limits import MAX_ITERATIONS
from bridge.errors import UsageError
from bridge.protocol import dialects
from tool_manager import ToolSpec

Approve = Literal["ask", "edits", "auto", "none"]
Mode = Literal["plan", "act"]
DEFAULT_DIALECT: Final = "tool_call"
OnMalformed = Literal["correct", "text", "error"]
"""A malformed block: tell the model (twice at most), take the reply as the answer (T10), or fail."""


@dataclass(frozen=True, slots=True)
class Choices:
    """Site (at `url`, or its own address), dialect, policy and bounds of a session.

    `multi` takes every call of a reply in a dialect of one (T8); `team_xml` overrules what a later request says of XML
    (A8); `system_prompt` is the user's own, with `{{tools}}` where the tools go (A15).
    """

    site: str = "demo"
    url: str | None = None
    dialect: str = DEFAULT_DIALECT
    approve: Approve = "ask"
    mode: Mode = "act"
    max_iterations: int = MAX_ITERATIONS
    headless: bool = True
    on_malformed: OnMalformed = "correct"
    multi: bool = False
    team_xml: bool | None = None
    system_prompt: str | None = None


def check(workspace: Path | str, choices: Choices) -> Path:
    """The real path of `workspace`; raises `UsageError` for a bad one, or for choices that mean nothing."""
    for name, allowed in (
        ("approve", get_args(Approve)),
        ("mode", get_args(Mode)),
        ("on_malformed", get_args(OnMalformed)),
    ):
        if getattr(choices, name) not in allowed:
            raise UsageError(f"{name} is {getattr(choices, name)!r}; it must be one of {', '.join(allowed)}.")
    if choices.max_iterations < 1:
        raise UsageError(f"max_iterations is {choices.max_iterations}; it must be 1 or more.")
    check_dialect(choices.dialect)
    return real_workspace(workspace)


def check_dialect(name: str) -> None:
    """Raises `UsageError` for a dialect that is unknown, or whose calls never run here (X17)."""
    if not dialects.get(name).executes:
        raise UsageError(f"The dialect {name} never runs tools, so it cannot carry a task; choose another.")


def opening(choices: Choices, tools: Sequence[ToolSpec]) -> str:
    """The text that opens a chat: the dialect's own system prompt, or the user's with the tools in it (A15)."""
    return dialects.get(choices.dialect).system_prompt(tools, choices.system_prompt)


def check_task(task: str) -> None:
    """Raises `UsageError` when there is nothing to do."""
    if not task.strip():
        raise UsageError("The task is empty; say what to do.")


def real_workspace(path: Path | str) -> Path:
    """The real path of a workspace; raises `UsageError` when it is missing or not a directory."""
    try:
        real = Path(path).expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"The workspace {str(path)!r} cannot be opened; give a directory that exists.") from error
    if not real.is_dir():
        raise UsageError(f"The workspace {str(real)!r} is not a directory; give the one that holds the project.")
    return real
