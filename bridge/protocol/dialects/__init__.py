"""The dialects by name. Every module of this package is one; others come by the entry points `tabferry.dialects`."""

from __future__ import annotations

import importlib
import pkgutil
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Final

from bridge.protocol.dialect import Dialect
from bridge.protocol.errors import UnknownDialect

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

ENTRY_POINTS: Final = "tabferry.dialects"

_PROVIDERS: Final = {
    "openai": "openai_json",
    "mistral": "openai_json",
    "deepseek": "openai_json",
    "grok": "openai_json",
    "gemini": "gemini_json",
    "anthropic": "autobyteus_xml",
}


def names() -> list[str]:
    """The dialects that can be used, sorted."""
    return sorted({*_own(), *_entry_points().names})


@cache
def get(name: str) -> Dialect:
    """The dialect `name`; one of ours cannot be replaced by an entry point. Raises `UnknownDialect`."""
    if name in _own():
        found: object = importlib.import_module(f"{__name__}.{name}").DIALECT
    else:
        found = _foreign(name)
    if not isinstance(found, Dialect):
        raise UnknownDialect(f"The entry point {name!r} of {ENTRY_POINTS} is no Dialect: mend or remove its package.")
    return found


def for_provider(provider: str | Enum | None, xml: bool = False) -> str:
    """The dialect's name for a model provider, in any case of letters; `xml` forces XML (A7, A8).

    A member of an enumeration is known by its value, else by its name.
    """
    if xml:
        return "autobyteus_xml"
    spellings = [provider.value, provider.name] if isinstance(provider, Enum) else [provider or ""]
    known = (_PROVIDERS.get(str(each).strip().lower()) for each in spellings)
    return next(filter(None, known), "default_json")


def _entry_points() -> EntryPoints:
    from importlib.metadata import entry_points  # slow to import, and not needed for our own dialects

    return entry_points(group=ENTRY_POINTS)


def _own() -> list[str]:
    return [module.name for module in pkgutil.iter_modules(__path__)]


def _foreign(name: str) -> object:
    for point in _entry_points().select(name=name):
        try:
            return point.load()
        except Exception as error:  # a foreign package may fail in any way while it is imported
            raise UnknownDialect(f"The dialect {name!r} cannot be loaded: {error}") from error
    known = ", ".join(names())
    raise UnknownDialect(f"There is no dialect {name!r}; there is: {known}.")


__all__ = ["ENTRY_POINTS", "for_provider", "get", "names"]
