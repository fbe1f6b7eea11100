"""Which plan a task asks for."""

from __future__ import annotations

import re
from collections.abc import Callable

from bridge.demo import plans
from bridge.demo.plans import Plan

FILE = r"[`'\"]?(?P<path>[^\s`'\"]*[^\s`'\".,;:!?])[`'\"]?"
OLD, NEW = (rf"[`'\"]?(?P<{name}>[^\s`'\"]+?)[`'\"]?" for name in ("old", "new"))
PLACE = rf"(?: (?:in|of|across) (?:the (?:project|workspace)|all files|{FILE}))?"
USES = r"(?: all| every| each)?(?: the)?(?: uses?)?(?: of)?"
ASK = r",? (?:and|then) (?:tell|give|report|say|show)(?: me| us)?"

TASKS: dict[str, Callable[[re.Match[str]], Plan]] = {
    rf"^bench: read {FILE} (?P<times>\d{{1,6}}) times?": lambda m: plans.bench(m["path"], int(m["times"])),
    rf"\bread {FILE}{ASK} how many lines\b": lambda m: plans.count_lines(m["path"]),
    rf"\bread {FILE}{ASK} (?:the |its |what the )?(?P<field>[\w-]+)": lambda m: plans.read_field(m["path"], m["field"]),
    r"\b(?:find|list|count)(?: all| every)?(?: the)? (?P<kind>\S+) files?\b": lambda m: plans.find_files(m["kind"]),
    rf"\b(?:replace|rename|change){USES} {OLD} (?:by|with|to) {NEW}{PLACE}[.!]?$": (
        lambda m: plans.rename(m["old"], m["new"], m["path"])
    ),
    rf"\bfix (?:.* in )?{FILE}[.!]?$": lambda m: plans.fix(m["path"]),
    rf"\b(?:create|write) {FILE} with(?: the)?(?: text| content)?:? (?P<text>.+)": lambda m: plans.create(
        m["path"], m["text"]
    ),
    rf"\b(?:read|show|open)(?: me)? {FILE}[.!]?$": lambda m: plans.show(m["path"]),
}
"""A pattern for each kind of task, tried in order, and the plan that it asks for."""


def choose(task: str) -> Plan | None:
    """The plan for a task, or `None` when there is none."""
    for pattern, plan in TASKS.items():
        if found := re.search(pattern, task, re.I):
            return plan(found)
    return None
