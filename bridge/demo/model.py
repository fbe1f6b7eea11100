"""The stand-in for a model: a script that plans from the task and from the tool results that it really receives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from bridge.demo.limits import CHUNK_CHARACTERS
from bridge.demo.plans import Plan
from bridge.demo.tasks import choose
from bridge.demo.transcript import Call, Outcome, read

HELP = """I am a script, not a language model, so I can only do a few things:

- read a file and report a value: *Read package.json and tell me the version*
- find and count files: *Find all TypeScript files and count them*
- search, edit and check: *Replace every use of `foo` by `bar` in src/app.ts*
- fix a simple diagnostic: *Fix the diagnostic in tools/report.py*
- write a file: *Create notes.txt with the text hello*"""

SUGGESTION = re.compile(r"unknown tool: .*did you mean [`'\"]?([\w-]+)", re.I | re.S)


class ScriptedModel:
    """Answers from a script. It holds no state: every reply is worked out anew from the messages it is given."""

    def reply(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The reply to a conversation (objects with `role` and `content`): a call in a fence, or an answer."""
        transcript = read(messages)
        plan = choose(transcript.task)
        if plan is None:
            return HELP
        step = _play(plan, transcript.outcomes)
        return step if isinstance(step, str) else render(step)


def _play(plan: Plan, outcomes: list[Outcome]) -> Call | str:
    """Run a plan through the outcomes so far, to its next call or its answer."""
    call, corrected = next(plan), False
    for outcome in outcomes:
        if outcome.kind == "repeat":
            continue
        better = None if corrected else _corrected(call, outcome)
        if better is not None:
            call, corrected = better, True
            continue
        try:
            call, corrected = plan.send(outcome), False
        except StopIteration as end:
            return str(end.value)
    return call


def _corrected(call: Call, outcome: Outcome) -> Call | None:
    """The call with the tool name that the error suggests; nothing else of a refused call can be known better."""
    found = SUGGESTION.search(outcome.error) if outcome.kind == "invalid" else None
    return Call("Sorry, I'll use the right name.", found[1], call.args) if found else None


def render(call: Call) -> str:
    """A call as the prompt asks for it: a sentence, then one line of ASCII JSON between the tags, in a long fence."""
    block = json.dumps({"tool": call.tool, "args": call.args})
    return f"{call.say}\n\n````json\n<TOOL_CALL>\n{block}\n</TOOL_CALL>\n````"


def chunks(text: str, size: int = CHUNK_CHARACTERS) -> Iterator[str]:
    """`text` in pieces of `size` characters, as a model streams it."""
    return (text[at : at + size] for at in range(0, len(text), size))
