"""Why a block of lines is no call."""

from __future__ import annotations


class Fault(Exception):
    """A block that cannot run. `reason` is that of the diagnostic, `offset` the place in the text that was read;
    `damage` is reason and sentence of a `rendering_damage`, where the page seems to have changed the text."""

    def __init__(self, reason: str, message: str, offset: int, damage: tuple[str, str] | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.offset = offset
        self.damage = damage
