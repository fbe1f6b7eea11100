"""Bounds of the relay, each with its reason."""

from __future__ import annotations

MAX_FRAME = 2 * 2**20
"""Bytes of one message from a client: a long task with pasted text fits."""

MAX_QUEUED_FRAMES = 4
"""Messages read ahead of the one being answered (8 MiB at worst); beyond it TCP holds the sender back."""

MAX_CLIENT_FRAME = 256 * 2**20
"""Bytes of one message from the bridge: an event may carry a 10 MiB file, ASCII-escaped, with its diff."""

MAX_UNAUTHENTICATED = 32
"""Connections that have not shown a token yet; beyond it the oldest is dropped. Each holds one request's headers."""

OPEN_TIMEOUT_S = 5.0
"""How long a connection may take to show its token."""

SEND_TIMEOUT_S = 20.0
"""A client that takes nothing for this long is cut off; it catches up from the journal when it comes back."""

CLOSE_TIMEOUT_S = 2.0
"""How long a closing handshake may take before the socket is dropped."""

DELTA_INTERVAL_S = 0.04
"""Between two deltas of a connection: 25 a second, so that the extra one before `reply.done` stays below 30."""

MAX_LIVE_TEXT = 4 * 2**20
"""Characters of a running reply kept for a snapshot; longer replies lose their beginning in the live view only."""

MAX_LIVE_SESSIONS = 64
"""Sessions whose running reply is kept for a snapshot."""

CODE_SECONDS = 30.0
"""How long a one-time code for the inspector page is good: enough to open a browser."""

MAX_CODES = 64
"""One-time codes outstanding at once; the oldest is forgotten first."""

SESSIONS_LISTED = 200
"""Sessions in one answer, newest first."""

EVENTS_LISTED = 500
"""Events in one answer of `session/get`."""

CLIENT_QUEUE = 10_000
"""Notifications a Python client holds before it cuts itself off; it reconnects with `last`."""

HANDSHAKE_SECONDS = 5.0
"""How long a client waits for a bridge to prove itself; a live one on the same machine needs milliseconds."""
