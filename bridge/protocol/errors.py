"""Errors of this room. Replies never raise; only a wrong name of a dialect or a wrong installation does."""

from __future__ import annotations

from bridge.errors import TabferryError, UsageError


class UnknownDialect(UsageError):
    """No dialect of that name can be used; the message names those that can."""


class PromptError(TabferryError):
    """The prompt templates are missing or broken: the installation is damaged."""
