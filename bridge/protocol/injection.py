"""A user's own system prompt, with the tools where it says `{{tools}}` (A15)."""

from __future__ import annotations

import logging
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

_log = logging.getLogger(__name__)

NO_TOOLS: Final = "No tools available for this agent."
FAILED: Final = "Error: Could not generate tool descriptions."
PREFIX: Final = (
    "You have access to a set of tools. Use them by writing a tool call in the format that is described below. "
    "The available tools are:\n\n"
)
"""What stands before the tools in a prompt that says nothing else."""


def inject(template: str, manifest: str | None) -> str:
    """`template` with `manifest` for `{{tools}}`; None says that the tools could not be described. Never raises.

    A template without the placeholder, and one that is broken or reaches into things, comes back as it is; another
    name in it becomes nothing. What stands in the manifest is never rendered.
    """
    from jinja2 import TemplateError, meta

    tools = FAILED if manifest is None else manifest.strip() or NO_TOOLS
    try:
        environment = _environment()
        if "tools" not in meta.find_undeclared_variables(environment.parse(template)):
            return template
        prompt = environment.from_string(template)
        if not prompt.render(tools="").strip():
            return PREFIX + tools
        return prompt.render(tools=f"\n{tools}")
    except (
        TemplateError,
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        RecursionError,
    ) as error:
        _log.warning("the system prompt is used as it is, its placeholders cannot be filled in: %s", error)
        return template


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        autoescape=False,  # chat text, not HTML
        keep_trailing_newline=True,
    )
    environment.globals.clear()  # a prompt has no use for them, and `range` can fill the memory
    return environment
