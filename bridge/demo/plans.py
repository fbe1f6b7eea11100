"""The scripted model's plans. Each is a generator: it yields calls, is sent their outcomes, and returns the answer.

No plan knows a result beforehand: whatever it says or writes is computed from the outcomes it was sent.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import TypeAlias

from bridge.demo.fixes import repair
from bridge.demo.report import count, find_field, language, sorry
from bridge.demo.transcript import Call, Outcome, listing

Plan: TypeAlias = Generator[Call, Outcome, str]
MAX_PAGES = 20
MAX_FIX_ROUNDS = 5

KINDS = {"typescript": "ts", "python": "py", "javascript": "js", "markdown": "md", "json": "json", "css": "css"}
"""Names of languages and the ending of their files."""


Pages: TypeAlias = Generator[Call, Outcome, tuple[Outcome, list[Outcome]]]


def _read(path: str, say: str) -> Call:
    return Call(say, "read_file", {"path": path})


def _pages(call: Call) -> Pages:
    """Call, and call again for each further page; the last outcome, and all of them. One that failed is the last."""
    got = yield call
    pages = [got]
    while got.success and (args := got.next_args) is not None and len(pages) < MAX_PAGES:
        got = yield Call("There is more; I'll get the next page.", call.tool, args)
        pages.append(got)
    return got, pages


def _content(pages: list[Outcome]) -> str:
    return "".join(page.text("content") for page in pages)


def read_field(path: str, wanted: str) -> Plan:
    """Read a file and report one value of it."""
    got, pages = yield from _pages(_read(path, f"I'll read `{path}` first."))
    if not got.success:
        return sorry(f"read {path}", got)
    value = find_field(_content(pages), wanted)
    if value is None:
        return f"I read `{path}`, but there is no `{wanted}` in it."
    return f"The {wanted} in {path} is {value}."


def count_lines(path: str) -> Plan:
    """Read a file and count its lines."""
    got, pages = yield from _pages(_read(path, f"I'll read `{path}` and count."))
    if not got.success:
        return sorry(f"read {path}", got)
    return f"`{path}` has {count(len(_content(pages).splitlines()), 'line')}."


def show(path: str) -> Plan:
    """Read a file and show it."""
    got, pages = yield from _pages(_read(path, f"I'll read `{path}`."))
    if not got.success:
        return sorry(f"read {path}", got)
    content = _content(pages)
    fence = "`" * max(4, 1 + max(map(len, re.findall(r"`+", content)), default=0))
    body = content if content.endswith("\n") else content + "\n"
    return f"This is `{path}`:\n\n{fence}{language(path)}\n{body}{fence}"


def find_files(kind: str) -> Plan:
    """Find files by language or glob, page by page, and count them."""
    ending = KINDS.get(kind.lower())
    pattern = f"**/*.{ending}" if ending else kind
    call = Call(f"I'll list every file that matches `{pattern}`.", "list_files", {"directory": ".", "pattern": pattern})
    got, pages = yield from _pages(call)
    if not got.success:
        return sorry(f"list `{pattern}`", got)
    files = [str(row.get("file") or row.get("path") or "") for page in pages for row in page.rows("files")]
    what = f"{kind} file" if ending else f"file matching `{kind}`"
    plural = f"{kind} files" if ending else f"files matching `{kind}`"
    if not files:
        return f"I found no {plural}."
    return f"I found {count(len(files), what, plural)}:\n\n{listing(sorted(files))}"


def rename(old: str, new: str, only: str | None = None) -> Plan:
    """Search for a word, put another in its place in each file, read again, and say what stands there now."""
    found, pages = yield from _pages(Call(f"I'll look for every use of `{old}`.", "search_code", {"query": old}))
    if not found.success:
        return sorry(f"search for `{old}`", found)
    word = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)")
    hits = [row for page in pages for row in page.rows("matches") if word.search(str(row.get("text", "")))]
    files = sorted({str(row.get("file") or row.get("path")) for row in hits})
    files = [path for path in files if only is None or path == only.removeprefix("./")]
    if not files:
        return f"I found no use of `{old}`" + (f" in `{only}`." if only else ".")
    report: list[str] = []
    for path in files:
        report.append((yield from _replace(path, word, new)))
    return f"I looked again at every file that used `{old}`. They read now:\n\n" + "\n".join(report)


def _replace(path: str, word: re.Pattern[str], new: str) -> Plan:
    """One file of a rename; the returned line is read from the file after the edit."""
    before = yield _read(path, f"`{path}` has it. I'll read the whole file before I touch it.")
    if not before.success:
        return f"- `{path}`: " + sorry("read it", before)
    if not before.exact:
        return f"- `{path}`: I did not get it to the last byte, so I left it alone."
    edited = word.sub(lambda _: new, before.text("content"))
    wrote = yield Call(f"Now I'll write `{path}` with `{new}`.", "write_file", {"path": path, "content": edited})
    if not wrote.success:
        return f"- `{path}`: " + sorry("write it", wrote)
    after = yield _read(path, f"Let me read `{path}` again to be sure.")
    if not after.success:
        return f"- `{path}`: " + sorry("read it again", after)
    text = after.text("content")
    now = re.compile(rf"(?<!\w){re.escape(new)}(?!\w)")
    lines = [str(at) for at, line in enumerate(text.splitlines(), 1) if now.search(line)]
    left = len(word.findall(text))
    where = f"line{'s' if len(lines) > 1 else ''} {', '.join(lines)}" if lines else "no line"
    return f"- `{path}`: `{new}` on {where}, {count(left, 'old use')} left"


def fix(path: str) -> Plan:
    """Fix what the diagnostics of a file say, as far as the repair follows from them."""
    ask = Call(f"I'll ask for the diagnostics of `{path}`.", "get_diagnostics", {"file": path})
    done: list[str] = []
    for _ in range(MAX_FIX_ROUNDS):
        found = yield ask
        if not found.success:
            return sorry(f"get the diagnostics of {path}", found)
        problems = found.rows("diagnostics")
        if not problems:
            return _fixed(path, done, [])
        got = yield _read(path, f"I see {count(len(problems), 'problem')}. I'll read `{path}`.")
        if not got.success:
            return sorry(f"read {path}", got)
        if not got.exact:
            return f"I did not get `{path}` to the last byte, so I left it alone."
        content, solved = _repair_all(got.text("content"), problems)
        if not solved:
            return _fixed(path, done, problems)
        wrote = yield Call("I know how to fix that.", "write_file", {"path": path, "content": content})
        if not wrote.success:
            return sorry(f"write {path}", wrote)
        done += solved
        ask = Call("Let me check that it is gone.", "get_diagnostics", {"file": path})
    return f"I stopped after {MAX_FIX_ROUNDS} rounds; `{path}` still has problems."


def _repair_all(content: str, problems: list[dict[str, object]]) -> tuple[str, list[str]]:
    """Repair from the bottom up, so that no repair moves the line of another; a line that went away is done with."""
    solved: list[str] = []
    gone = 0
    for problem in sorted(problems, key=_line, reverse=True):
        repaired = None if _line(problem) == gone or _say(problem) in solved else repair(content, problem)
        if repaired is not None:
            gone = _line(problem) if repaired.count("\n") < content.count("\n") else gone
            content = repaired
            solved.append(_say(problem))
    return content, solved


def _line(row: dict[str, object]) -> int:
    value = row.get("line")
    return value if isinstance(value, int) else 0


def _say(row: dict[str, object]) -> str:
    code = f"{row['code']} " if row.get("code") else ""
    return f"line {row.get('line')}: {code}{row.get('message')}"


def _fixed(path: str, done: list[str], left: list[dict[str, object]]) -> str:
    """What was fixed, and what a script cannot fix."""
    parts = []
    if done:
        parts.append("I fixed:\n\n" + "\n".join(f"- {line}" for line in done))
    if left:
        parts.append(f"I cannot fix this in `{path}` by script:\n\n" + "\n".join(f"- {_say(row)}" for row in left))
    elif done:
        parts.append(f"`{path}` has no diagnostics any more.")
    return "\n\n".join(parts) or f"`{path}` has no diagnostics; there is nothing to fix."


def create(path: str, text: str) -> Plan:
    """Write a file and read it back."""
    wrote = yield Call(f"I'll write `{path}`.", "write_file", {"path": path, "content": text + "\n"})
    if not wrote.success:
        return sorry(f"write {path}", wrote)
    got = yield _read(path, "Let me read it back.")
    if not got.success:
        return sorry(f"read {path}", got)
    return f"`{path}` now says: {got.text('content').strip()}"


def bench(path: str, times: int) -> Plan:
    """Read a file again and again: one tool iteration each, for the benchmark."""
    read = 0
    for _ in range(times):
        got = yield _read(path, "Reading.")
        if not got.success:
            return sorry(f"read {path}", got)
        read += len(got.text("content"))
    return f"Read `{path}` {count(times, 'time')}, {count(read, 'character')} in all."
