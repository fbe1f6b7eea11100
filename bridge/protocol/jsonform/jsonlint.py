"""What is wrong with a call in JSON that cannot run: told once the whole reply is there."""

from __future__ import annotations

import re

from bridge.protocol import limits, lint
from bridge.protocol.jsontext import BadJson, fault
from bridge.protocol.remarks import Remark

_QUOTE = r"(?:[“”„‟«»]|&quot;|&#34;|&#x22;)"
_FIRST_KEY = re.compile(rf"\{{\s{{0,40}}({_QUOTE})(?:tool_calls|tool_request|tool|function|name){_QUOTE}\s{{0,9}}:")
_FURTHER_KEY = re.compile(rf"{_QUOTE}(?:function|arguments|args|parameters|name){_QUOTE}\s{{0,9}}:")


def broken_call(text: str, opened: int, error: BadJson | None) -> list[Remark]:
    """Remarks on the value at `opened` in the reply `text`, that looked like a call and is no JSON: where and why.

    `error` is what is wrong with it if all of it was there.
    """
    text = text[opened:]
    error = error or fault(text)
    if error is None or error.reason == "cut":
        message = f"the reply was cut off inside the JSON after {len(text)} characters of it"
        return [Remark("malformed_call", "cut", message, opened + len(text))]
    return lint.bad_json(text, opened, error)


def damaged_call(text: str) -> list[Remark]:
    """Remarks on the first value of the reply `text` that would look like a call if its quotes were plain. Linear."""
    for found in _FIRST_KEY.finditer(text):
        if _FURTHER_KEY.search(text, found.end(), found.end() + limits.MAX_LABEL * 5):
            at = found.start(1)
            broken = Remark("malformed_call", "json", "the JSON is not valid: its quotes are no plain quotes", at, True)
            damage = lint.damage(text, at, "")
            return [broken, *([Remark("rendering_damage", *damage, at)] if damage else [])]
    return []
