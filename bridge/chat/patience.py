"""How long the driver waits for what: the bounds of `limits` as one value, so that tests can be impatient."""

from __future__ import annotations

from dataclasses import dataclass

from bridge.chat import limits


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds, but `chars`; the reasons stand in `limits`."""

    composer: float = limits.COMPOSER_TIMEOUT
    ready: float = limits.READY_TIMEOUT
    land: float = limits.LAND_TIMEOUT
    accept: float = limits.ACCEPT_TIMEOUT
    busy: float = limits.BUSY_GRACE
    first_word: float = limits.FIRST_WORD_TIMEOUT
    silence: float = limits.SILENCE_TIMEOUT
    whole: float = limits.REPLY_TIMEOUT
    chars: int = limits.MAX_REPLY_CHARS
