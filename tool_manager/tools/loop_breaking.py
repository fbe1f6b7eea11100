"""`task_completion`, `ask_question`, `converse`: the tools that end a task with what they say (F3, F5).

Every model may call them; only those are told of them whose every reply must be a call (F33).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tool_manager.errors import ToolError
from tool_manager.models import JsonObject
from tool_manager.plan import Plan
from tool_manager.registry import Planner, ToolDefinition
from tool_manager.room import Room

SUGGESTIONS: Final = 4
"""Answers that a question may suggest (F3): more are a list, not a choice."""


def _says(parameter: str, text_of: Callable[[JsonObject], str]) -> Planner:
    """A planner of a tool whose result is its own text; an empty `parameter` is refused in the words of F5."""

    async def plan(room: Room, args: JsonObject) -> Plan:
        del room

        async def run() -> str:
            if not args[parameter].strip():
                raise ToolError(f"{parameter} cannot be empty")
            return text_of(args)

        return Plan(run)

    return plan


def _question(args: JsonObject) -> str:
    suggestions = args.get("suggestions") or []
    if not suggestions:
        return str(args["question"])
    listed = "".join(f"\n{number}. {each}" for number, each in enumerate(suggestions, start=1))
    return f"{args['question']}\n\nSuggested answers:{listed}"


def _definition(name: str, description: str, parameter: str, about: str, **more: JsonObject) -> ToolDefinition:
    properties: JsonObject = {parameter: {"type": "string", "description": about}, **more}
    return ToolDefinition(
        name=name,
        description=description,
        parameters={"type": "object", "properties": properties, "required": [parameter]},
        loop_breaking=True,
        planner=_says(parameter, _question if more else lambda args: str(args[parameter])),
        hidden=True,
    )


TASK_COMPLETION: Final = _definition(
    "task_completion", "End the task when it is done.", "result", "the final answer, as the user is to read it"
)

ASK_QUESTION: Final = _definition(
    "ask_question",
    "Ask the user what only the user can say; the task ends, the answer comes as the next task.",
    "question",
    "one clear question",
    suggestions={
        "type": "array",
        "items": {"type": "string"},
        "maxItems": SUGGESTIONS,
        "description": "answers to choose from",
    },
)

CONVERSE: Final = _definition(
    "converse", "Say something to the user when there is nothing to do.", "message", "what the user is to read"
)
