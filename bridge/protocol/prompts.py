"""Templates into text. They come from our own package only, and what is filled in is never rendered again."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.protocol.errors import PromptError

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

_PACKAGE = Path(__file__).resolve().parents[1]


def folder() -> Path:
    """Where the templates are: `bridge/prompts` in the wheel, `prompts` beside `bridge` in a checkout.

    Nowhere else: a workspace must not be able to speak for us. Raises `PromptError`.
    """
    shipped, checkout = _PACKAGE / "prompts", _PACKAGE.parent / "prompts"
    if (shipped / "system.j2").is_file():
        return shipped
    if (_PACKAGE.parent / "pyproject.toml").is_file() and (checkout / "system.j2").is_file():
        return checkout
    raise PromptError(f"The prompt templates are missing from {shipped}: install tabferry again.")


def render(template: str, **values: object) -> str:
    """`template` filled in with `values`, which come out character by character. Raises `PromptError`."""
    from jinja2 import TemplateError

    try:
        return _environment(folder()).get_template(template).render(values).strip()
    except TemplateError as error:
        raise PromptError(f"The prompt template {template} cannot be rendered: {error}") from error


@cache
def _environment(templates: Path) -> ImmutableSandboxedEnvironment:
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(templates, encoding="utf-8"),
        autoescape=False,  # chat text, not HTML
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
