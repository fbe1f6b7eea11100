"""What else a reader should know of a reply: look-alike tags, results the model wrote, text that a page has changed.

Nothing here can make or unmake a call."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import TypeAlias

from bridge.protocol import limits
from bridge.protocol.jsontext import BadJson
from bridge.protocol.remarks import Remark
from bridge.protocol.tagged.hops import places
from bridge.protocol.tags import SPACE

Span: TypeAlias = tuple[int, int]
_JSON_FOLLOWS = rf"{SPACE}{{0,40}}(?:```+\w{{0,20}}{SPACE}{{0,40}})?[\[{{“]"
_FOREIGN_ENDS = ("＞", "›", "〉", "❯", "&gt;")
_PLAIN_END = re.compile(f"(>){_JSON_FOLLOWS}")
_ANY_END = re.compile(f"(>|{'|'.join(_FOREIGN_ENDS)}){_JSON_FOLLOWS}")
_MAX_TAG = 64
_TAG_LIKE = re.compile(r"(?:[<＜‹〈❮]|\\<|&lt;)([^<>＜＞‹›〈〉❮❯&\n]{1,60})\Z")
_WRITTEN_RESULT = re.compile(
    r"^[ \t>*`]{0,20}(?:\w{1,20}:[ \t]{0,20})?"
    r"(?:TOOL_(?:RESULT|ERROR):|<results>\s{0,40}\[|Tool '[^'\n]{1,100}' result:|tool execution failed:"
    r"|The following tool executions have completed\.)",
    re.MULTILINE,
)
FRAMES = ("TOOL_RESULT:", "TOOL_ERROR:", "<results>", "' result:", "tool execution failed:")
"""What tells the lines that a bridge types back: every match of the pattern above holds one."""
_MAX_LEAD = 180
_LOOK_ALIKES = str.maketrans("тοоαасτ", "tooaact")
_SMART_QUOTES = "“”„‟«»‘’"


def outside_calls(text: str, spans: Iterable[Span], open_tag: str, frames: Iterable[str] = FRAMES) -> Iterator[Remark]:
    """Remarks on `spans`, the parts of `text` before the first call and after each. Linear in their length."""
    before, *after = spans
    if not after:
        yield from _look_alikes(text, open_tag)
    for span in (before, *after):
        yield from written_results(text, span, frames)


def _look_alikes(text: str, open_tag: str) -> Iterator[Remark]:
    """Looks from the end of a tag, where JSON follows, back to its beginning: that is much rarer than a tag."""
    ends = _ANY_END if any(end in text for end in _FOREIGN_ENDS) else _PLAIN_END
    for end in ends.finditer(text):
        found = _TAG_LIKE.search(text[max(0, end.start() - _MAX_TAG) : end.start()])
        tag = found[0] + end[1] if found else open_tag
        if found and tag != open_tag and _plain(found[1]) == _plain(open_tag[1:-1]):
            message = f"{tag[: limits.EXCERPT]!a} is not the tag {open_tag}, which must be written exactly so"
            yield Remark("look_alike_tag", "", message, end.start() - len(found[0]))


@lru_cache
def _plain(name: str) -> str:
    """`name` without what makes a look-alike: case, width, invisible marks, foreign letters, attributes, separators."""
    visible = "".join(char for char in unicodedata.normalize("NFKC", name) if unicodedata.category(char) != "Cf")
    words = visible.casefold().translate(_LOOK_ALIKES).strip(" \t/\\").split()
    first = "".join(words[:2]) if words[:1] == ["tool"] else "".join(words[:1])
    return re.sub(r"[\W_]", "", first)


def written_results(text: str, span: Span, frames: Iterable[str] = FRAMES) -> Iterator[Remark]:
    """Remarks on results that the model wrote itself in `span` of `text` (T29)."""
    places = {line for frame in frames for line in islice(_framed_lines(text, span, frame), limits.MAX_DIAGNOSTICS)}
    for line in sorted(places):
        yield Remark("model_written_result", "", "the model wrote a tool result itself; it is not one", line)


def _framed_lines(text: str, span: Span, frame: str) -> Iterator[int]:
    start, end = span
    for at in places(text, frame, start, end):
        line = text.rfind("\n", max(0, at - _MAX_LEAD), at) + 1
        if line >= start and (line or at <= _MAX_LEAD):
            found = _WRITTEN_RESULT.match(text, line, end)
            if found and at < found.end():
                yield line


def bad_json(text: str, start: int, error: BadJson) -> list[Remark]:
    """What is wrong with `text`, which stands at `start` in the reply and is no JSON: where, why, and maybe by whom."""
    quoted, offset = error.reason == "json", start + error.offset
    place = f" at character {error.offset + 1}" if quoted else ""
    broken = Remark("malformed_call", error.reason, f"the JSON is not valid: {error}{place}", offset, quoted)
    found = damage(text, error.offset, str(error))
    return [broken, *([Remark("rendering_damage", *found, offset)] if found else [])]


def damage(json_text: str, offset: int, message: str) -> tuple[str, str] | None:
    """Reason and sentence, if JSON that breaks at `offset` with `message` looks changed by the page that showed it."""
    char = json_text[offset : offset + 1]
    if char in tuple(_SMART_QUOTES):
        return "smart_quotes", "quotes of the JSON have become typographic ones, as pages do outside a code fence"
    if char in ("\u00a0", "\u200b", "\ufeff"):
        return "invisible", "an invisible character stands between JSON tokens, as pages do outside a code fence"
    if char == "•":
        return "placeholder", "a dot stands between JSON tokens, which editors draw for characters they cannot show"
    if json_text.startswith(("&quot;", "&#34;", "&#x22;"), offset):
        return "entities", "quotes of the JSON have become HTML entities"
    if "delimiter" in message and offset and json_text[offset - 1] == '"':
        return "backslashes", "a string ends too early, as if the page had eaten the backslash before a quote"
    if "escape" in message:
        return "backslashes", "a lone backslash stands in a string, as if the page had eaten the one before it"
    return None
