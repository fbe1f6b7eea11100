"""A reply in whatever dialect it is written: the block that begins first decides, and only its dialect reads on.

So a block that is quoted in the JSON of another never runs, nor does any other after a broken one. Prose is never a
call: JSON counts only if it is all of a fence or all of the message, and calls in lines of text are not looked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from bridge.protocol import limits
from bridge.protocol.autoform import routes
from bridge.protocol.dialect import Dialect, StreamParser, Tools
from bridge.protocol.jsonform.jsonwalk import JsonWalk
from bridge.protocol.models import CallClosed, Code, Diagnostic, ParsedReply, StreamEvent, TextDelta
from bridge.protocol.remarks import Remark, diagnostic
from bridge.protocol.tagged.edges import skip
from bridge.protocol.tags import SPACE, THINKING, TagSet, name_of

_OPENERS = (*routes.TAGS, *routes.XML_HEADS)
_PROSE = TagSet(_OPENERS, opening=THINKING, closing=THINKING)
_WITHIN = {name: TagSet(_OPENERS, closing=(name,)) for name in THINKING}
_THINKING = TagSet((), opening=THINKING, closing=THINKING)
_END_OF_XML = TagSet(("</tool>",))
_SPACES = re.compile(f"{SPACE}*+")
_BEGINS_BLOCK = "{[“”„«｛［"
_JSON = ("openai_json", "gemini_json", "default_json")

Find = Callable[[str], Dialect]


class AutoStream:
    """The parser of one reply, fed in chunks. See `bridge.protocol.dialect.StreamParser` for the contract."""

    def __init__(self, find: Find, *, multi: bool, tools: Tools | None) -> None:
        self._find, self._multi, self._tools = find, multi, tools
        self._parts: list[str] = []
        self._length = self._base = 0
        self._carry = ""
        self._state = self._start
        self._ended = False
        self._thinking: str | None = None
        self._border = 0  # where the last thinking began or ended
        self._ahead, self._fences = routes.Ahead(_PROSE.search), routes.next_fence()
        self._route = ""
        self._opened = 0
        self._held: list[str] = []
        self._walk = JsonWalk()
        self._is_whole = self._is_text_before = self._has_call = False
        self._inner: StreamParser | None = None
        self._found: ParsedReply | None = None  # what the JSON of a fence or message is
        self._remarks: list[Remark] = []
        self._events: list[StreamEvent] = []
        self._reply: ParsedReply | None = None

    def feed(self, chunk: str) -> list[StreamEvent]:
        if self._reply is not None:
            raise ValueError("this stream is closed: make a new one for each reply")
        self._parts.append(chunk)
        self._read(self._carry + chunk, self._length - len(self._carry))
        self._length += len(chunk)
        events, self._events = self._events, []
        return events

    def close(self) -> ParsedReply:
        if self._reply is None:
            self._ended = True
            self._read(self._carry, self._length - len(self._carry))
            self._reply = self._conclude("".join(self._parts))
        return self._reply

    def _read(self, data: str, base: int) -> None:
        self._base, self._carry, at = base, "", 0
        while at < len(data):
            at = self._state(data, at)

    # States: each reads from `at` and says where the next one goes on; what it cannot decide yet it leaves in `_carry`.

    def _start(self, data: str, at: int) -> int:
        """The beginning of the reply, where a message that is all JSON must begin."""
        end = _end(_SPACES, data, at)
        self._show(data[at:end])
        if end == len(data):
            return end
        if data[end] in "{[":
            self._begin_json(self._base + end, is_whole=True)
        elif fence := routes.first_fence(data, end):
            self._show(fence[0])
            self._begin_json(self._base + fence.end(), is_whole=False)
            return fence.end()
        elif not self._ended and routes.may_be_first_fence(data, end):
            self._carry = data[end:]
            return len(data)
        else:
            self._state = self._seek
        return end

    def _seek(self, data: str, at: int) -> int:
        tag = self._ahead.find(data, at)
        fence = None if self._thinking else self._fences.find(data, at)
        if fence is not None and (tag is None or fence.start() < tag.start()):
            self._show(data[at : fence.end()])
            self._begin_json(self._base + fence.end(), is_whole=False)
            return fence.end()
        if tag is None:
            return self._wait(data, at)
        self._show(data[at : tag.start()])
        if tag[0] in _OPENERS:
            self._opened, self._held, self._route = self._base + tag.start(), [], routes.TAGS.get(tag[0], "")
            self._state = self._after_tag if self._route else self._in_xml_tag
            self._take(tag[0])
        else:
            self._show(tag[0])
            self._thinking_tag(tag)
        return tag.end()

    def _after_tag(self, data: str, at: int) -> int:
        """Between the opening tag and its JSON."""
        end, waits = skip(data, at, marks=True)
        self._take(data[at:end])
        if end == len(data) or (waits and not self._ended):
            self._carry = data[end:]
            return len(data)
        self._decide(data, end, is_block=data[end] in _BEGINS_BLOCK)
        return len(data) if self._inner else end

    def _in_xml_tag(self, data: str, at: int) -> int:
        end = routes.xml_tag(data, at, ended=self._ended)
        if end is None:
            self._carry = data[at:]
            return len(data)
        self._take(data[at:end])
        if end == at:
            self._decide(data, at, is_block=False)
        else:
            self._state = self._after_xml_tag
        return end

    def _after_xml_tag(self, data: str, at: int) -> int:
        end = _end(_SPACES, data, at)
        self._take(data[at:end])
        route = routes.xml_dialect(data, end, ended=self._ended) if end < len(data) else None
        if route is None:
            self._carry = data[end:]
            return len(data)
        self._route = route
        self._decide(data, end, is_block=bool(route))
        return len(data) if self._inner else end

    def _in_json(self, data: str, at: int) -> int:
        end, state = self._walk.walk(data, at)
        self._take(data[at:end])
        if state == "end":
            self._state = self._seek if self._thinking else self._after_whole if self._is_whole else self._after_fenced
        elif state == "broken":
            self._not_json()
        return end

    def _after_whole(self, data: str, at: int) -> int:
        end = _end(_SPACES, data, at)
        self._take(data[at:end])
        if end < len(data):
            self._release()
        return end

    def _after_fenced(self, data: str, at: int) -> int:
        found = routes.AFTER_VALUE.match(data, at)
        if not self._ended and routes.HALF_AFTER.fullmatch(data, at) and len(data) - at < limits.MAX_HEAD:
            self._carry = data[at:]
            return len(data)
        calls = self._read_json() if found else None
        if calls is None:
            self._release()
            return at
        self._events += [CallClosed(call) for call in calls.calls]
        self._found, self._state = calls, self._ignore
        return at

    def _in_xml_thought(self, data: str, at: int) -> int:
        found = _END_OF_XML.search(data, at)
        if found is None:
            self._carry = "" if self._ended else _END_OF_XML.unfinished(data, at)
            self._show(data[at : len(data) - len(self._carry)])
            return len(data)
        self._show(data[at : found.end()])
        self._state = self._seek
        return found.end()

    def _in_block(self, data: str, at: int) -> int:
        assert self._inner is not None
        for event in self._inner.feed(data[at:]):
            self._pass_on(event)
        return len(data)

    def _ignore(self, data: str, at: int) -> int:
        self._show(data[at:])
        return len(data)

    # Steps of the states.

    def _wait(self, data: str, at: int) -> int:
        tags = _WITHIN[self._thinking] if self._thinking else _PROSE
        unread = 0 if self._ended else max(len(tags.unfinished(data, at)), routes.half_fence(data, at))
        self._carry = data[len(data) - unread :]
        self._show(data[at : len(data) - unread])
        return len(data)

    def _decide(self, data: str, at: int, *, is_block: bool) -> None:
        """What follows the opening tag is known: a block of the dialect `_route`, or a mention in prose."""
        self._state = self._seek
        if not is_block:
            self._release()
        elif self._thinking:
            self._remark("call_in_thinking", "", "a call inside thinking never runs", self._opened)
            self._walk = JsonWalk()
            self._state = self._in_json if data[at] in "{[" else self._in_xml_thought
        else:
            self._inner = self._find(self._route).stream(multi=self._multi, tools=self._tools)
            self._state = self._in_block
            self._in_block("".join(self._held) + data[at:], 0)

    def _pass_on(self, event: StreamEvent) -> None:
        """A call counts only if it is the block that was found: nothing of it has come out as text."""
        if isinstance(event, TextDelta):
            self._is_text_before = self._is_text_before or not self._has_call
        elif self._is_text_before:
            return
        else:
            self._has_call = True
        self._events.append(event)

    def _begin_json(self, offset: int, *, is_whole: bool) -> None:
        self._opened, self._held, self._walk, self._is_whole = offset, [], JsonWalk(), is_whole
        self._state = self._in_json

    def _not_json(self) -> None:
        """The JSON breaks. What was read of it is the beginning of a value, so no block stands in that."""
        is_call = not self._thinking and routes.looks_like_call("".join(self._held))
        if is_call:
            self._remark("malformed_call", "json", "the JSON is not valid", self._opened)
        self._release()
        self._state = self._ignore if is_call else self._seek

    def _read_json(self) -> ParsedReply | None:
        """What the value that was held means in the first dialect that it is a call of; None for data."""
        text, problem = "".join(self._held), None
        if self._is_whole and self._parse("assistant_api", text).calls:
            message = "a tool_request is never run here"
            return ParsedReply("text", diagnostics=(Diagnostic("malformed_call", message, 0, reason="shape"),))
        for name in _JSON:
            reply = self._parse(name, text)
            known = self._tools is None or any(call.name in self._tools for call in reply.calls)
            if reply.kind == "error" or (reply.calls and known):
                return reply
            problem = problem or (reply if reply.problem else None)
        return problem

    def _parse(self, name: str, text: str) -> ParsedReply:
        stream = self._find(name).stream(tools=self._tools)
        stream.feed(text)
        return stream.close()

    def _thinking_tag(self, tag: re.Match[str]) -> None:
        opens = self._thinking is None and tag[0][1] != "/"
        self._thinking = name_of(tag[0]) if opens else None
        self._ahead = routes.Ahead((_WITHIN[self._thinking] if self._thinking else _PROSE).search)
        self._border = self._base + tag.end()

    def _remark(self, code: Code, reason: str, message: str, offset: int) -> None:
        if len(self._remarks) < limits.MAX_DIAGNOSTICS:
            self._remarks.append(Remark(code, reason, message, offset))

    def _take(self, text: str) -> None:
        if self._thinking:
            self._show(text)
        else:
            self._held.append(text)

    def _release(self) -> None:
        """What was held is text after all, and the search goes on."""
        self._show("".join(self._held))
        self._held, self._state = [], self._seek

    def _show(self, text: str) -> None:
        if text and not self._has_call and self._found is None:
            self._events.append(TextDelta(text))

    # The end.

    def _conclude(self, text: str) -> ParsedReply:
        if self._state == self._after_whole:
            self._found = self._read_json()
        elif self._state == self._after_fenced:
            self._after_fenced("", 0)
        elif self._state == self._in_json and not self._thinking and routes.looks_like_call("".join(self._held)):
            self._remark("malformed_call", "cut", "the reply was cut off inside the JSON", len(text))
        inner = self._inner.close() if self._inner else self._found
        if self._found is not None and self._found.calls and self._was_thought(text):
            self._remark("call_in_thinking", "", "a call inside thinking never runs", self._opened)
            self._border, inner = len(text), None
        return self._without(text) if inner is None else self._with(inner, text)

    def _was_thought(self, text: str) -> bool:
        """Whether thinking ends after the JSON that began before the reply."""
        tag = _THINKING.search(text, self._opened + len("".join(self._held)))
        return tag is not None and tag[0][1] == "/"

    def _with(self, inner: ParsedReply, text: str) -> ParsedReply:
        """The reply `text`, of which `inner` is what follows from the block on."""
        before = text[: self._opened]
        found = [diagnostic(text, remark) for remark in self._remarks]
        found += [_moved(each, text, self._opened) for each in inner.diagnostics]
        diagnostics = tuple(found[: limits.MAX_DIAGNOSTICS])
        if not inner.calls or self._is_text_before:
            kind = "text" if inner.calls else inner.kind
            return ParsedReply(kind, text=text, error=inner.error, diagnostics=diagnostics)
        rest = inner.rest if self._inner else text[self._opened + len("".join(self._held)) :]
        return replace(inner, text=before + inner.text, diagnostics=diagnostics, rest=rest)

    def _without(self, text: str) -> ParsedReply:
        """No block was found: what is said of the dialect that we teach is said here too."""
        thoughts = [remark for remark in self._remarks if remark.code == "call_in_thinking"]
        if thoughts and (self._thinking or not text[self._border :].strip()):
            message = "the reply holds its call inside thinking, where no call runs"
            self._remarks.insert(0, Remark("malformed_call", "thinking", message, thoughts[0].offset))
        found = [diagnostic(text, remark) for remark in self._remarks]
        taught = self._parse("tool_call", text) if not found else ParsedReply("text")
        return ParsedReply("text", text=text, diagnostics=(*found, *(() if taught.calls else taught.diagnostics)))


def _moved(found: Diagnostic, text: str, by: int) -> Diagnostic:
    offset = min(found.offset + by, len(text))
    return diagnostic(text, Remark(found.code, found.reason, found.message, offset))


def _end(pattern: re.Pattern[str], data: str, at: int) -> int:
    found = pattern.match(data, at)
    return found.end() if found else at
