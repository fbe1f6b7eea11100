"""Small coding tasks that press on the call format: what a player is asked, in which workspace, and the proof."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Check = Callable[[Path, str], str | None]
"""Workspace after the task and the answer; None when it was done, else what is missing."""

RUN_S = 10.0
"""For one check in Python: the files under test are a few lines long."""


@dataclass(frozen=True, slots=True)
class Task:
    """`files` (path → content) is the fresh workspace; `check` says whether the task was truly done."""

    name: str
    prompt: str
    check: Check
    files: Mapping[str, str] = field(default_factory=dict)


def _read(root: Path, path: str) -> str:
    return (root / path).read_text(encoding="utf-8") if (root / path).is_file() else ""


def _holds(path: str, *lines: str) -> Check:
    """`path` has all these as whole lines, in this order."""

    def check(root: Path, answer: str) -> str | None:
        have = iter(_read(root, path).split("\n"))
        missing = next((line for line in lines if line not in have), None)
        return None if missing is None else f"{path} lacks the line {missing!r} (or has it out of order)"

    return check


def _python(code: str) -> Check:
    """`code` runs without a failed assertion, the workspace being importable."""

    def check(root: Path, answer: str) -> str | None:
        script = f"import sys; sys.path.insert(0, {str(root)!r}); sys.dont_write_bytecode = True\n{code}"
        command = [sys.executable, "-I", "-c", script]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=RUN_S, check=False)
        return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1]

    return check


def _says(*words: str) -> Check:
    def check(root: Path, answer: str) -> str | None:
        missing = [word for word in words if word not in answer]
        return f"the answer lacks {missing}" if missing else None

    return check


def _same(path: str, content: str) -> Check:
    def check(root: Path, answer: str) -> str | None:
        return None if _read(root, path) == content else f"{path} was changed"

    return check


def _all(*checks: Check) -> Check:
    def check(root: Path, answer: str) -> str | None:
        return next((wrong for one in checks if (wrong := one(root, answer)) is not None), None)

    return check


QUOTES = Task(
    "quotes and backslashes",
    "Write quoting.py with a function quote(text): it returns text in double quotes, with every backslash and every "
    "double quote in it escaped by a backslash, and every newline written as \\n. Give it a docstring with one "
    'doctest that shows what becomes of the text say "hi" \\o/ (the doctest must pass).',
    _python(
        "import doctest, quoting\n"
        "assert quoting.quote('a\"b\\\\c\\nd') == '\"a\\\\\"b\\\\\\\\c\\\\nd\"', quoting.quote('a\"b\\\\c\\nd')\n"
        "result = doctest.testmod(quoting)\n"
        "assert result.attempted and not result.failed, result"
    ),
)

REGEX = Task(
    "a regex",
    "parse() in logline.py returns None for the lines in samples.txt. Fix the pattern so that all of them parse into "
    "when, level, source and text; keep the four group names. A text keeps the quotes and backslashes inside it, but "
    "not the quotes around it; a level has no spaces.",
    _python(
        "import logline, pathlib\n"
        "rows = [logline.parse(line) for line in pathlib.Path('samples.txt').read_text().splitlines()]\n"
        "assert all(rows), rows\n"
        "assert [row['level'] for row in rows] == ['WARN', 'INFO', 'ERROR'], rows\n"
        "assert rows[0]['source'] == r'C:\\svc\\new.exe', rows[0]\n"
        "assert rows[0]['text'] == r'disk \\\"D:\\\" is full', rows[0]\n"
        "assert rows[2]['text'] == r'no match for ^\\d{3}[a-z]*\\\\$', rows[2]\n"
        "assert logline.parse('nonsense') is None"
    ),
    {
        "logline.py": (
            "import re\n\n"
            'LINE = re.compile(r"(?P<when>\\d+-\\d+-\\d+ \\d+:\\d+) \\[(?P<level>\\w+)\\] (?P<source>\\w+): '
            '\\"(?P<text>\\w*)\\"")\n\n\n'
            "def parse(line):\n"
            "    found = LINE.fullmatch(line)\n"
            "    return found.groupdict() if found else None\n"
        ),
        "samples.txt": (
            '2025-05-01 12:00:03,123 [WARN ] C:\\svc\\new.exe: "disk \\"D:\\" is full"\n'
            '2025-05-01 12:00:04,001 [INFO ] /usr/bin/table: "started"\n'
            '2025-05-01 12:00:04,900 [ERROR] C:\\bin\\t.exe: "no match for ^\\d{3}[a-z]*\\\\$"\n'
        ),
    },
)

FENCES = Task(
    "a README with fences",
    "Write README.md for the package `tide`: a heading, a section Usage with a ```bash block that holds the line "
    '`pip install tide`, a section Config with a ```json block that holds the line `{"unit": "m"}`, and a section '
    "Docs which shows, inside a four-backtick `markdown` block, how a reader writes a ```python block that holds the "
    "line `print(tide.now())`.",
    _holds(
        "README.md",
        *("```bash", "pip install tide", "```", "```json", '{"unit": "m"}', "```"),
        *("````markdown", "```python", "print(tide.now())", "```", "````"),
    ),
)

TABS = Task(
    "tabs in a makefile",
    "make says `missing separator` for the rules.mk: its recipes must begin with a tab. Fix that, and add a target "
    '`check` that depends on `build` and has two recipe lines: `@echo "all: $$HOME"` and '
    "`grep -E '^\\s+[0-9]+\\.' out.txt || true`.",
    _holds(
        "rules.mk",
        *("build:", "\tmkdir -p out", "\tcc -o out/app main.c", "clean:", "\trm -rf out"),
    ),
    {"rules.mk": "build:\n    mkdir -p out\n    cc -o out/app main.c\n\nclean:\n        rm -rf out\n"},
)
TABS = Task(
    TABS.name,
    TABS.prompt,
    _all(
        TABS.check,
        _holds("rules.mk", "check: build", '\t@echo "all: $$HOME"', "\tgrep -E '^\\s+[0-9]+\\.' out.txt || true"),
    ),
    TABS.files,
)

TAGS = Task(
    "tags in JSX",
    "In Badge.tsx, let Badge show `<em>new</em>` before the label when the prop isNew is true, and give the span the "
    "attribute title={`${label} \\u2014 <b>${count}</b> & more`} exactly as written here. isNew is optional, false by "
    "default. Return a fragment <>…</> whose second child is <br/>, right after the span.",
    _all(
        lambda root, answer: next(
            (
                f"Badge.tsx lacks {part}"
                for part in (
                    "<em>new</em>",
                    "title={`${label} \\u2014 <b>${count}</b> & more`}",
                    "isNew?: boolean",
                    "</>",
                    "<>",
                    "{label}: {count}",
                )
                if part not in _read(root, "Badge.tsx")
            ),
            None,
        ),
        lambda root, answer: None if "<br/>" in _read(root, "Badge.tsx").replace(" ", "") else "no <br/>",
    ),
    {
        "Badge.tsx": (
            "interface Props {\n  label: string;\n  count: number;\n}\n\n"
            "export function Badge({ label, count }: Props) {\n"
            '  return <span className="badge">{label}: {count}</span>;\n}\n'
        )
    },
)

PROTOCOL = Task(
    "docs about the protocol",
    "Write docs/protocol.md, which explains to a newcomer the very protocol by which you call tools: it must show one "
    "whole example call of read_file with its opening and closing tags, each tag on its own line, the JSON between "
    "them on one line, and one example line that begins with TOOL_RESULT: . Then list the files of the workspace and "
    "tell me how many there are.",
    _all(
        _holds("docs/protocol.md", "<TOOL_CALL>", "</TOOL_CALL>"),
        lambda root, answer: (
            None
            if any(line.startswith("TOOL_RESULT: ") for line in _read(root, "docs/protocol.md").splitlines())
            else "no TOOL_RESULT line"
        ),
        lambda root, answer: None if "3" in answer or "three" in answer.lower() else "the answer lacks the count 3",
    ),
    {"main.py": 'print("hi")\n', "LICENSE": "MIT\n"},
)

UNICODE = Task(
    "unicode",
    'In messages.json, set "price" to 12, a no-break space (U+00A0) and the euro sign; "family" to the emoji of man, '
    'woman and girl joined by zero-width joiners (U+200D); "hint" to the word soft, a zero-width space (U+200B) and '
    'the word wrap; "quote" to the word naïve in typographic quotes (U+201C and U+201D). Keep "title". The file must '
    "stay valid JSON; write the characters themselves or escape them, as you like.",
    lambda root, answer: (
        None
        if json.loads(_read(root, "messages.json") or "0")
        == {
            "title": "Fähre",
            "price": "12\u00a0€",
            "family": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
            "hint": "soft\u200bwrap",
            "quote": "\u201cnaïve\u201d",
        }
        else f"messages.json holds {_read(root, 'messages.json')!r}"
    ),
    {"messages.json": '{\n  "title": "Fähre",\n  "price": ""\n}\n'},
)


def _nested(retries: int) -> str:
    inner = json.dumps({"retries": retries, "path": "C:\\temp\\new", "note": 'say "no"\n'})
    return json.dumps({"name": "relay", "payload": json.dumps({"kind": "job", "body": inner})}, indent=2) + "\n"


ESCAPES = Task(
    "nested escapes",
    "config.json holds JSON in a string in JSON in a string. Change retries in the innermost from 3 to 5; everything "
    "else, also the white space, stays as it is.",
    _same("config.json", _nested(5)),
    {"config.json": _nested(3)},
)

PATHS = Task(
    "a Windows path and LaTeX",
    "Append two lines to notes.md. The first: the words `Data is in`, then the Windows path of the folder users in the "
    "folder table in the folder new on drive C in backticks. The second, exactly: "
    "$\\frac{a_1}{b^2} \\neq \\text{new}$ and \\(x_1 * x_2 * x_3\\) cost \\$5",
    _holds(
        "notes.md",
        *("# Notes", "Snake_case and *stars*."),
        "Data is in `C:\\new\\table\\users`",
        "$\\frac{a_1}{b^2} \\neq \\text{new}$ and \\(x_1 * x_2 * x_3\\) cost \\$5",
    ),
    {"notes.md": "# Notes\n\nSnake_case and *stars*.\n"},
)

TOWNS = ["Oban", "Ardrossan", "Uig", "Mallaig", "Kennacraig", "Wemyss", "Gourock", "Largs"]
KINDS = [
    "Pier",
    'Quay "Old"',
    "Slip\\North",
    "Harbour",
    "Ferry Terminal",
    "O'Neil's Jetty",
    "Mole",
    "<Berth 2>",
    "Dock",
]
NAMES = [f"{town} {kind}" for town in TOWNS for kind in KINDS]
PORTS = [(f"P{n:02d}", name, n * 37 % 100 / 4) for n, name in enumerate(NAMES, 1)]


def _check_ports(root: Path, answer: str) -> str | None:
    try:
        tree = ast.parse(_read(root, "ports.py"))
        values = [ast.literal_eval(n.value) for n in tree.body if isinstance(n, ast.Assign | ast.AnnAssign) and n.value]
    except (SyntaxError, ValueError) as error:
        return f"ports.py cannot be read: {error}"
    return None if values == [tuple(PORTS)] else "PORTS is not what ports.csv holds"


LARGE = Task(
    "a large file",
    "Write ports.py from ports.csv, whole and by hand: a module docstring, then one constant PORTS, a tuple of tuples "
    "(code, name, depth), in the order of the file, one row a line, depth as a float. The names keep their quotes and "
    "backslashes.",
    _check_ports,
    {"ports.csv": "code;name;depth\n" + "".join(f"{code};{name};{depth:g}\n" for code, name, depth in PORTS)},
)

BUG = Task(
    "a bug hunt",
    "An order of 3 items at 10.00 with a discount of 10 % should cost 27.00, but shop.order.total() says 24.3. Find "
    "the cause and fix it where it belongs, with the smallest change; a single item's price_of() must stay as it is.",
    _python(
        "from shop import catalogue, order\n"
        "assert abs(order.total([('tea', 3)], 10) - 27) < 1e-9, order.total([('tea', 3)], 10)\n"
        "assert abs(catalogue.price_of('tea', 10) - 9) < 1e-9\n"
        "assert abs(order.total([('tea', 1), ('cup', 2)], 0) - 20.5) < 1e-9"
    ),
    {
        "shop/__init__.py": "",
        "shop/catalogue.py": (
            "from shop.discount import reduced\n\nPRICES = {'tea': 10.0, 'cup': 5.25}\n\n\n"
            "def price_of(name, percent):\n    return reduced(PRICES[name], percent)\n"
        ),
        "shop/discount.py": "def reduced(amount, percent):\n    return amount * (100 - percent) / 100\n",
        "shop/order.py": (
            "from shop.catalogue import price_of\nfrom shop.rounding import cents\n\n\n"
            "def total(lines, percent):\n"
            "    return cents(sum(price_of(name, percent) * count for name, count in lines), percent)\n"
        ),
        "shop/rounding.py": (
            "from shop.discount import reduced\n\n\n"
            "def cents(amount, percent):\n    return round(reduced(amount, percent), 2)\n"
        ),
        "README.md": "A shop. `shop.order.total(lines, percent)` is what the till calls.\n",
    },
)

RENAME = Task(
    "a rename",
    "Rename the function calc to total_price, in all files; do not touch calculate, the comments, or the word "
    'calc in the string "calc\\tv1".',
    _all(
        _python(
            "import pricing, till\nassert pricing.total_price(2, 3) == 6\nassert not hasattr(pricing, 'calc')\n"
            "assert pricing.calculate() == 'calc\\tv1'\nassert till.bill() == 'total <6>'"
        ),
        _holds("till.py", '    return f"total <{pricing.total_price(2, 3)}>"  # was: `calc`, see \\\\server\\share'),
    ),
    {
        "pricing.py": (
            'def calc(count, price):\n    return count * price\n\n\ndef calculate():\n    return "calc\\tv1"\n'
        ),
        "till.py": (
            "import pricing\n\n\ndef bill():\n"
            '    return f"total <{pricing.calc(2, 3)}>"  # was: `calc`, see \\\\server\\share\n'
        ),
    },
)

NO_TOOL = Task(
    "no tool",
    "Without looking at any file: what do you have to write to call a tool here, in one sentence of plain words, and "
    "what does the Python expression 'ab' * 2 + 'c' give?",
    _says("ababc"),
    {"main.py": "print(1)\n"},
)

RECOVER = Task(
    "a failure to recover from",
    "Read settings.yaml in the root and tell me the port. Should it not be there, find the file that has it.",
    _says("7431"),
    {"deploy/etc/settings.yml": "host: localhost\nport: 7431  # not 8080\n", "src/app.py": "PORT = None\n"},
)

TASKS = [QUOTES, REGEX, FENCES, TABS, TAGS, PROTOCOL, UNICODE, ESCAPES, PATHS, LARGE, BUG, RENAME, NO_TOOL, RECOVER]
