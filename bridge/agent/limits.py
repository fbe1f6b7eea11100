"""Every bound of the agent, with its reason."""

from __future__ import annotations

MAX_ITERATIONS = 50
"""Model replies in one task (T34): enough for real work, few enough that a confused model costs minutes, not hours."""

MAX_IDENTICAL_CALLS = 3
"""A reply with the same calls this often in a row means that the model is stuck (T35)."""

MAX_CONSECUTIVE_FAILURES = 3
"""Calls that fail one after the other: the model is guessing, and web chats ration messages."""

MAX_AWAKE_S = 3600.0
"""Seconds that one task may run before it stops by itself."""

MAX_CORRECTIONS = 2
"""Corrections of one malformed reply: a model that fails three times needs a person, not a third reminder."""

MAX_IDENTICAL_ERRORS = 5
"""The same error message this often in a row, in a dialect whose every reply must be a call (F19)."""

LISTED_TOOLS = 50
"""Tools that the answer to an unknown name lists (F21): more than a prompt holds, and a registry may hold thousands."""

CLEANUP_S = 10.0
"""Seconds that a page gets to stop and let go after a cancel, so that a dead page cannot hold the user up."""

INLINE_RESULT_CHARS = 8192
"""Results up to this size are kept in `call.done`; a larger one is in `prompt.sent` as it was typed, once is enough."""

TITLE_CHARS = 80
"""A session is listed under the first line of its first task; more does not fit beside its other columns."""
