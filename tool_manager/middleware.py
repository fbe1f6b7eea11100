"""The onion around every call (T38): the first one registered is outermost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from tool_manager.models import ToolCall, ToolResult

Core = Callable[[ToolCall], Awaitable[ToolResult]]


class Next(Protocol):
    """`await next()` goes on with the same call, `await next(other)` with another one."""

    def __call__(self, call: ToolCall | None = None, /) -> Awaitable[ToolResult]: ...


Middleware = Callable[[ToolCall, Next], Awaitable[ToolResult]]
"""`async def middleware(call, next) -> ToolResult`: may time, observe, change the call, or answer without `next`.

What it changes is validated, judged by policy and approved again: it cannot smuggle arguments past a yes.
"""


async def run_onion(layers: Sequence[Middleware], core: Core, call: ToolCall) -> ToolResult:
    """`core(call)` inside `layers`; what a layer raises is seen by the layers around it."""
    if not layers:
        return await core(call)

    def inner(other: ToolCall | None = None, /) -> Awaitable[ToolResult]:
        return run_onion(layers[1:], core, call if other is None else other)

    return await layers[0](call, inner)
