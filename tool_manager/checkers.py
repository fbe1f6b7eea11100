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
from tool_manager.limits import DIAGNOSTIC_OUTPUT, DIAGNOSTIC_PARALLEL, DIAGNOSTIC_SECONDS
from tool_manager.models import JsonObject
from tool_manager.process import run

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
    """Every finding, sorted; raises `ToolError` when a checker is missing or the parsers take too long."""
    find("ruff", "ruff")  # said once, not for each file
    gate = asyncio.Semaphore(DIAGNOSTIC_PARALLEL)

    async def lint(source: Source) -> list[Diagnostic]:
        async with gate:
            return await _ruff(source)

    parsed = asyncio.create_task(_parse(list(sources)))
    linted = [asyncio.create_task(lint(source)) for source in sources if source.kind == "python"]
    try:
        findings = await parsed
        broken = {finding.file for finding in findings}
        for task in linted:
            # Of a file that does not parse, the parser's own sentence is enough.
            findings += [finding for finding in await task if finding.file not in broken]
    finally:
        for task in (parsed, *linted):
            task.cancel()
        await asyncio.gather(parsed, *linted, return_exceptions=True)
    return sorted(findings)


async def _parse(sources: list[Source]) -> list[Diagnostic]:
    findings: list[Diagnostic] = []
    while sources:
        answers = await _parse_some(sources)
        for source, answer in zip(sources, answers, strict=False):
            findings += [
                Diagnostic(source.path, line, column, "error", "syntax", text) for line, column, text in answer
            ]
        done = len(answers)
        if done < len(sources):  # the process died on this one; go on after it
            text = "the parser gave up on this file"
            findings.append(Diagnostic(sources[done].path, 1, 1, "error", "syntax", text))
        sources = sources[done + 1 :]
    return findings


async def _parse_some(sources: list[Source]) -> list[Any]:
    jobs = [json.dumps({"kind": item.kind, "data": base64.b64encode(item.data).decode("ascii")}) for item in sources]
    argv = [sys.executable, "-I", "-S", "-B", "-X", "utf8", str(_SCRIPT)]
    stdin = "".join(job + "\n" for job in jobs).encode("ascii")
    finished = await run(argv, stdin=stdin, seconds=DIAGNOSTIC_SECONDS, limit=DIAGNOSTIC_OUTPUT)
    return [json.loads(line) for line in finished.out.splitlines(keepends=True) if line.endswith(b"\n")]


async def _ruff(source: Source) -> list[Diagnostic]:
    minor = sys.version_info.minor
    argv = [find("ruff", "ruff"), "check", "--isolated", "--no-cache", "--quiet"]
    argv += ["--output-format=json", f"--select={_RULES}"]
    argv += [f"--target-version=py3{minor}"] if minor in _RUFF_TARGETS else []
    argv += [f"--stdin-filename=./{source.path}", "-"]
    try:
        finished = await run(argv, stdin=source.data, seconds=DIAGNOSTIC_SECONDS, limit=DIAGNOSTIC_OUTPUT)
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
