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

MAX_QUOTED: Final = 48
"""Characters of such a quotation as ASCII: one character may become ten."""

MAX_TOLD: Final = 240
"""Characters of a diagnostic in a correction; the parts of a correction together stay under `MAX_CORRECTION`."""

MAX_ERROR: Final = 2_000
"""Characters of an error typed back to the model: it may quote what the model sent, which has no bound."""

MAX_WIRE_DEPTH: Final = 64
"""Nesting of a result. Deeper data is a bug of a tool, and a model does not read it."""

MAX_REPR: Final = 1_000
"""Characters kept of the repr of a value that JSON cannot hold."""

MAX_CALL_HINT: Final = 4_000
"""Characters of a call that we ask a model for: read from a page's code block, longer ones broke between 2 and 8 KB."""

SNIPPET: Final = 200
"""Characters of a block quoted back in an error: what the document of forge gives (F21, F35)."""

MAX_ATTRIBUTES: Final = 64
"""Characters after the name in a thinking tag: text is held back for as long as a tag may still end."""

MAX_EDGE_FENCE: Final = 64
"""Backticks of a fence inside the tags: they are held back until the run ends."""

MAX_CORRECTION: Final = 600
"""Characters of a correction: a model reads the first lines, and every one costs a typed message."""

MAX_EXAMPLE_DEPTH: Final = 6
"""Levels of an example: deeper arguments teach no more, and a schema may refer to itself for ever."""

MAX_EXAMPLE_VALUES: Final = 200
"""Values of an example: schemas that refer to each other grow as the power of their number."""

MAX_FENCE: Final = 100
"""Backticks of a fence: longer runs are no fence that a model writes, and a run is held back until it ends."""

MAX_LABEL: Final = 40
"""Characters of a fence's label, or of the space before it, for the same reason."""

MAX_FENCE_LINE: Final = 64
"""Characters before a fence in its line (indentation, quote marks, a bullet): so much is kept of what has been read."""

MAX_HEAD: Final = 256
"""Characters of a line that are held back while it may still begin a call: its name and a little space fit in."""

MAX_LINE_INDENT: Final = 16
"""Spaces before a call written in lines: what nested lists add to a fence, and no more."""

MAX_HISTORY_TURNS: Final = 10
"""Turns that a conversation of assistant-api remembers: its document's window (S14)."""

NEAR_NAME: Final = 0.8
"""Likeness (0 to 1) from which an unknown name is a mistyped one: `read_fil` is `read_file`, `print` is nothing."""

MAX_MARKUP: Final = 10_000_000
"""Characters of a call written as XML elements: what the document of forge takes (F35)."""

MAX_TRY: Final = 4_000
"""Characters of a JSON value that the standard decoder is shown before it is known to look like a call: its failure
costs time linear in them, at any number of brackets."""

MAX_YAML_VALUES: Final = 5_000
"""Values of one call in YAML, which is read a hundred times more slowly than JSON: half a second's worth."""
