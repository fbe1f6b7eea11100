"""A reply in whatever dialect it is written: the block that begins first decides, and only its dialect reads on.

So a block that is quoted in the JSON of another never runs, nor does any other after a broken one. Prose is never a
call: JSON counts only if it is all of a fence or all of the message, and calls in lines of text are not looked for.
"""

from __future__ import annotations

import re
from dataclasses import replace

from bridge.protocol import limits
from bridge.protocol.autoform import routes
from bridge.protocol.autoform.before import Before
from bridge.protocol.autoform.judge import Find, Judge
from bridge.protocol.autoform.textstream import TextStream
from bridge.protocol.dialect import StreamParser, Tools
from bridge.protocol.jsonform.jsonwalk import JsonWalk
from bridge.protocol.models import CallClosed, ParsedReply, StreamEvent, TextDelta
from bridge.protocol.remarks import IN_THINKING
from bridge.protocol.tagged.edges import skip
from bridge.protocol.tags import SPACE, THINKING, TagSet, name_of

_OPENERS = (*routes.TAGS, *routes.XML_HEADS)
_PROSE = TagSet(_OPENERS, opening=THINKING, closing=THINKING)
_WITHIN = {name: TagSet(_OPENERS, closing=(name,)) for name in THINKING}
_THINKING = TagSet((), opening=THINKING, closing=THINKING)
_END_OF_XML = TagSet(("</tool>",))
_SPACES = re.compile(f"{SPACE}*+")


class AutoStream(TextStream):
    """The parser of one reply: the states that find the block, and its end."""

    def __init__(self, find: Find, *, multi: bool, tools: Tools | None) -> None:
        super().__init__()
        self._find, self._multi, self._tools = find, multi, tools
        self._judge = Judge(find, tools)
        self._border = 0  # where the last thinking began or ended
        self._ahead, self._fences = routes.Ahead(_PROSE.search), routes.Fences()
        self._mark = self._tag = self._route = ""
        self._walk = JsonWalk()
        self._is_whole = self._is_text_before = self._has_call = False
        self._inner: StreamParser | None = None
        self._found: ParsedReply | None = None  # what the JSON of a fence or message is

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
            return self._begin_fence(data, end, fence)
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
            return self._begin_fence(data, at, fence)
        if tag is None:
            return self._wait(data, at)
        mentions = _end(routes.MENTIONS, data, tag.start())
        self._show(data[at:mentions])
        if mentions > tag.start():
            return mentions
        if tag[0] in _OPENERS:
            self._opened, self._held, self._route = self._base + tag.start(), [], routes.TAGS.get(tag[0], "")
            self._tag, self._state = tag[0], self._after_tag if self._route else self._in_xml_tag
            self._take(tag[0])
        else:
            self._show(tag[0])
            self._thinking_tag(tag)
        return tag.end()

    def _after_tag(self, data: str, at: int) -> int:
        """Between the opening tag and its JSON."""
        end, waits = skip(data, at, marks=True)
        self._take(data[at:end])
        is_wait = end == len(data) or (waits and not self._ended)
        is_block = None if is_wait else routes.after_tag(self._tag, data, end, ended=self._ended)
        if is_block is None:
            self._carry = data[end:]
            return len(data)
        self._decide(data, end, is_block=is_block)
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
        self._decide(data, end, is_block=route not in ("", routes.ANOTHER))
        if route == routes.ANOTHER and not self._thinking:
            self._give_up("another call begins where its arguments should stand")
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
        is_closed = found is not None and found[1].startswith(self._mark)
        if not self._ended and routes.HALF_AFTER.fullmatch(data, at) and len(data) - at < limits.MAX_HEAD:
            self._carry = data[at:]
            return len(data)
        calls = self._judge.value("".join(self._held), is_whole=False) if is_closed else None
        if calls is None or (calls.calls and self._before.is_unfinished):
            self._release()
            if calls is not None:
                self._give_up("the call that begins before it is not finished")
            return at
        self._events += [CallClosed(call) for call in calls.calls]
        self._found, self._state, self._is_silent = calls, self._ignore, True
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
            self._remark("call_in_thinking", "", IN_THINKING, self._opened)
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

    def _begin_fence(self, data: str, at: int, fence: re.Match[str]) -> int:
        """A fence that holds JSON from its beginning on: content, if it stands in another or in a comment."""
        self._show(data[at : fence.start(1)])
        if self._before.is_content():
            return fence.start(1)
        self._show(data[fence.start(1) : fence.end()])
        self._mark = fence[1]
        self._begin_json(self._base + fence.end(), is_whole=False)
        return fence.end()

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

    def _thinking_tag(self, tag: re.Match[str]) -> None:
        opens = self._thinking is None and tag[0][1] != "/"
        self._thinking = name_of(tag[0]) if opens else None
        self._ahead = routes.Ahead((_WITHIN[self._thinking] if self._thinking else _PROSE).search)
        self._border, self._before = self._base + tag.end(), Before()

    # The end.

    def _conclude(self, text: str) -> ParsedReply:
        held = "".join(self._held)
        if self._state == self._after_whole:
            self._found = self._judge.value(held, is_whole=True)
        elif self._state == self._in_json and not self._thinking and routes.looks_like_call(held):
            self._remark("malformed_call", "cut", "the reply was cut off inside the JSON", len(text))
        inner = self._inner.close() if self._inner else self._found
        if self._found is not None and self._found.calls and self._was_thought(text, self._opened + len(held)):
            self._remark("call_in_thinking", "", IN_THINKING, self._opened)
            self._border, inner = len(text), None
        if inner is None:
            is_thought = self._thinking is not None or not text[self._border :].strip()
            return self._judge.without_block(text, self._remarks, is_thought=is_thought)
        end = None if self._inner else self._opened + len(held)
        reply = self._judge.with_block(text, self._remarks, inner, self._opened, end, is_call=not self._is_text_before)
        return replace(reply, dialect=self._route) if self._inner else reply

    def _was_thought(self, text: str, end: int) -> bool:
        """Whether thinking ends after the JSON up to `end` that began before the reply."""
        tag = _THINKING.search(text, end)
        return tag is not None and tag[0][1] == "/"


def _end(pattern: re.Pattern[str], data: str, at: int) -> int:
    found = pattern.match(data, at)
    return found.end() if found else at
