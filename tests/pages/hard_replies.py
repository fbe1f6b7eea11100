"""Replies that chat pages damage: how models write calls, and what a call's strings hold, each with what was meant.

Every one is as a model would send it; `call` is what must come back through a page, None where no call may (T7, X19).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

OPEN, CLOSE = "<TOOL_CALL>", "</TOOL_CALL>"
READ = ("read_file", {"path": "src/app.ts"})

SPACED = '{\t"tool" :\t"read_file",   "args"\t: { "path" : "src/app.ts"\t} }  '

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class HardReply:
    """`text` as sent; `call` is the tool and the arguments of the one call in it that counts."""

    name: str
    text: str
    call: Call | None


class HardModel:
    """Answers a message that ends in a number with that reply."""

    def __init__(self, replies: Sequence[HardReply]) -> None:
        self._replies = replies

    def reply(self, messages: list[dict[str, str]]) -> str:
        return self._replies[int(messages[-1]["content"].split()[-1])].text


def line(call: Call, **how: Any) -> str:
    """`call` as JSON, on one line unless `how` says otherwise."""
    return json.dumps({"tool": call[0], "args": call[1]}, **how)


def block(body: str) -> str:
    return f"{OPEN}\n{body}\n{CLOSE}"


def fenced(call: Call, fence: str = "````", **how: Any) -> str:
    return f"I'll do it.\n\n{fence}json\n{block(line(call, **how))}\n{fence}"


def write(content: str) -> Call:
    return "write_file", {"path": "out.txt", "content": content}


def _forms() -> Iterator[HardReply]:
    """One easy call, written in every way that models were seen to choose."""
    body = block(line(READ))
    flat = f"{OPEN}{line(READ)}{CLOSE}"
    for name, text in {
        "bare": body,
        "bare in prose": f"Let me read it first.\n\n{body}\n\nThen I'll go on.",
        "bare inside a sentence": f"I will call {flat} now.",
        "inline code": f"I will call `{flat}` now.",
        "indented code": "Here it is:\n\n" + "".join(f"    {row}\n" for row in body.splitlines()),
        "3 backticks": fenced(READ, "```"),
        "4 backticks": fenced(READ),
        "tildes": fenced(READ, "~~~"),
        "fence without a language": f"So:\n\n```\n{body}\n```",
        "unclosed fence": f"So:\n\n```json\n{body}",
        "list item": f"1. First:\n\n   ```json\n   {OPEN}\n   {line(READ)}\n   {CLOSE}\n   ```\n2. Then the rest.",
        "bare list item": f"- {flat}\n- then the rest",
        "table": f"| step | call |\n|---|---|\n| 1 | {flat} |\n",
        "after <think>": f"<think>\nWhich file? I need src/app.ts.\n</think>\n\n{fenced(READ)}",
        "3 calls": "\n\n".join([fenced(READ), fenced(write("2")), fenced(write("3"))]),
        "CRLF": fenced(READ).replace("\n", "\r\n"),
        "bare, CRLF": body.replace("\n", "\r\n"),
        "tabs and spaces between tokens": block(SPACED) + "  \n",
        "fence within the tags": block(f"```json\n{line(READ)}\n```"),
        "JSON over many lines": fenced(READ, indent=4),
        "bare JSON over many lines": block(line(READ, indent="\t")),
        "an example in prose, then the call": f"The tag {OPEN} begins a call.\n\n{fenced(READ)}",
    }.items():
        yield HardReply(name, text, READ)


STRINGS = {
    "quotes": 'print("a \\"b\\" c")\nq = \'"\'\n',
    "backslashes": "C:\\new\\table \\\\server\\share \\d+\\.\\w* \\n \\u0041 \\",
    "Markdown": "def __init__(self, *args, **kwargs):\n    return 2*3*4  # _a_ ~~b~~ [c](d) <https://e.org>\n",
    "HTML and JSX": "<div class=\"a\" onclick='x()'>&lt;b&gt; &amp;amp; &#65;</div><script>alert(1)</script><br/>"
    "\n<>{items.map((i) => <Item key={i.id} {...i} />)}</>",
    "LaTeX": "$x_1^2$ and $$\\frac{a}{b}$$ and \\(y * z\\) and \\[w\\] cost \\$5",
    "smart quotes": "“quoted” ‘single’ – — … 'plain' \"plain\"",
    "emoji": "👍🏽 👨‍👩‍👧‍👦 🏳️‍🌈 :smile: ✔️",
    "no-break spaces": "12\u00a0€ 1\u202f000 a\u2007b",
    "zero width and BOM": "\ufeffsoft\u200bwrap z\u200cw\u200dj \u2060.",
    "direction marks": "a \u202eevil\u202c b \u200f\u2066x\u2069",
    "line separators": "a\u2028b\u2029c\u0085d",
    "control characters": "a\x7fb\x00c\x1bd\x0be",
    "white space": "a:\n\tb  \n\r\nc\t\td\n\n\n\ne     f          g",
    "closing tag": f"The block ends with {CLOSE} and begins with {OPEN}.",
    "a whole call": fenced(READ),
    "triple backticks": "# Use\n\n```bash\nmake\n```\n\n````md\n```js\n````\n~~~\n",
    "thinking tags": "<think>no</think> <thinking>",
    "Markdown blocks": "---\n- a: |\n    b\n| a | b |\n|---|---|\n| `|` | \\| |\n",
    "links and images": "![a](b.png \"c\") [ref]: http://x.y/?a=1&b=2 http://bare.example/_x_ me@example.org #1 @you",
    "other scripts": "Ame\u0301lie \u1e9b\u0323 ﬁ Å 漢字　かな עברית العربية",
}  # fmt: skip
"""What the content of a file may hold. Raw characters where JSON allows them, as models write them."""


def _strings() -> Iterator[HardReply]:
    """Each content twice: fenced and in ASCII, as the prompt asks, and bare and raw, as a careless model sends it."""
    for name, content in STRINGS.items():
        call = write(content)
        yield HardReply(f"{name}, fenced", fenced(call), call)
        yield HardReply(f"{name}, raw and bare", f"I'll write it.\n\n{block(line(call, ensure_ascii=False))}", call)


def _no_calls() -> Iterator[HardReply]:
    """What looks like a call and is none: nothing of it may run, on any page."""
    inside = block(line(READ))
    yield HardReply("only inside <think>", f"<think>\nI could send\n{inside}\nbut no.\n</think>\n\nIt is done.", None)
    yield HardReply("inside <think> that stays open", f"<think>\nPerhaps\n{inside}\n", None)
    yield HardReply("in a quote", "".join(f"> {row}\n" for row in inside.splitlines()), None)
    yield HardReply("cut off", fenced(write("x" * 300))[:-120], None)
    yield HardReply("tags in prose", f"A call stands between `{OPEN}` and `{CLOSE}`.", None)
    yield HardReply("not JSON", block("{'tool': 'read_file', 'args': {'path': 'a'}}"), None)
    yield HardReply("prose", "The version is **1.4.0**; see `package.json`, <b>line 3</b>.", None)


ROW = '2025-05-01;Tarbert "north";C:\\quay\\{n};<b>{n}</b>;__{n}__'


def _rows(size: int) -> str:
    """Lines that make a call of at least `size` characters."""
    each = len(json.dumps(f"{ROW}\n"))
    return "".join(ROW.replace("{n}", f"{n:05d}") + "\n" for n in range(size // each + 1))


def _large() -> Iterator[HardReply]:
    rows = [ROW.replace("{n}", str(n)) for n in range(200)]
    listed: Call = ("write_file", {"path": "rows.json", "content": rows})
    yield HardReply("200 rows over 200 lines", fenced(listed, indent=2), listed)
    for name, size in {"20 KB on one line": 20_000, "50 KB": 50_000, "217 KB": 217_000}.items():
        call = write(_rows(size))
        yield HardReply(name, fenced(call), call)


HARD_REPLIES = [*_forms(), *_strings(), *_no_calls(), *_large()]
"""The largest last: a page draws, and some send again, all that came before."""
