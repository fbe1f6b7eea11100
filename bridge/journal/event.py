"""One durable event: the unit of the journal, of the relay's stream and of the inspector."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

EVENT_VERSION = 1
"""Version of the event's shape; readers refuse a higher one."""


@dataclass(frozen=True, slots=True)
class Event:
    """`{v, journal_id, seq, time, session, task, turn, call, cause, type, data}` of the relay contract.

    `seq` rises by one for each event of a journal; `time` is seconds since the epoch; `cause` is the `seq` of the event
    that led to this one; `type` is one of `session.*`, `state`, `prompt.sent`, `reply.done`,
    `call.parsed|asking|granted|denied|started|done|delivered`, `diagnostic`, `usage`, `file.changed`.
    """

    journal_id: str
    seq: int
    time: float
    session: str
    type: str
    task: str | None = None
    turn: int | None = None
    call: str | None = None
    cause: int | None = None
    data: dict[str, Any] = field(default_factory=dict)
    v: int = EVENT_VERSION

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
