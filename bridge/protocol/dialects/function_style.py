"""`name(key="value")` on a line of its own (T56): one call a reply, several with `multi`."""

from __future__ import annotations

import json
import re
from difflib import get_close_matches
from typing import Literal

from bridge.protocol import limits
from bridge.protocol.dialect import StreamParser, Tools
from bridge.protocol.lineform.faults import Fault
from bridge.protocol.lineform.fences import Fence, may_open
from bridge.protocol.lineform.functext import CallScanner, read_arguments
from bridge.protocol.lineform.linedialect import LineDialect
from bridge.protocol.lineform.lines import LineStream
from bridge.protocol.lineform.shapes import LEAD, Block, Verdict
from bridge.protocol.remarks import Remark
from tool_manager.models import JsonValue, ToolCall

_LABELS = frozenset({"", "python", "py", "python3", "tool_code", "text", "txt", "plaintext"})
"""Fences that may hold a call: in those of other languages it would be a program."""

_NAME = r"[^\W\d][\w.-]{0,127}+"
_HEAD = re.compile(rf"{LEAD}({_NAME})\(")
_MAY_BEGIN = re.compile(rf"{LEAD}(?:{_NAME})?")
_SPACES = re.compile(r"[ \t\r\n]*+")
_BLANKS = re.compile(r"[ \t]*+")
_COMMENT = re.compile(r"[^\r\n]*+")
_FOLLOWER = re.compile(rf"[ \t\r]*(?:\n|\Z)|{LEAD}(?:{_NAME}\(|```|~~~|</?think|TOOL_(?:RESULT|ERROR):)", re.IGNORECASE)
_MAY_FOLLOW = re.compile(rf"{LEAD}(?:{_NAME}|</?t?h?i?n?)?", re.IGNORECASE)
_KEYWORD = re.compile(r"[^\W\d]\w{0,127}+[ \t]{0,8}+=[^=]")
_MAY_BE_KEYWORD = re.compile(r"[^\W\d]\w{0,127}+[ \t]{0,8}+=?")
_LITERAL = re.compile(r"[\"'\d\[{#+.-]|[rRbBuUfF]{1,2}[\"']|\*\*|\)")
_ARG_NAME = re.compile(r"[a-zA-Z_]\w{0,127}", re.ASCII)

Part = Literal["head", "arguments", "after", "next", "done"]


class FunctionDialect(LineDialect):
    """The closing bracket shows that a call is whole."""

    name = "function_style"
    closed_block_is_final = True

    def stream(self, *, multi: bool = False, tools: Tools | None = None) -> StreamParser:
        return LineStream(FunctionShape(tools), multi=multi)

    def format_call(self, call: ToolCall) -> str:
        """The call on one line in a fence of four backticks; arguments whose names are no names follow `**`."""
        named = [f"{key}={_literal(value)}" for key, value in call.args.items() if _ARG_NAME.fullmatch(key)]
        others = {key: value for key, value in call.args.items() if not _ARG_NAME.fullmatch(key)}
        parts = [*named, f"**{_literal(others)}"] if others else named
        return f"````python\n{call.name}({', '.join(parts)})\n````"


class FunctionShape:
    """How function calls look; `tools` are those that may be named, if they are known."""

    mark = "("
    head = re.compile(rf"\n{_HEAD.pattern}")

    def __init__(self, tools: Tools | None) -> None:
        self._tools = tools
        self.again = re.compile(
            rf"^ {{0,{limits.MAX_LINE_INDENT}}}({_names(tools)})\((?=\s{{0,40}}(?:\)|\w{{1,128}}\s{{0,8}}=))", re.M
        )
        call = rf"(?:{_names(tools)})\(\s{{0,8}}\w{{1,128}}\s{{0,8}}=[^\n]*\)"
        marks, wrapped = (
            r"(?=[^\w\n])[ \t>*`-]{1,12}",
            r"(?:print\()?(?:\w{1,64}[ \t]{0,4}=[ \t]{0,4})?\[?(?:\w{1,64}\.){0,3}",
        )
        self._meant = re.compile(
            rf"^(?:{marks}|(?!{call}[ \t]*$)[ \t]{{0,16}}{wrapped}){call}[\])}};`*]{{0,6}}\s*$", re.M
        )

    def may_begin(self, line: str) -> bool:
        return _MAY_BEGIN.fullmatch(line) is not None

    def begin(self, line: str, fence: Fence | None, *, thinking: bool) -> tuple[Block, int] | None:
        found = _HEAD.match(line)
        if found is None or len(found[1]) > (fence.indent if fence else 0) + 3:
            return None
        if fence is not None and fence.label not in _LABELS:
            return None
        return FunctionBlock(found[2], found.end(), self._tools, is_apart=thinking or fence is not None), found.end()

    def remarks(self, text: str) -> list[Remark]:
        """The first line that is a call but for marks around it, where the tools are known."""
        if not self._tools:
            return []
        found = self._meant.search(text)
        message = "a call must stand on a line of its own, with nothing before or after it"
        return [Remark("malformed_call", "shape", message, found.start())] if found else []


class FunctionBlock:
    """One call: from its name to the end of the line on which its bracket closes."""

    def __init__(self, name: str, head: int, tools: Tools | None, *, is_apart: bool) -> None:
        self._name, self._head, self._is_apart = name, head, is_apart
        self._known = tools or {}
        self._is_free, self._is_known = tools is None, tools is None or name in tools
        self._part: Part = "head"
        self._has_keyword = self._is_mention = self._in_comment = False
        self._has_open_string = self._is_unmatched = False
        self._scanner: CallScanner | None = None
        self._length = self._close = head

    def feed(self, data: str, at: int, *, ended: bool) -> tuple[int, bool]:
        origin, before = self._length - at, None
        while at < len(data) and self._part != "done" and (at, self._part) != before:
            before = (at, self._part)
            if self._part == "head":
                at = self._begin(data, at, ended)
            elif self._part == "arguments":
                at = self._scan(data, at, ended)
                self._close = origin + at
            elif self._part == "after":
                at = self._end(data, at, ended)
            else:
                self._follow(data, at, ended)
        self._length = origin + at
        return at, self._part == "done"

    def _begin(self, data: str, at: int, ended: bool) -> int:
        spaces = _SPACES.match(data, at)
        at = spaces.end() if spaces else at
        if at == len(data):
            return at
        may_be_keyword = _MAY_BE_KEYWORD.fullmatch(data, at)
        is_cut = ended and may_be_keyword is not None and data.endswith("=")
        self._has_keyword = is_cut or _KEYWORD.match(data, at) is not None or data.startswith("**", at)
        if self._has_keyword or _LITERAL.match(data, at):
            self._part = "arguments"
        elif not (may_be_keyword or (data[at] == "*" and at + 1 == len(data))):
            self._part = "done"
            self._is_mention = True
        return at

    def _scan(self, data: str, at: int, ended: bool) -> int:
        self._scanner = self._scanner or CallScanner()
        at, state = self._scanner.scan(data, at, ended=ended)
        self._has_open_string, self._is_unmatched = state == "broken", state == "end" and data[at - 1] != ")"
        is_broken = self._has_open_string or self._is_unmatched
        self._part = "arguments" if state == "more" else "done" if is_broken else "after"
        return at

    def _end(self, data: str, at: int, ended: bool) -> int:
        """Nothing but a comment may follow on the line."""
        blanks = _COMMENT.match(data, at) if self._in_comment else _BLANKS.match(data, at)
        at = blanks.end() if blanks else at
        if at == len(data) or (data[at] == "\r" and at + 1 == len(data) and not ended):
            return at
        if data[at] == "#":
            self._in_comment = True
            return at + 1
        self._is_mention = not data.startswith(("\n", "\r\n"), at)
        self._part = "done" if self._is_mention or self._is_apart else "next"
        return at

    def _follow(self, data: str, at: int, ended: bool) -> None:
        """Outside a fence and thinking, a line of prose that follows at once makes a mention of the call."""
        start = data.index("\n", at) + 1
        line = data[start : start + limits.MAX_HEAD]
        is_open = "\n" not in line and len(line) < limits.MAX_HEAD and not ended
        if is_open and (not line.strip() or _MAY_FOLLOW.fullmatch(line) or may_open(line)):
            return
        self._part = "done"
        self._is_mention = _FOLLOWER.match(line) is None

    def verdict(self, text: str, *, ended: bool) -> Verdict:
        is_meant = self._has_keyword or (self._is_known and not self._is_free)
        if self._is_mention or not is_meant:
            is_empty = text[self._head : self._close].strip() == ")"
            return self._call(text) if self._is_free and is_empty and not self._is_mention else None
        if self._has_open_string:
            return Fault("shape", "a string ends with its line: write \\n in it", len(text))
        if self._is_unmatched:
            return Fault("shape", "the brackets do not match", len(text) - 1)
        if self._part in ("head", "arguments"):
            return Fault("cut", "the reply ends inside the call", len(text))
        return self._call(text)

    def _call(self, text: str) -> Verdict:
        if not self._is_known:
            near = get_close_matches(self._name, self._known, 1, limits.NEAR_NAME) if self._has_keyword else []
            return Fault("shape", f"there is no tool named {self._name}", 0) if near else None
        try:
            return ToolCall.of(self._name, read_arguments(text[self._head : self._close]))
        except Fault as fault:
            fault.offset += self._head
            return fault


def _names(tools: Tools | None) -> str:
    return _NAME if tools is None else "|".join(map(re.escape, tools)) or r"(?!)"


def _literal(value: JsonValue) -> str:
    """`value` as a literal of Python."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if value is None or isinstance(value, bool):
        return repr(value)
    return json.dumps(value, allow_nan=False).replace("\x7f", "\\u007f")


DIALECT = FunctionDialect()
