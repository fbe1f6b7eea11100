"""Pure parsers for diagnostics: they see text on standard input, and execute and configure nothing from it."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

from tool_manager.binaries import find
from tool_manager.errors import ToolError, shown
from tool_manager.limits import (
    DIAGNOSTIC_FILE_SECONDS,
    DIAGNOSTIC_OUTPUT,
    DIAGNOSTIC_PARALLEL,
    DIAGNOSTIC_SECONDS,
)
from tool_manager.models import JsonObject
from tool_manager.process import collect, feed, run, spawn

Kind = Literal["python", "json", "toml"]
KINDS: Final[dict[str, Kind]] = {".py": "python", ".pyi": "python", ".json": "json", ".toml": "toml"}
_COMMENTED: Final = ("tsconfig", "jsconfig", "devcontainer")  # JSON with comments, which is not JSON
_SCRIPT: Final = Path(__file__).with_name("tools") / "_parse.py"
_RUFF_TARGETS: Final = range(7, 15)  # minor versions that every ruff of our range knows
_RULES: Final = "E4,E7,E9,F"  # ruff's own classic default, named, so that a newer ruff finds the same
_ERRORS: Final = ("E9", "F82", "F7", "invalid-syntax")


@dataclass(frozen=True, slots=True, order=True)
class Diagnostic:
    """`line` and `column` count from 1; `severity` is "error" (it cannot work) or "warning"."""

    file: str
    line: int
    column: int
    severity: str
    code: str
    message: str

    def data(self) -> JsonObject:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Source:
    path: str
    kind: Kind
    data: bytes


def kind_of(path: str) -> Kind | None:
    """Which parser checks `path`, None when none does."""
    name = Path(path)
    commented = name.suffix == ".json" and (name.stem.startswith(_COMMENTED) or ".vscode" in name.parts)
    return None if commented else KINDS.get(name.suffix)


async def check(sources: Sequence[Source]) -> list[Diagnostic]:
    """Every finding, sorted; a file that a checker gave up on is one. Raises `ToolError` when a checker is missing."""
    find("ruff", "ruff")  # said once, not for each file
    gate = asyncio.Semaphore(DIAGNOSTIC_PARALLEL)
    ends = asyncio.get_running_loop().time() + DIAGNOSTIC_SECONDS

    async def lint(source: Source) -> list[Diagnostic]:
        async with gate:
            return await _ruff(source, ends)

    parsed = asyncio.create_task(_parse(list(sources), ends))
    linted = [asyncio.create_task(lint(source)) for source in sources if source.kind == "python"]
    try:
        findings = await parsed
        broken = {finding.file for finding in findings if finding.severity == "error"}
        for task in linted:
            # Of a file that does not parse, the parser's own sentence is enough.
            findings += [finding for finding in await task if finding.file not in broken]
    finally:
        for task in (parsed, *linted):
            task.cancel()
        await asyncio.gather(parsed, *linted, return_exceptions=True)
    return sorted(findings)


async def _parse(sources: list[Source], ends: float) -> list[Diagnostic]:
    findings: list[Diagnostic] = []
    while sources:
        if asyncio.get_running_loop().time() >= ends:
            text = f"not parsed: the checks took longer than {DIAGNOSTIC_SECONDS:g} s together; ask for this file alone"
            return findings + [Diagnostic(source.path, 1, 1, "warning", "syntax", text) for source in sources]
        answers, slow = await _parse_some(sources, ends)
        for source, answer in zip(sources, answers, strict=False):
            findings += [
                Diagnostic(source.path, line, column, "error", "syntax", text) for line, column, text in answer
            ]
        done = len(answers)
        sources = sources[done:]
        if sources and not (slow and asyncio.get_running_loop().time() >= ends):
            findings.append(_given_up(sources.pop(0), slow))  # go on after it
    return findings


def _given_up(source: Source, slow: bool) -> Diagnostic:
    if slow:  # the file may be without fault
        text = f"the parser took longer than {DIAGNOSTIC_FILE_SECONDS:g} s and was stopped"
        return Diagnostic(source.path, 1, 1, "warning", "syntax", text)
    return Diagnostic(source.path, 1, 1, "error", "syntax", "the parser gave up on this file")


async def _parse_some(sources: list[Source], ends: float) -> tuple[list[Any], bool]:
    """The answers for the first of `sources`, until one kills the parser or takes too long (then the flag is set)."""
    jobs = [json.dumps({"kind": item.kind, "data": base64.b64encode(item.data).decode("ascii")}) for item in sources]
    argv = [sys.executable, "-I", "-S", "-B", "-X", "utf8", str(_SCRIPT)]
    stdin = "".join(job + "\n" for job in jobs).encode("ascii")
    answers: list[Any] = []
    async with spawn(argv, stdin=True) as process:
        assert process.stdin and process.stdout and process.stderr
        streams = [
            asyncio.create_task(feed(process.stdin, stdin)),
            asyncio.create_task(collect(process.stderr, 0)),
        ]
        try:
            while line := await _line(process.stdout, ends):
                answers.append(json.loads(line))
        except TimeoutError:
            return answers, True
        finally:
            for task in streams:
                task.cancel()
            await asyncio.gather(*streams, return_exceptions=True)
    return answers, False


async def _line(stream: asyncio.StreamReader, ends: float) -> bytes:
    """The next whole line, nothing at the end; raises `TimeoutError` when one file, or all of them, took too long."""
    async with asyncio.timeout_at(min(asyncio.get_running_loop().time() + DIAGNOSTIC_FILE_SECONDS, ends)):
        line = await stream.readline()
    return line if line.endswith(b"\n") else b""


async def _ruff(source: Source, ends: float) -> list[Diagnostic]:
    minor = sys.version_info.minor
    argv = [find("ruff", "ruff"), "check", "--isolated", "--no-cache", "--quiet"]
    argv += ["--output-format=json", f"--select={_RULES}"]
    argv += [f"--target-version=py3{minor}"] if minor in _RUFF_TARGETS else []
    argv += [f"--stdin-filename=./{source.path}", "-"]
    seconds = max(0.0, round(ends - asyncio.get_running_loop().time(), 1))
    try:
        finished = await run(argv, stdin=source.data, seconds=seconds, limit=DIAGNOSTIC_OUTPUT)
        if finished.code in {0, 1}:
            return [_finding(source.path, item) for item in json.loads(finished.out or b"[]")]
        reason = finished.err.decode("utf-8", "replace").strip().partition("\n")[0]
    except (ToolError, ValueError) as error:
        reason = str(error)
    # One file that ruff cannot stand must not hide what was found in the others.
    text = f"ruff could not check this file: {shown(reason)}"
    return [Diagnostic(source.path, 1, 1, "warning", "ruff", text)]


def _finding(path: str, item: dict[str, Any]) -> Diagnostic:
    code = item.get("code") or "invalid-syntax"
    severity = "error" if code.startswith(_ERRORS) else "warning"
    place = item["location"]
    return Diagnostic(path, place["row"], place["column"], severity, code, item["message"])
