"""How the scripted model puts what it found into words."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath

from bridge.demo.transcript import Outcome

LANGUAGES = {"ts": "ts", "py": "python", "js": "js", "json": "json", "md": "markdown", "toml": "toml"}


def language(path: str) -> str:
    """The label of a fence for this file."""
    return LANGUAGES.get(PurePosixPath(path).suffix.removeprefix("."), "text")


def count(number: int, one: str, many: str | None = None) -> str:
    """`1 line`, `3 lines`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def find_field(content: str, name: str) -> str | None:
    """The value of `name` in a file: a key of a JSON object, else `name = value` or `name: value` on a line."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        found = re.search(rf"^\s*[\"']?{re.escape(name)}[\"']?\s*[=:]\s*(.+?)\s*,?$", content, re.M | re.I)
        return found[1].strip("\"'`;") if found else None
    if not isinstance(value, dict) or name not in value:
        return None
    return value[name] if isinstance(value[name], str) else json.dumps(value[name])


def sorry(what: str, outcome: Outcome) -> str:
    """Why a step could not be done; `what` is "read `x`" and the like."""
    if outcome.kind == "invalid":
        return f"I'm sorry, I could not {what}: the call was not accepted ({outcome.error.splitlines()[0]})."
    if outcome.denied:
        return f"I did not {what}, because it was not allowed: {outcome.error}"
    if outcome.missing and what.startswith("read"):
        return f"I cannot {what} because the file does not exist. Would you like me to create it?"
    return f"I cannot {what}: {outcome.error or 'the tool gave no reason'}"
