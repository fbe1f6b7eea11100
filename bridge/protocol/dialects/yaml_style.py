"""`TOOL: name`, `ARGS:` and an indented YAML mapping (T55): one call a reply, several with `multi`."""

from __future__ import annotations

import json
import re

from bridge.protocol import limits
from bridge.protocol.dialect import StreamParser, Tools
from bridge.protocol.lineform.faults import Fault
from bridge.protocol.lineform.fences import Fence
from bridge.protocol.lineform.linedialect import LineDialect
from bridge.protocol.lineform.lines import LineStream
from bridge.protocol.lineform.shapes import LEAD, Block, Verdict
from bridge.protocol.lineform.yamlentries import Ends
from bridge.protocol.lineform.yamltext import read_mapping
from bridge.protocol.remarks import Remark
from tool_manager.models import JsonValue, ToolCall

_NAME = r"[^\W\d][\w.:/-]{0,127}+"
_HEAD = re.compile(rf"{LEAD}TOOL:[ \t]{{0,8}}(?:({_NAME})|\"({_NAME})\"|'({_NAME})')[ \t]{{0,8}}\r?\n")
_AGAIN = re.compile(
    rf"^ {{0,{limits.MAX_LINE_INDENT}}}TOOL:[ \t]{{0,8}}[\"']?{_NAME}[\"']?[ \t]{{0,8}}\r?$", re.MULTILINE
)
_MAY_BEGIN = re.compile(rf"{LEAD}(?:T|TO|TOO|TOOL|TOOL:[^\n]*)?")
_ARGS = re.compile(r"( *)ARGS:(?=[ \t\r\n])")
_LOOSE_ARGS = re.compile(r"\s*\W{0,4}arg(?:ument)?s\W{0,4}(?:\s|$)", re.IGNORECASE)
_ENTRY = re.compile(r"[ \t]*+(?:[\w-]++|\"[^\"\n]{0,128}\"|'[^'\n]{0,128}'):(?:\s|$)|[ \t]*+- ")
_FENCE_LINE = re.compile(r" *(?:```+|~~~+)[ \t\r]*\n?")
_LOOK_ALIKE = re.compile(
    r"^[ \t>*_`-]{0,12}tool[*_` ]{0,4}:[*_` ]{0,4}\w[\w.:/-]{0,127}[*_` \t]{0,4}\r?\n[ \t>*_`-]{0,12}arg(?:ument)?s\W",
    re.IGNORECASE | re.MULTILINE,
)
_PLAIN_KEY = re.compile(r"(?!(?:null|true|false)$)[a-zA-Z_][\w-]{0,127}", re.ASCII | re.IGNORECASE)


class YamlDialect(LineDialect):
    """YAML does not show where it was cut, so a block is never final before the reply is, and one that stands in a
    fence must see the end of it."""

    name = "yaml_style"

    def stream(self, *, multi: bool = False, tools: Tools | None = None) -> StreamParser:
        return LineStream(YamlShape(tools), multi=multi)

    def format_call(self, call: ToolCall) -> str:
        """The call in a fence of four backticks, each argument on one line, its value as JSON, which is YAML too."""
        lines = [f"  {_key(key)}: {_json(value)}" for key, value in call.args.items()]
        body = "\n".join(["ARGS:", *lines]) if lines else "ARGS: {}"
        return f"````yaml\nTOOL: {call.name}\n{body}\n````"


class YamlShape:
    """How YAML calls look; `tools` are those that may be named, if they are known."""

    mark = "L"
    head = re.compile(rf"\n{LEAD}TOOL:")
    again = _AGAIN

    def __init__(self, tools: Tools | None) -> None:
        self._tools = tools
        names = "|".join(map(re.escape, tools or ()))
        tail = r"[^\S\n]*(?:[#(][^\n]*)?$"
        self._meant = re.compile(rf"^ {{0,16}}TOOL:[^\S\n]*[\"']?(?:{names})[\"']?{tail}", re.M) if names else None

    def may_begin(self, line: str) -> bool:
        return _MAY_BEGIN.fullmatch(line) is not None

    def begin(self, line: str, fence: Fence | None, *, thinking: bool) -> tuple[Block, int] | None:
        found = _HEAD.fullmatch(line)
        if found is None or len(found[1]) > (fence.indent if fence else 0) + 3:
            return None
        name = found[2] or found[3] or found[4]
        is_known = self._tools is None or name in self._tools
        return YamlBlock(name, len(found[1]), fence, is_known=is_known), len(line)

    def remarks(self, text: str) -> list[Remark]:
        message = "a call must be written exactly so: TOOL: and ARGS: in capitals, each at the beginning of its line"
        if found := _LOOK_ALIKE.search(text):
            return [Remark("look_alike_tag", "", message, found.start())]
        found = self._meant.search(text) if self._meant else None
        return [Remark("malformed_call", "shape", message, found.start())] if found else []


class YamlBlock:
    """One call: the lines after `TOOL:` up to the first that is neither blank nor indented deeper than `ARGS:`."""

    def __init__(self, name: str, indent: int, fence: Fence | None, *, is_known: bool) -> None:
        self._name, self._indent, self._fence, self._is_known = name, indent, fence, is_known
        self._args = False
        self._in_line = False
        self._gap = False  # whether the last line was blank
        self._next: str | None = None  # the line that ended the block

    def feed(self, data: str, at: int, *, ended: bool) -> tuple[int, bool]:
        while at < len(data):
            if self._in_line:
                end = data.find("\n", at) + 1
                if not end:
                    return len(data), False
                at, self._in_line = end, False
                continue
            end = data.find("\n", at, at + limits.MAX_HEAD) + 1
            line = data[at : end or at + limits.MAX_HEAD]
            is_whole = bool(end) or len(line) == limits.MAX_HEAD or ended
            if self._is_inside(line if end else f"{line}\n" if is_whole else line, is_whole):
                self._in_line = True
            elif is_whole:
                self._next = line
                return at, True
            else:
                return at, False
        return at, False

    def _is_inside(self, line: str, is_whole: bool) -> bool:
        """Whether `line` belongs to the block; False also where only more of it can tell."""
        bare = line.lstrip(" ")
        if not bare.strip():
            self._gap = is_whole or self._gap
            return is_whole
        if not self._args:
            found = _ARGS.match(line)
            self._args = is_whole and found is not None and len(found[1]) == self._indent
            self._gap = self._gap and not self._args
            return self._args
        inside = len(line) - len(bare) > self._indent or bare[0] in "\t\xa0\u200b\u3000"
        self._gap = self._gap and not inside
        return inside

    def verdict(self, text: str, *, ended: bool) -> Verdict:
        if self._next is None and self._fence is not None and (self._args or self._is_known):
            return Fault("cut", "the reply ends inside the fence of the call", len(text))
        if not self._args:
            return self._without_args(text)
        if not self._is_known:
            return Fault("shape", f"there is no tool named {self._name}", 0)
        at = text.index("ARGS:", text.index("\n")) - self._indent
        try:
            read = read_mapping(text[at:] if text.endswith("\n") else f"{text[at:]}\n")
        except Fault as fault:
            fault.offset = min(at + fault.offset, len(text))
            return fault
        return self._badly_ended(read.ends, len(text)) or ToolCall.of(self._name, read.args, written=read.written)

    def _without_args(self, text: str) -> Fault | None:
        """A line of prose that follows at once makes a mention of it; everything else was meant as a call."""
        line = self._next
        is_mention = line is not None and not (
            self._gap or _FENCE_LINE.fullmatch(line) or _again(line) or _LOOSE_ARGS.match(line) or _ENTRY.match(line)
        )
        if is_mention or not self._is_known:
            return None
        return Fault("shape", "the line ARGS: must follow, indented as TOOL: is", len(text))

    def _badly_ended(self, ends: Ends, at: int) -> Fault | None:
        """What is wrong with what follows arguments that end with `ends`, at the offset `at`."""
        line = self._next
        if line is None:
            return Fault("cut", "the reply ends where a value should begin", at) if ends == "empty" else None
        if _again(line):
            return None
        if self._fence is not None:
            is_wrong = not self._fence.is_closed_by(line)
        else:
            is_wrong = not self._gap and (ends != "closed" or _ENTRY.match(line) is not None)
        message = "this line must be indented deeper than ARGS:, or stand outside the call"
        return Fault("shape", message, at) if is_wrong else None


def _again(line: str) -> bool:
    return _AGAIN.match(line.rstrip("\n")) is not None


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else _json(key)


def _json(value: JsonValue) -> str:
    return json.dumps(value, allow_nan=False).replace("\x7f", "\\u007f")


DIALECT = YamlDialect()
