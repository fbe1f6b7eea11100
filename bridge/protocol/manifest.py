"""The tools as a prompt lists them; one that cannot be described never takes the others with it (A14)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tool_manager.models import ToolSpec

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Manifest:
    """`texts` by name, joined in `text`; `skipped` says by name why a tool has none."""

    text: str
    texts: dict[str, str]
    skipped: dict[str, str]


def describe(tools: Iterable[ToolSpec], tool_text: Callable[[ToolSpec], str], separator: str = "\n") -> Manifest:
    """The manifest of `tools`, each described by `tool_text`."""
    texts: dict[str, str] = {}
    skipped: dict[str, str] = {}
    for tool in tools:
        try:
            texts[tool.name] = tool_text(tool)
        except (TypeError, ValueError, AttributeError, LookupError, RecursionError) as error:
            skipped[str(tool.name)] = str(error) or type(error).__name__
            _log.warning("the tool %r is left out of the prompt: %s", tool.name, error)
    return Manifest(separator.join(texts.values()), texts, skipped)
