"""One `.gitignore`: what its lines say about a path, as git itself reads them. Pure, and fast for hostile lines too."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tool_manager.limits import GLOB_CHARS
from tool_manager.wildcards import TOKEN, compile_path


@dataclass(frozen=True, slots=True)
class _Wild:
    at: int
    ignores: bool
    only_directories: bool
    by_name: bool
    pattern: re.Pattern[str]


@dataclass(slots=True)
class IgnoreFile:
    """`count` rules are in force; `dropped` lines were beyond a limit.

    A rule without wildcards is found by its text, which says it all: `name`, `/path`, `name/` (directories only).
    """

    count: int = 0
    dropped: int = 0
    plain: dict[str, tuple[int, bool]] = field(default_factory=dict)
    wild: list[_Wild] = field(default_factory=list)

    def verdict(self, path: str, *, directory: bool) -> bool | None:
        """What the last rule that matches `path` itself says: ignore it, keep it; None when none matches."""
        name = path.rpartition("/")[2]
        texts = (name, f"/{path}", f"{name}/", f"/{path}/") if directory else (name, f"/{path}")
        last, verdict = max((self.plain[text] for text in texts if text in self.plain), default=(-1, None))
        for rule in reversed(self.wild):
            if rule.at < last:
                break
            if (directory or not rule.only_directories) and rule.pattern.fullmatch(name if rule.by_name else path):
                return rule.ignores
        return verdict


def parse(text: str, limit: int) -> IgnoreFile:
    """The first `limit` rules of `text`; a line that git would not understand either is passed over."""
    rules = IgnoreFile()
    for line in text.removeprefix("\ufeff").split("\n"):
        line = _trimmed(line.removesuffix("\r"))
        if not line.strip("/") or line.startswith("#"):
            continue
        if rules.count >= limit or len(line) > GLOB_CHARS:
            rules.dropped += 1
        else:
            _add(rules, line)
    return rules


def _trimmed(line: str) -> str:
    bare = line.rstrip(" ")
    escaped = (len(bare) - len(bare.rstrip("\\"))) % 2 and bare != line
    return bare + " " if escaped else bare


def _add(rules: IgnoreFile, line: str) -> None:
    body = line.removeprefix("!")
    only_directories = body.endswith("/")
    body = body.removesuffix("/")
    by_name, body = "/" not in body, body.removeprefix("/")
    tokens = TOKEN.findall(body)
    if not body or "[" in tokens or "\\" in tokens:
        return  # an open bracket or a last backslash matches nothing in git
    at, ignores = rules.count, not line.startswith("!")
    if any(token in "*?" or token[0] in "[\\" for token in tokens):
        try:
            rules.wild.append(_Wild(at, ignores, only_directories, by_name, compile_path(body)))
        except ValueError:
            return
    else:
        rules.plain[f"{'' if by_name else '/'}{body}{'/' if only_directories else ''}"] = (at, ignores)
    rules.count += 1
