"""Every limit of this room, each with its reason."""

from __future__ import annotations

from typing import Final

MAX_FILE_SIZE: Final = 10 * 1024 * 1024
"""T41: what is written, and what is read without a range, is at most this long; exactly this is allowed."""

READ_LINES: Final = 2_000
"""Lines that one read_file returns: about what a web chat accepts in one message without turning it into a file."""
READ_LINE_CHARS: Final = 2_000
"""Characters kept of one line, so that one minified line cannot eat the whole reply."""
READ_BYTES: Final = 48 * 1024
"""UTF-8 bytes of content that one read_file returns; composers of web chats slow down well before 64 KB."""
READ_CHUNK: Final = 1024 * 1024
"""A file is streamed in pieces of this size, so that memory stays flat for files of any size (T47)."""
SNIFF_BYTES: Final = 8 * 1024
"""What is looked at to tell text from binary; git looks at as much."""
BINARY_SHARE: Final = 0.30
"""More non-text than this in the sniffed bytes is binary (the rule of Perl's -T, older than most editors)."""

LIST_FILES: Final = 1_000
"""Paths that one list_files returns: some 40 KB of names."""
LIST_SCAN: Final = 200_000
"""Entries looked at before a listing says that it is incomplete: bounds time and memory in a huge tree."""
LIST_DEPTH: Final = 64
"""Levels walked at most; each holds one file descriptor open."""
GLOB_CHARS: Final = 1_000
"""A longer glob, or line of a .gitignore, is a mistake, and would only cost matching time."""
GLOB_ALTERNATIVES: Final = 64
"""Globs that the braces of one glob may stand for; each nesting multiplies them, and each is matched on its own."""
IGNORE_FILE_BYTES: Final = 1024 * 1024
"""A .gitignore beyond this is not an ignore file; it is left out, with a note, rather than compiled."""
IGNORE_RULES: Final = 10_000
"""Rules of all .gitignore files that one call obeys: each is compiled and held, and the largest known have 2,000."""

SEARCH_MATCHES: Final = 100
"""Matches that one search_code returns unless asked otherwise."""
SEARCH_MATCHES_MAX: Final = 500
"""The most that `options.limit` may ask for."""
SEARCH_COLLECT: Final = 5_000
"""Matches collected and sorted before paging; beyond it the query is too broad to page through."""
SEARCH_LINE_CHARS: Final = 500
"""Characters kept of one matching line."""
SEARCH_CONTEXT: Final = 10
"""Context lines on each side at most."""
SEARCH_SECONDS: Final = 30.0
"""ripgrep reads about 1 GB a second; a search beyond this is stopped and says so."""
SEARCH_RECORD_BYTES: Final = 1024 * 1024
"""One line of ripgrep's JSON beyond this (a minified bundle) is skipped and counted."""

DIAGNOSTIC_FILES: Final = 200
"""Files that get_diagnostics checks without `file`; the rest is named as skipped."""
DIAGNOSTIC_FILE_BYTES: Final = 1024 * 1024
"""A longer source file is generated; checking it would only cost time."""
DIAGNOSTIC_TOTAL_BYTES: Final = 16 * 1024 * 1024
"""All files of one call together: they are held in memory while they are checked."""
DIAGNOSTICS: Final = 200
"""Diagnostics returned by one call."""
DIAGNOSTIC_SECONDS: Final = 30.0
"""All checks of one call together; what was not reached by then is named."""
DIAGNOSTIC_FILE_SECONDS: Final = 3.0
"""The parser with one file; the slowest honest megabyte takes one."""
DIAGNOSTIC_OUTPUT: Final = 8 * 1024 * 1024
"""Output kept of one checker process; 200 files of ordinary findings are far below it."""
DIAGNOSTIC_PARALLEL: Final = 4
"""ruff processes at a time: enough to hide their start-up, few enough to leave the machine usable."""

DIFF_LINES: Final = 2_000
"""Changed region (lines, either side) that is compared line by line; difflib is quadratic."""
DIFF_BYTES: Final = 1024 * 1024
"""Longer content is summarised: its lines alone would take hundreds of megabytes."""
DIFF_CHARS: Final = 20_000
"""Characters of a diff that a person is shown; nobody reads more before approving."""

LINK_STEPS: Final = 40
"""Symbolic links followed in one path, as Linux does (ELOOP)."""
DISK_SECONDS: Final = 20.0
"""One listing, ranged read or page of matches: a laptop reads gigabytes or walks 200,000 files in less."""
DISK_THREADS: Final = 8
"""Threads for disk work; beyond this a laptop's disk only queues."""
CACHED_RESULTS: Final = 256
"""Results of cacheable tools kept (T45)."""

KEY_CHARS: Final = 4_096
"""Characters of a path that tell it from another in a batch: PATH_MAX; a model may write megabytes."""

KEY_DEPTH: Final = 64
"""Components of a path that tell it from another in a batch; what lies deeper waits for its whole tree."""
