"""Arguments written in YAML, read without ever constructing anything.

Only the scanner and the parser of PyYAML run here: neither recurses, and both give events, not objects. Of YAML there
is what a model needs to write a mapping; what could hide, repeat or silently change a value is refused: tags, anchors,
aliases, merge and equal keys, scalars folded over several lines, comments that may be part of a value.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import (
    AliasEvent,
    CollectionStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
)
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner

from bridge.protocol import limits
from bridge.protocol.lineform.faults import Fault
from bridge.protocol.lineform.yamlentries import Arguments, Ends, Path, read_entries
from bridge.protocol.lineform.yamlscalars import plain
from bridge.protocol.surrogates import joined
from tool_manager.models import JsonObject, JsonValue

_DOUBTFUL_COMMENT = re.compile(r"[ \t]++#[^\s#]")
_BRACKETS = re.compile(rf"(?:[\[{{] *+){{{limits.MAX_DEPTH + 1}}}")
_BREAKS = re.compile("\r(?!\n)|[\x85\u2028\u2029]")
_BAD_INDENT = re.compile("^ *([\t\xa0\u200b\u3000])", re.MULTILINE)


class _Events(Reader, Scanner, Parser):
    """The events of a YAML text: no composer, no constructor, no resolver."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)


def read_mapping(text: str) -> Arguments:
    """The mapping that `text`, a mapping of one key, has as its value. Raises `Fault`, and nothing else, whatever
    `text` is."""
    return read_entries(text) or _read_events(text)


def _read_events(text: str) -> Arguments:
    if found := _BREAKS.search(text):
        raise Fault("yaml", "an unusual line break stands in it: write it as \\uXXXX in double quotes", found.start())
    if found := _BRACKETS.search(text):
        raise Fault("depth", f"it is nested more than {limits.MAX_DEPTH} levels deep", found.start())
    builder = _Builder(text)
    try:
        events = _Events(text)
        while events.check_event():
            builder.take(events.get_event())  # type: ignore[no-untyped-call]
    except MarkedYAMLError as error:
        raise _bad_yaml(text, error) from None
    except (YAMLError, ValueError, OverflowError) as error:
        at = min(int(getattr(error, "position", 0)), len(text))
        raise Fault("yaml", "it holds a character or an escape that YAML does not know", at) from None
    return builder.arguments()


def _bad_yaml(text: str, error: MarkedYAMLError) -> Fault:
    mark = error.problem_mark or error.context_mark
    at = min(mark.index, len(text)) if mark else 0
    if fault := _bad_indent(text):
        return fault
    is_cut = at >= len(text.rstrip()) and error.problem != "mapping values are not allowed here"
    return Fault("cut" if is_cut else "yaml", f"the YAML is not valid: {error.problem or 'it breaks off'}", at)


def _bad_indent(text: str) -> Fault | None:
    """What is wrong with `text` if it is indented by anything but spaces."""
    found = _BAD_INDENT.search(text)
    if found is None:
        return None
    if found[1] == "\t":
        return Fault("yaml", "a tab stands where only spaces may indent", found.start(1))
    damage = ("invisible", "spaces of the indentation have become other characters, as pages do outside a code fence")
    return Fault("yaml", "the indentation is not made of spaces", found.start(1), damage)


class _Builder:
    """Makes values of events, with a stack of its own in place of recursion."""

    def __init__(self, text: str) -> None:
        self.written: dict[Path, str] = {}
        self._text = text
        self._ends: Ends = "none"
        self._stack: list[tuple[Any, Path]] = []
        self._keys: list[str | None] = []  # for each open mapping the key whose value comes next
        self._flows: list[bool] = []
        self._root: JsonObject = {}
        self._count = 0

    def arguments(self) -> Arguments:
        """The value of the only key; nothing at all is an empty mapping."""
        if len(self._root) != 1:
            raise _bad_indent(self._text) or Fault("shape", "the arguments must be indented deeper than ARGS:", 0)
        (value,) = self._root.values()
        if value is not None and not isinstance(value, dict):
            raise Fault("shape", "ARGS must hold an indented mapping, `name: value` on each line", 0)
        return Arguments(value or {}, self.written, "none" if value is None else self._ends)

    def take(self, event: Event) -> None:
        if isinstance(event, AliasEvent) or getattr(event, "anchor", None) is not None:
            self._refuse(event, "anchors and aliases (& and *) are not taken: quote the value")
        elif getattr(event, "tag", None) is not None:
            self._refuse(event, "tags (!) are not taken: quote the value")
        elif isinstance(event, ScalarEvent):
            self._scalar(event)
        elif isinstance(event, CollectionStartEvent):
            self._open(event)
        elif isinstance(event, SequenceEndEvent | MappingEndEvent):
            self._stack.pop()
            self._keys.pop()
            self._ends = "closed" if self._flows.pop() else self._ends

    def _open(self, event: CollectionStartEvent) -> None:
        if len(self._stack) > limits.MAX_DEPTH:
            self._refuse(event, f"it is nested more than {limits.MAX_DEPTH} levels deep", "depth")
        if self._expects_key():
            self._refuse(event, "a key must be a simple name")
        value: JsonValue = {} if isinstance(event, MappingStartEvent) else []
        self._stack.append((value, self._put(value)))
        self._keys.append(None)
        self._flows.append(bool(event.flow_style))

    def _scalar(self, event: ScalarEvent) -> None:
        if event.style not in ("|", ">") and "\n" in self._text[_start(event) : _end(event)]:
            self._refuse(event, "a value of several lines must be a block after `|`, or have \\n in double quotes")
        if not event.style and _DOUBTFUL_COMMENT.match(self._text, _end(event)):
            self._refuse(event, "what follows ` #` may be part of the value: quote it")
        text = joined(event.value)
        if self._expects_key():
            self._key(event, text)
            return
        value = text if event.style else self._plain(event, text)
        self._ends = _ends(event)
        path = self._put(value)
        if not isinstance(value, str) and text:
            self.written[path[1:]] = text

    def _key(self, event: ScalarEvent, key: str) -> None:
        if key in self._stack[-1][0]:
            self._refuse(event, "a key stands there twice")
        if key == "<<" and not event.style:
            self._refuse(event, "merge keys are not taken")
        self._keys[-1] = key

    def _plain(self, event: ScalarEvent, text: str) -> JsonValue:
        try:
            return plain(text)
        except Fault as fault:
            self._refuse(event, str(fault), fault.reason)

    def _expects_key(self) -> bool:
        return bool(self._stack) and isinstance(self._stack[-1][0], dict) and self._keys[-1] is None

    def _put(self, value: JsonValue) -> Path:
        self._count += 1
        if self._count > limits.MAX_YAML_VALUES:
            raise Fault("yaml", f"it holds more than {limits.MAX_YAML_VALUES} values", 0)
        if not self._stack:
            self._root = value  # a mapping: the text begins with a key
            return ()
        inside, path = self._stack[-1]
        if isinstance(inside, list):
            inside.append(value)
            return (*path, len(inside) - 1)
        key, self._keys[-1] = self._keys[-1] or "", None
        inside[key] = value
        return (*path, key)

    def _refuse(self, event: Event, message: str, reason: str = "yaml") -> NoReturn:
        raise Fault(reason, message, _start(event))


def _ends(event: ScalarEvent) -> Ends:
    if event.style in ("|", ">"):
        return "text" if event.value.strip() else "empty"
    return "closed" if event.style or event.value else "empty"


def _start(event: Event) -> int:
    return event.start_mark.index if event.start_mark else 0


def _end(event: Event) -> int:
    return event.end_mark.index if event.end_mark else 0
