"""What else a reader should know of a reply: look-alike tags, results the model wrote, text that a page has changed.

Nothing here can make or unmake a call."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TypeAlias

from bridge.protocol.remarks import Remark
from bridge.protocol.tags import SPACE

Span: TypeAlias = tuple[int, int]
_TAG_LIKE = re.compile(r"(?:[<＜‹〈❮]|\\<|&lt;)([^<>＜＞‹›〈〉❮❯&\n]{1,60})(?:[>＞›〉❯]|&gt;)")
_JSON_FOLLOWS = re.compile(rf"{SPACE}{{0,40}}(?:```+\w{{0,20}}{SPACE}{{0,40}})?[{{“]")
_WRITTEN_RESULT = re.compile(r"^[ \t>*`]{0,20}(?:\w{1,20}:[ \t]{0,20})?TOOL_(?:RESULT|ERROR):", re.MULTILINE)
_LOOK_ALIKES = str.maketrans("тοоαасτ", "tooaact")
_SMART_QUOTES = "“”„‟«»‘’"


def outside_calls(text: str, spans: Iterable[Span], open_tag: str) -> Iterator[Remark]:
    """Remarks on `spans`, the parts of `text` before the first call and after each. Linear in their length."""
    before, *after = spans
    if not after:
        yield from _look_alikes(text, open_tag)
    yield from _written_results(text, before)
    for span in after:
        yield from _extra_calls(text, span, open_tag)
        yield from _written_results(text, span)


def _look_alikes(text: str, open_tag: str) -> Iterator[Remark]:
    for found in _TAG_LIKE.finditer(text):
        if found[0] == open_tag or not _JSON_FOLLOWS.match(text, found.end()):
            continue
        if _plain(found[1]) == _plain(open_tag[1:-1]):
            message = f"{found[0]!a} is not the tag {open_tag}, which must be written exactly so"
            yield Remark("look_alike_tag", "", message, found.start())


@lru_cache
def _plain(name: str) -> str:
    """`name` without what makes a look-alike: case, width, invisible marks, foreign letters, attributes, separators."""
    visible = "".join(char for char in unicodedata.normalize("NFKC", name) if unicodedata.category(char) != "Cf")
    words = visible.casefold().translate(_LOOK_ALIKES).strip(" \t/\\").split()
    first = "".join(words[:2]) if words[:1] == ["tool"] else "".join(words[:1])
    return re.sub(r"[\W_]", "", first)


def _written_results(text: str, span: Span) -> Iterator[Remark]:
    for found in _WRITTEN_RESULT.finditer(text, *span):
        message = "the model wrote a tool result itself; it is not one"
        yield Remark("model_written_result", "", message, found.start())


def _extra_calls(text: str, span: Span, open_tag: str) -> Iterator[Remark]:
    block = re.compile(rf"{re.escape(open_tag)}{SPACE}*+[{{\[]")
    for found in block.finditer(text, *span):
        yield Remark("extra_call", "", "a further call in the same reply was not run", found.start())


def damage(json_text: str, offset: int, message: str) -> tuple[str, str] | None:
    """Reason and sentence, if JSON that breaks at `offset` with `message` looks changed by the page that showed it."""
    char = json_text[offset : offset + 1]
    if char in tuple(_SMART_QUOTES):
        return "smart_quotes", "quotes of the JSON have become typographic ones, as pages do outside a code fence"
    if char in ("\u00a0", "\u200b", "\ufeff"):
        return "invisible", "an invisible character stands between JSON tokens, as pages do outside a code fence"
    if json_text.startswith(("&quot;", "&#34;", "&#x22;"), offset):
        return "entities", "quotes of the JSON have become HTML entities"
    if "delimiter" in message and offset and json_text[offset - 1] == '"':
        return "backslashes", "a string ends too early, as if the page had eaten the backslash before a quote"
    if "escape" in message:
        return "backslashes", "a lone backslash stands in a string, as if the page had eaten the one before it"
    return None
