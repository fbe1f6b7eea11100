"""Repairs that follow from a diagnostic alone: no guessing, `None` where nothing follows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

UNUSED = re.compile(r"[`']([\w.]+)(?: as (\w+))?[`'] imported but unused")
CLOSERS = {"(": ")", "[": "]", "{": "}"}


def repair(content: str, diagnostic: Mapping[str, Any]) -> str | None:
    """`content` with the cause of `diagnostic` (`line` from 1, `code`, `message`) removed, or `None`."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", content)  # not splitlines(): a form feed ends no line of code
    at = diagnostic.get("line")
    if not isinstance(at, int) or not 1 <= at <= len(lines):
        return None
    message = str(diagnostic.get("message", ""))
    fixed = _fix_line(lines[at - 1], str(diagnostic.get("code") or ""), message)
    if fixed is None or fixed == lines[at - 1]:
        return None
    return "".join([*lines[: at - 1], fixed, *lines[at:]])


def _fix_line(line: str, code: str, message: str) -> str | None:
    body = line.rstrip("\r\n")
    end = line[len(body) :]
    if unused := UNUSED.search(message):
        kept = _without_import(body, unused[2] or unused[1])
        return kept and kept + end if kept is not None else None
    if "expected ':'" in message.lower() or "Expected `:`" in message:
        return _before_comment(body, ":") + end
    if opened := re.search(r"'([(\[{])' was never closed", message):
        return _close(body, CLOSERS[opened[1]]) + end
    if code == "F541":
        return re.sub(r"\b[fF](?=[\"'])", "", body, count=1) + end
    return None


def _without_import(line: str, name: str) -> str | None:
    """An import line without `name` ("" when nothing is left of it); `None` when it is not such a line."""
    head, keyword, names = line.partition("import ")
    if not keyword or "(" in names or not (head.strip() == "" or head.lstrip().startswith("from ")):
        return None
    parts = [part.strip() for part in names.partition("#")[0].split(",")]
    wanted = {name, name.rpartition(".")[2]}
    left = [part for part in parts if part not in wanted and part.rpartition(" as ")[2] not in wanted]
    if len(left) == len(parts):
        return None
    return head + keyword + ", ".join(left) if left else ""


def _before_comment(line: str, mark: str) -> str:
    code, hash_sign, comment = line.partition("  #")
    return code.rstrip() + mark + hash_sign + comment


def _close(line: str, closer: str) -> str:
    """Close at the end of the line, but before the colon that opens a block."""
    code = line.rstrip()
    opens_block = re.match(r"\s*(?:if|elif|while|for|with|def|class|async|match|case)\b", code) and code.endswith(":")
    return code[:-1] + closer + ":" if opens_block else code + closer
