"""Every bound of the chat driver, with its reason. Times in seconds unless the name says otherwise."""

from __future__ import annotations

OPEN_TIMEOUT = 60.0
"""A self-hosted chat on a busy machine took up to 29 s to its first page (Gradio, cold)."""

COMPOSER_TIMEOUT = 30.0
"""From a loaded document to a composer: single-page apps fetch their configuration first."""

READY_TIMEOUT = 60.0
"""From the end of a reply to a page that takes the next message; the slowest measured was 2.6 s under load."""

LAND_TIMEOUT = 60.0
"""For typed text to be in the composer: 50 KB in many lines took 27 s in the slowest editor measured."""

ACCEPT_TIMEOUT = 60.0
"""From Enter to our own bubble or request: Open WebUI took 46 s for 50 KB."""

FIRST_WORD_TIMEOUT = 300.0
"""From acceptance to the first sign of a reply: reasoning models think for minutes before a word."""

SILENCE_TIMEOUT = 300.0
"""Between two signs of life while a reply is being written."""

REPLY_TIMEOUT = 1800.0
"""For a whole reply; a model that is still writing after half an hour does not stop by itself."""

MAX_REPLY_CHARS = 2_000_000
"""A reply longer than this has run away; the longest reply measured on a real page had 217 KB."""

QUIET_MS = 400
"""Milliseconds without a change that end a reply when the network showed nothing (fallback only)."""

CDP_TIMEOUT = 30.0
"""For one answer of the browser; a page stuck in its own rendering answered after 95 s at worst, then we say so."""

VIEWPORT_WIDTH = 1280
VIEWPORT_HEIGHT = 900
"""Narrower windows make some sites serve their mobile page, where the controls differ."""

BUSY_GRACE = 3.0
"""For a Stop button to appear, where the network shows nothing; the slowest measured page took under 1 s."""

WIRE_GRACE = 5.0
"""From an idle page to the end of a stream that is still open: more than the worst lag measured (2.6 s)."""
