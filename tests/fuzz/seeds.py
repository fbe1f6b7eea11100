"""What the fuzzer starts from: the replies of the cases, and a dictionary of every dialect's syntax."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

DATA = Path(__file__).parents[1] / "protocol" / "data"
NAMES = {
    "toolcall": "tool_call",
    "autobyteus-openai": "openai_json",
    "autobyteus-gemini": "gemini_json",
    "autobyteus-default": "default_json",
    "autobyteus-xml": "autobyteus_xml",
    "autobyteus-provider": "openai_json",
    "assistant-api": "assistant_api",
    "yaml": "yaml_style",
    "funcall": "function_style",
    "xml-arg": "xml_style",
    "forge-xml": "forge",
}
LONGEST = 2_000
"""Characters of a seed: the fuzzer mutates short replies better, and far more often."""


def replies() -> Iterator[tuple[str, str]]:
    """Dialect and reply of each case."""
    for file in ("sample_cases.jsonl", "own_cases.jsonl"):
        for line in (DATA / file).read_text("utf-8").splitlines():
            case = json.loads(line)
            if len(case["reply"]) <= LONGEST:
                yield NAMES.get(case["dialect"], case["dialect"]), case["reply"]


def dictionary() -> str:
    """The syntax of all dialects in libFuzzer's form: `python -m tests.fuzz.seeds > FILE`, then `-dict=FILE`."""
    from tests.protocol.fragments import FRAGMENTS

    tokens = (fragment.encode("utf-8", "surrogatepass") for fragment in FRAGMENTS)
    return "".join('"' + "".join(f"\\x{byte:02x}" for byte in token) + '"\n' for token in tokens)


if __name__ == "__main__":
    print(dictionary(), end="")
