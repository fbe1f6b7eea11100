"""What runs, what asks, what is refused (design, decision 6; T43). Pure: names in, a decision out."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Literal

from tool_manager.errors import shown
from tool_manager.plan import Decision, EffectKind

Approve = Literal["ask", "edits", "auto", "none"]
Mode = Literal["plan", "act"]

GUARDED_DIRECTORIES: Final = frozenset({".git", ".vscode", ".idea", ".devcontainer", ".github", ".husky", ".tabferry"})
GUARDED_FILES: Final = frozenset(
    {
        ".tabferryignore",
        "agents.md",
        ".mcp.json",
        ".envrc",
        ".npmrc",
        ".pypirc",
        ".netrc",
        "makefile",
        "package.json",
        # Other names that the same programs read in their place (or, like GNUmakefile, before them).
        "agents.override.md",
        ".devcontainer.json",
        "_netrc",
        "gnumakefile",
        "bsdmakefile",
    }
)
GUARDED_SUFFIXES: Final = (".code-workspace",)  # what .vscode holds, as one file
SECRET_FILES: Final = (".env*", "*.pem", "*.key", "id_*", ".netrc", "_netrc", ".npmrc")
SECRET_DIRECTORIES: Final = frozenset({"secrets"})
_SHORT_NAME: Final = re.compile(r"(git|vscode|idea|github|husky|devcon|tabfer)~\d+")


@dataclass(frozen=True, slots=True)
class Request:
    """What policy judges: every spelling of the files that would be read out or written.

    `undoable` is true when the planned writes are known in full, so that they can be shown and taken back.
    """

    tool: str
    effect: EffectKind
    dangerous: bool = False
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    undoable: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """`approve`: ask (default) asks for every change, edits runs undoable ones, auto all but the always-ask set,
    none refuses whatever would ask. `mode` plan refuses every change."""

    approve: Approve = "ask"
    mode: Mode = "act"

    def decide(self, request: Request) -> Decision:
        """The decision, the rule that made it, and one sentence why."""
        if self.mode == "plan" and request.effect != "read":
            return Decision(
                "deny", "mode=plan", f"{request.tool} is not run in plan mode; describe the change instead."
            )
        asking = _always(request) or self._approval(request)
        if asking is None:
            return self._allowed(request)
        rule, reason = asking
        if self.approve == "none":
            return Decision(
                "deny", "approve=none", f"{reason} Nobody is asked under --approve none, so it was not done."
            )
        return Decision("ask", rule, reason)

    def _approval(self, request: Request) -> tuple[str, str] | None:
        if request.effect == "read":
            return None
        if self.approve == "auto" or (self.approve == "edits" and request.undoable):
            return None
        what = shown(request.writes[-1]) if request.writes else "something"
        return f"approve={self.approve}", f"{request.tool} would change {what}."

    def _allowed(self, request: Request) -> Decision:
        if request.effect == "read":
            return Decision("allow", "read", "Reading inside the workspace is allowed.")
        return Decision("allow", f"approve={self.approve}", f"--approve {self.approve} lets {request.tool} run.")


def _always(request: Request) -> tuple[str, str] | None:
    """The set that asks whatever `approve` says."""
    if request.dangerous:
        return "dangerous", f"{request.tool} is marked dangerous."
    if request.effect == "command":
        return "command", f"{request.tool} runs a command."
    for name in request.writes:
        if guard := guarded(name):
            return f"always-ask:{guard}", f"{shown(name)} changes what runs or what is obeyed."
    for name in request.reads:
        if is_secret(name):
            return "secret-file", f"{shown(name)} looks like a secret; reading it would send it to the chat."
    return None


def guarded(path: str) -> str | None:
    """The guarded name in `path`, at any depth and in any case; None when it is an ordinary file."""
    parts = [_fold(part) for part in path.split("/")]
    for part in parts:
        if part in GUARDED_DIRECTORIES or _SHORT_NAME.fullmatch(part):
            return part
    return parts[-1] if parts[-1] in GUARDED_FILES or parts[-1].endswith(GUARDED_SUFFIXES) else None


def is_secret(path: str) -> bool:
    """Whether the file's content must not leave unasked."""
    parts = [_fold(part) for part in path.split("/")]
    inside = any(part in SECRET_DIRECTORIES for part in parts[:-1])
    return inside or any(fnmatchcase(parts[-1], pattern) for pattern in SECRET_FILES)


def _fold(name: str) -> str:
    """`name` as the laxest file system would compare it: case, compatibility forms, ignorable characters (HFS+),
    streams and trailing dots (NTFS under WSL)."""
    visible = "".join(char for char in name if unicodedata.category(char) != "Cf")
    folded = unicodedata.normalize("NFKC", visible).casefold()
    head = folded.split(":")[0] or folded
    return head.rstrip(". ") or head
