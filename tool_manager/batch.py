"""Which calls of a batch must wait for which (X5): start in order, serialise what touches the same thing."""

from __future__ import annotations

from collections.abc import Sequence

from tool_manager.plan import Prepared


def predecessors(batch: Sequence[Prepared]) -> list[list[int]]:
    """For each call the earlier ones that it must wait for."""
    waits: list[list[int]] = []
    changers: list[int] = []
    for at, call in enumerate(batch):
        reads = call.effect == "read"
        # Reads never wait for reads, and a batch may hold a thousand of them.
        waits.append([earlier for earlier in (changers if reads else range(at)) if _conflict(batch[earlier], call)])
        changers += [] if reads else [at]
    return waits


def _conflict(one: Prepared, other: Prepared) -> bool:
    if "command" in {one.effect, other.effect}:
        return True  # a command may touch anything
    return any(overlap(mine, theirs) for mine in one.resources for theirs in other.resources)


def overlap(one: str, other: str) -> bool:
    """Equal keys, or a `tree:` that holds the other's path; in any case of letters, as some file systems see it."""
    one, other = one.casefold(), other.casefold()
    return one == other or _holds(one, other) or _holds(other, one)


def _holds(tree: str, key: str) -> bool:
    kind, _, top = tree.partition(":")
    other, _, path = key.partition(":")
    if kind != "tree" or other not in {"tree", "file"}:
        return False
    return top == "." or path == top or path.startswith(top + "/")
