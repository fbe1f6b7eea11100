"""Every limit of the demo page's server, with its reason."""

from __future__ import annotations

MAX_HEADER_BYTES = 32 * 1024
"""A browser's request head is below 4 KB; more is not a browser."""

MAX_BODY_BYTES = 16 * 1024 * 1024
"""The largest tool result is 10 MiB of file (T41), ASCII-escaped and wrapped in JSON."""

MAX_CONVERSATIONS = 500
"""Conversations live in memory only; a server that is left running must not grow for ever."""

CHUNK_CHARACTERS = 20
"""Real chat models stream 16 to 24 characters an event."""

CHUNK_DELAY_S = 0.012
"""Seconds between two chunks: quick, and still visibly a stream. Tests and benchmarks use 0."""

BUSY_WAIT_S = 2.0
"""After Stop, the next message may overtake the news that the browser let go: wait this long before refusing it."""
