"""Every bound of this room, each with its reason."""

from __future__ import annotations

from typing import Final

MAX_DEPTH: Final = 200
"""Nesting of a call's JSON. CPython's decoder recurses, and its own limit moves with the caller's stack (T17)."""

MAX_INT_DIGITS: Final = 4300
"""Digits of an integer: CPython refuses to print longer ones, so a journal or a result could not hold it (T17)."""

MAX_DIAGNOSTICS: Final = 50
"""Remarks on one reply. A reply of 200,000 tags is one problem, not 200,000."""

EXCERPT: Final = 24
"""Characters quoted from the place where a block breaks: enough to find it, short enough to type."""

MAX_ERROR: Final = 2_000
"""Characters of an error typed back to the model: it may quote what the model sent, which has no bound."""

MAX_WIRE_DEPTH: Final = 64
"""Nesting of a result. Deeper data is a bug of a tool, and a model does not read it."""

MAX_REPR: Final = 1_000
"""Characters kept of the repr of a value that JSON cannot hold."""

MAX_CALL_HINT: Final = 4_000
"""Characters of a call that we ask a model for: read from a page's code block, longer ones broke between 2 and 8 KB."""
