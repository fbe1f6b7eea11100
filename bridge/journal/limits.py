"""Bounds of the journal, each with its reason."""

from __future__ import annotations

SUBSCRIPTION_QUEUE = 256
"""Events that a subscriber may lag behind in memory; beyond it the database is the queue."""

PAGE = 500
"""Events read from the database at a time: about a millisecond, so that writers and other readers are not held up."""

MAX_DEPTH = 64
"""Nesting of an event's data; deeper values would overflow some reader's stack, so they are replaced by a remark."""

MAX_BATCH = 1000
"""Appends in one transaction: keeps one commit short when a flood is queued."""

LOCK_TIMEOUT_S = 5.0
"""How long SQLite waits for another process (a reader's checkpoint) before it reports the journal as busy."""

SAFE_INTEGER = 2**53
"""Integers beyond this lose digits in JavaScript readers, so they are kept as text."""
