"""The tasks that measure the prompt: no check passes before the work, each passes after it; the counts are right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.played import prepare, tally, totals
from benchmarks.played_tasks import ESCAPES, PORTS, TASKS, Task

SOLUTIONS: dict[str, tuple[dict[str, str], str]] = {
    "quotes and backslashes": (
        {
            "quoting.py": 'def quote(text):\n    r"""\n    >>> print(quote(\'say "hi" \\\\o/\'))\n'
            '    "say \\"hi\\" \\\\o/"\n    """\n'
            "    for bad, good in ('\\\\', r'\\\\'), ('\"', r'\\\"'), ('\\n', r'\\n'):\n"
            "        text = text.replace(bad, good)\n"
            "    return f'\"{text}\"'\n"
        },
        "",
    ),
    "a regex": (
        {
            "logline.py": "import re\n\nLINE = re.compile(\n"
            "    r'(?P<when>[\\d-]+ [\\d:,]+) \\[(?P<level>\\w+) *\\] (?P<source>\\S+): \"(?P<text>.*)\"'\n)\n\n\n"
            "def parse(line):\n    found = LINE.fullmatch(line)\n    return found.groupdict() if found else None\n"
        },
        "",
    ),
    "a README with fences": (
        {
            "README.md": '# tide\n\n```bash\npip install tide\n```\n\n```json\n{"unit": "m"}\n```\n\n'
            "````markdown\n```python\nprint(tide.now())\n```\n````\n"
        },
        "",
    ),
    "tabs in a makefile": (
        {
            "rules.mk": "build:\n\tmkdir -p out\n\tcc -o out/app main.c\n\nclean:\n\trm -rf out\n\n"
            "check: build\n\t@echo \"all: $$HOME\"\n\tgrep -E '^\\s+[0-9]+\\.' out.txt || true\n"
        },
        "",
    ),
    "tags in JSX": (
        {
            "Badge.tsx": "interface Props {\n  isNew?: boolean;\n}\n  return <>"
            '<span className="badge" title={`${label} \\u2014 <b>${count}</b> & more`}>'
            "{isNew && <em>new</em>}{label}: {count}</span><br/></>;\n"
        },
        "",
    ),
    "docs about the protocol": (
        {"docs/protocol.md": "A call:\n<TOOL_CALL>\n{}\n</TOOL_CALL>\n\nTOOL_RESULT: {}\n"},
        "There are 3 files.",
    ),
    "unicode": (
        {
            "messages.json": json.dumps(
                {
                    "title": "Fähre",
                    "price": "12\u00a0€",
                    "family": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
                    "hint": "soft\u200bwrap",
                    "quote": "“naïve”",
                }
            )
        },
        "",
    ),
    "nested escapes": (
        {"config.json": ESCAPES.files["config.json"].replace('retries\\\\\\": 3', 'retries\\\\\\": 5')},
        "",
    ),
    "a Windows path and LaTeX": (
        {
            "notes.md": "# Notes\n\nSnake_case and *stars*.\nData is in `C:\\new\\table\\users`\n"
            "$\\frac{a_1}{b^2} \\neq \\text{new}$ and \\(x_1 * x_2 * x_3\\) cost \\$5\n"
        },
        "",
    ),
    "a large file": (
        {"ports.py": '"""Ports."""\n\nPORTS = (\n' + "".join(f"    {port!r},\n" for port in PORTS) + ")\n"},
        "",
    ),
    "a bug hunt": ({"shop/rounding.py": "def cents(amount, percent):\n    return round(amount, 2)\n"}, ""),
    "a rename": (
        {
            "pricing.py": "def total_price(count, price):\n    return count * price\n\n\n"
            'def calculate():\n    return "calc\\tv1"\n',
            "till.py": "import pricing\n\n\ndef bill():\n"
            '    return f"total <{pricing.total_price(2, 3)}>"  # was: `calc`, see \\\\server\\share\n',
        },
        "",
    ),
    "no tool": ({}, "It gives ababc."),
    "a failure to recover from": ({}, "The port is 7431."),
}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: str(task.name))
def test_a_check_tells_the_work_from_no_work(task: Task, tmp_path: Path) -> None:
    workspace = prepare(task, tmp_path)
    assert task.check(workspace, "") is not None
    files, answer = SOLUTIONS[task.name]
    for path, content in files.items():
        (workspace / path).parent.mkdir(exist_ok=True)
        (workspace / path).write_text(content, encoding="utf-8")
    assert task.check(workspace, answer) is None


def event(type: str, turn: int | None = None, call: str | None = None, **data: Any) -> dict[str, Any]:
    return {"type": type, "turn": turn, "call": call, "data": data}


EVENTS = [
    event("reply.done", 1, kind="text"),
    event("diagnostic", 1, code="malformed_call"),
    event("state", 2, state="sending", kind="correction"),
    event("reply.done", 2, kind="tool_calls"),
    event("diagnostic", 2, code="extra_call"),
    event("call.parsed", 2, "c1"),
    event("call.denied", None, "c1", by="schema"),
    event("reply.done", 3, kind="tool_calls"),
    event("call.parsed", 3, "c2"),
    event("call.done", None, "c2", success=False),
    event("reply.done", 4, kind="error"),
    event("reply.done", 5, kind="text"),
]


def test_a_reply_that_could_not_be_used_counts_once() -> None:
    counts = tally(EVENTS)
    assert [counts[name] for name in ("messages", "calls", "format_errors", "invalid_calls")] == [5, 2, 2, 1]
    assert counts["other"]["failed_calls"] == 1
    assert totals([{"done": True, **counts}, {"done": False, **counts}]) == {
        "tasks": 2,
        "done": 1,
        "messages": 10,
        "calls": 4,
        "format_errors": 4,
        "invalid_calls": 2,
        "format_errors_per_100_calls": 50.0,
    }
