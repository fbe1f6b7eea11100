"""`python -m tests.fuzz --minutes N`: fuzz every dialect from the cases on, in a temporary folder (`make soak`).

Ends with 0 when nothing failed. Each kind of failure is kept as its shortest input in `.fuzz/findings`; a later run
goes on from the corpus in `.fuzz/corpus`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tests.fuzz.seeds import dictionary

ROOT = Path(__file__).parents[2]


def main() -> int:
    arguments = argparse.ArgumentParser(prog="python -m tests.fuzz")
    arguments.add_argument("--minutes", type=float, default=20)
    arguments.add_argument("--folder", type=Path, default=ROOT / ".fuzz")
    given = arguments.parse_args()
    given.folder.mkdir(exist_ok=True)
    findings, tokens = given.folder / "findings", given.folder / "tokens.dict"
    tokens.write_text(dictionary(), encoding="utf-8")
    run = [sys.executable, "-m", "tests.fuzz.fuzz_dialects", str(given.folder / "corpus"), f"-dict={tokens}"]
    options = [
        f"-max_total_time={int(given.minutes * 60)}",
        f"-artifact_prefix={given.folder}/",
        "-print_final_stats=1",
    ]
    ended = subprocess.run(
        [*run, *options], cwd=ROOT, env={**os.environ, "TABFERRY_FUZZ_FINDINGS": str(findings)}, check=False
    )
    found = sorted(file.name for file in findings.glob("*"))
    print("\n".join(found) or "nothing failed")
    return 1 if found else ended.returncode


if __name__ == "__main__":
    sys.exit(main())
