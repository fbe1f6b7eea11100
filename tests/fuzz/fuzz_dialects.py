"""Coverage-guided fuzzing of every dialect: `make soak`. Runs in an environment of its own, with atheris.

    .venvs/fuzz/bin/python -m tests.fuzz.fuzz_dialects CORPUS -max_total_time=900

The first byte of an input chooses the dialect, the second whether calls are many and how the reply is cut; the rest is
the reply in UTF-8 (surrogates allowed). What fails is written as `crash-…`; keep it as a test in
`tests/protocol/data/regressions/`. With TABFERRY_FUZZ_FINDINGS=FOLDER it goes on instead, and keeps there the shortest
input of each kind of failure.
"""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path

import atheris  # type: ignore[import-untyped]  # only where it runs

with atheris.instrument_imports(include=["bridge.protocol"]):
    from bridge.protocol import dialects
    from tests.protocol.invariants import check

    for each in dialects.names():  # instrumented as they are imported
        dialects.get(each)

NAMES = dialects.names()
CUTS = ((1,), (2,), (3, 1), (5,), (7, 2), (16,), (64, 1), (1000,))
SLOW = 1.0
"""Seconds of processor time for a reply of a few KB: far beyond linear."""


def decode(data: bytes) -> tuple[str, str, tuple[int, ...], bool]:
    """Dialect, reply, cuts and `multi` of an input."""
    name, how = NAMES[data[0] % len(NAMES)], data[1]
    return name, data[2:].decode("utf-8", "surrogateescape"), CUTS[how % len(CUTS)], how & 64 != 0


def one(data: bytes) -> None:
    findings = os.environ.get("TABFERRY_FUZZ_FINDINGS")
    try:
        try_one(data)
    except Exception as error:
        if not findings:
            raise
        keep(Path(findings), data, error)


def keep(folder: Path, data: bytes, error: Exception) -> None:
    """Note what failed, once for each dialect and message."""
    name = f"{NAMES[data[0] % len(NAMES)]}-{type(error).__name__}-{re.sub(r'[^a-z]+', '-', str(error).lower())[:50]}"
    file = folder / name
    if not file.exists() or len(data) < file.stat().st_size:
        folder.mkdir(parents=True, exist_ok=True)
        print(f"FINDING {name}: {data!r}", flush=True)
        file.write_bytes(data)


def try_one(data: bytes) -> None:
    if len(data) < 3:
        return
    name, text, cuts, multi = decode(data)
    start = time.process_time()
    check(name, text, cuts, multi=multi)
    assert time.process_time() - start < SLOW, f"{name} is slow"


def seed(folder: Path) -> None:
    """Fill an empty corpus with the cases, each in the dialect it is for, and `dictionary` with every syntax."""
    from tests.fuzz.seeds import replies

    folder.mkdir(parents=True, exist_ok=True)
    for at, (name, reply) in enumerate(replies()):
        head = bytes((NAMES.index(name), at % 256))
        (folder / f"seed{at:04}").write_bytes(head + reply.encode("utf-8", "surrogatepass"))


def main() -> None:
    folder = Path(sys.argv[1])
    if not any(folder.glob("*")):
        seed(folder)
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
