"""Which dialect a session speaks: the wish that counts, out of flags, team and configuration (A7, A8): pure."""

from __future__ import annotations

from dataclasses import dataclass

from bridge.errors import UsageError
from bridge.protocol import dialects


@dataclass(frozen=True, slots=True)
class Wish:
    """What one source says: a dialect by name, or the provider of the model, with or without XML; None = nothing."""

    dialect: str | None = None
    provider: str | None = None
    xml: bool | None = None

    def check(self, where: str = "", prefix: str = "") -> Wish:
        """This wish; `UsageError` if it contradicts itself. `where` begins the sentence, `prefix` each key."""
        if self.dialect is not None and (self.provider is not None or self.xml):
            raise UsageError(
                f"{where}{prefix}dialect names the dialect already: leave out {prefix}provider and {prefix}xml."
            )
        return self


def choose(*wishes: Wish, team_xml: bool | None = None) -> str | None:
    """The dialect by the first of `wishes` that names one, a provider, or XML; None when none does.

    `team_xml` overrules what every wish says of XML (A8); a dialect that is named outright stays.
    """
    xml = next((wish.xml for wish in wishes if wish.xml is not None), False) if team_xml is None else team_xml
    for wish in wishes:
        if wish.dialect is not None:
            return wish.dialect
        if wish.provider is not None or (wish.xml and xml):
            return dialects.for_provider(wish.provider, xml)
    return None
