"""Tabferry's bridge: a web chat page driven as a coding agent.

`LLMManager` is imported when first used, so that `tabferry --help` does not pay for the driver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bridge.agent import LLMManager

__all__ = ["LLMManager"]


def __getattr__(name: str) -> Any:
    if name == "LLMManager":
        from bridge.agent import LLMManager

        return LLMManager
    raise AttributeError(f"module 'bridge' has no attribute {name!r}")
