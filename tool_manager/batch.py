"""Which calls of a batch must wait for which (X5): start in order, serialise what touches the same thing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from tool_manager.limits import KEY_CHARS, KEY_DEPTH
from tool_manager.plan import Prepared


@dataclass(frozen=True, slots=True)
class _Keys:
    """Resources, and the trees that hold one of them; in one case of letters, as some file systems see them."""

    own: frozenset[str]
    above: frozenset[str]

    @classmethod
    def of(cls, resources: Iterable[str]) -> Self:
        own, above = set[str](), set[str]()
        for resource in resources:
            key = resource.casefold()
            kind, _, path = key.partition(":")
            if kind not in {"tree", "file"}:
                own.add(key)
                continue
            parts = path[:KEY_CHARS].split("/", KEY_DEPTH)
            if len(parts) > KEY_DEPTH:  # what lies deeper is taken for the whole tree
                kind, parts = "tree", parts[:KEY_DEPTH]
            own.add(f"{kind}:{'/'.join(parts)}")
            above |= {"tree:.", *(f"tree:{'/'.join(parts[: depth + 1])}" for depth in range(len(parts)))}
        return cls(frozenset(own), frozenset(above))

    def overlap(self, other: _Keys) -> bool:
        """Whether a resource is in both, or in a tree of the other's."""
        apart = self.own.isdisjoint(other.own) and self.own.isdisjoint(other.above) and self.above.isdisjoint(other.own)
        return not apart


@dataclass(frozen=True, slots=True)
class _Call:
    """What of a prepared call decides on its place."""

    reads: bool
    commands: bool
    unsure: bool
    resources: _Keys
    named: _Keys


def predecessors(batch: Sequence[Prepared]) -> list[list[int]]:
    """For each call the earlier ones that it must wait for, without those that one of these waits for already."""
    calls = [_call(each) for each in batch]
    waits: list[list[int]] = []
    before: list[int] = []  # for each call all that end before it begins, one bit each
    changers: list[int] = []
    for at, call in enumerate(calls):
        only_reads = call.reads and not call.unsure
        found, covered = list[int](), 0
        # Reads never wait for reads, and a batch may hold a thousand of them.
        for earlier in reversed(changers if only_reads else range(at)):
            if not covered >> earlier & 1 and _conflict(calls[earlier], call):
                found.append(earlier)
                covered |= before[earlier] | 1 << earlier
        waits.append(found[::-1])
        before.append(covered)
        changers += [] if only_reads else [at]
    return waits


def _call(call: Prepared) -> _Call:
    resources, named = _Keys.of(call.resources), _Keys.of(call.named)
    return _Call(call.effect == "read", call.effect == "command", call.unsure, resources, named)


def _conflict(one: _Call, other: _Call) -> bool:
    if one.commands or other.commands:
        return True  # a command may touch anything
    if one.reads and other.reads:
        return (one.unsure or other.unsure) and one.named.overlap(other.named)
    return one.resources.overlap(other.resources)
