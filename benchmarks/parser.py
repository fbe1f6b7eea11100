"""What it costs to read a reply, beside the least that could read it: `python -m benchmarks.parser`.

Floors of the same run: `str.find` and `json.loads` for a reply with one call, `json.loads` for a call of 5 MB, half of
the reply for one in chunks. Times are of this process alone, in milliseconds, median (min-max).
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median

from benchmarks.machine import machine, spread
from bridge.protocol import ResponseParser, ToolCall, dialects

ROUNDS = 7
NAMES = dialects.names()
PROSE = 'Some prose about <b>tags</b>, {braces} and "quotes", as replies have it; it goes on for a while.\n'
OBJECT = {"id": 7, "name": "item", "tags": ["a", "b"], "size": {"w": 1.5, "h": 2}, "on": True, "note": None}
ADVERSE = (
    "200,000 openers",
    "300,000 spaces",
    "100,000 {",
    "50,000 nested tags",
    "100,000 brackets",
    "6,000 digits",
    '100,000 {"',
)


def milliseconds(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000


def pair(floor: Callable[[], object], work: Callable[[], object]) -> tuple[list[float], list[float]]:
    """Both in turn, so that a slow moment of the machine meets both."""
    times = [(milliseconds(floor), milliseconds(work)) for _ in range(ROUNDS)]
    return [each for each, _ in times], [each for _, each in times]


def row(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def written(name: str, args: dict[str, object]) -> str:
    """A call as a model writes it, without the fence."""
    lines = dialects.get(name).format_call(ToolCall.of("write_file", args)).split("\n")
    return "\n".join(line for line in lines if not line.startswith("````"))


def floor_of(text: str) -> object:
    """Find the JSON, read it: what no parser of it can do without."""
    start = text.find('{"tool"')
    return json.loads(text[start : text.rfind("}") + 1])


def one_call() -> None:
    print("\nA reply of 200 KB with one call, against `str.find` + `json.loads` (goal 1.5):\n")
    row("dialect", "reply", "floor", "parser", "ratio", "goal")
    row(*["---"] * 6)
    half: dict[str, object] = {"path": "a.py", "content": "x = 'line of code'\n" * 10_000}
    kinds: dict[str, tuple[str, dict[str, object]]] = {
        "prose": (PROSE * 2_000, {"path": "a"}),
        "call": ("Here.\n", half),
    }
    for kind, (before, args) in kinds.items():
        floor_text = before.replace("{", "(") + json.dumps({"tool": "write_file", "args": args})
        for name in NAMES:
            text = written(name, args) if name == "assistant_api" and kind == "call" else before + written(name, args)
            verdict(name, kind, *pair(partial(floor_of, floor_text), parsing(name, text)), 1.5)


def parsing(name: str, text: str, size: int = sys.maxsize) -> Callable[[], object]:
    parser = ResponseParser(name)

    def work() -> object:
        stream = parser.stream()
        for at in range(0, len(text), size):
            stream.feed(text[at : at + size])
        return stream.close()

    return work


def verdict(name: str, kind: str, floor: list[float], times: list[float], goal: float) -> None:
    ratio = median(times) / median(floor)
    row(name, kind, spread(floor), spread(times), f"{ratio:.2f}", "met" if ratio <= goal else "missed")


def large_call() -> None:
    print("\nA call of 5 MB, against `json.loads` of its JSON (goal 2):\n")
    row("dialect", "arguments", "floor", "parser", "ratio", "goal")
    row(*["---"] * 6)
    kinds: dict[str, dict[str, object]] = {
        "strings": {"path": "a", "content": 'a line of text, "quoted"\n' * 200_000},
        "objects": {"path": "a", "content": [OBJECT] * 45_000},
    }
    for kind, args in kinds.items():
        floor_text = json.dumps({"tool": "write_file", "args": args})
        for name in NAMES:
            text = written(name, args)
            verdict(name, kind, *pair(partial(json.loads, floor_text), parsing(name, text)), 2)


def in_chunks() -> None:
    print("\n1 MB in chunks: microseconds a character, 0.5 MB and 1 MB (linear: ratio about 1):\n")
    row("dialect", "chunk", "0.5 MB", "1 MB", "ratio", "goal")
    row(*["---"] * 6)
    for size in (1, 4096):
        for name in NAMES:
            small, large = (
                milliseconds(parsing(name, chunked(name, length), size)) * 1000 / length
                for length in (500_000, 1_000_000)
            )
            row(
                name,
                size,
                f"{small:.3f}",
                f"{large:.3f}",
                f"{large / small:.2f}",
                "met" if large < 1.5 * small else "missed",
            )


def chunked(name: str, length: int) -> str:
    half = length // 2
    text = (PROSE * half)[:half] + "\n" + written(name, {"path": "a", "content": "x = 1  # code\n" * (half // 14)})
    return text[:length] if name != "assistant_api" else text[half:]


def opener(name: str) -> str:
    """The beginning of a call, up to where a value of its arguments begins."""
    text = written(name, {"value": "HERE"})
    return text[: text.index("HERE")].removesuffix('"').removesuffix("'")


def adverse(name: str) -> Iterator[str]:
    start = opener(name)
    yield start.split("\n")[0] * 200_000 if name != "tool_call" else "<TOOL_CALL>" * 200_000
    yield start + " " * 300_000
    yield start + "{" * 100_000
    yield '<tool name="a"><arguments>' + '<arg name="a">' * 50_000 + "1" + "</arg>" * 50_000 + "</arguments></tool>"
    yield start + "[" * 100_000 + "]" * 100_000
    yield written(name, {"a": 1234567}).replace("1234567", "9" * 6_000)
    yield '{"' * 100_000


def adversaries() -> None:
    print("\nAdversarial replies, ms (goal: each under 1,000):\n")
    row("dialect", *ADVERSE, "goal")
    row(*["---"] * (len(ADVERSE) + 2))
    for name in NAMES:
        times = [milliseconds(parsing(name, text)) for text in adverse(name)]
        row(name, *(f"{each:.0f}" for each in times), "met" if max(times) < 1000 else "missed")


if __name__ == "__main__":
    print(machine())
    for part in (one_call, large_call, in_chunks, adversaries):
        part()
