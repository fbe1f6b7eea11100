"""A fake service, and sockets that send exactly the bytes they are told to."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from bridge.errors import UsageError
from bridge.journal import Journal
from bridge.relay import (
    Announcement,
    AnswerOutcome,
    ApprovalDecision,
    Ephemeral,
    EphemeralHandler,
    PendingApproval,
    Relay,
    RelayClient,
    TaskRequest,
    TaskStarted,
)
from tool_manager.models import ToolSpec

KEY = base64.b64encode(bytes(16)).decode("ascii")


class FakeService:
    """Records what it is asked; a task is two events, an approval is whatever a test put in `pending`."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.started: list[tuple[Path, TaskRequest]] = []
        self.answers: dict[str, tuple[ApprovalDecision, str]] = {}
        self.pending: list[tuple[Path, PendingApproval]] = []
        self.handlers: list[EphemeralHandler] = []

    @property
    def journal(self) -> Journal:
        return self._journal

    async def open_workspace(self, path: Path) -> Path:
        real = path.resolve()  # noqa: ASYNC240
        if not real.is_dir():
            raise UsageError(f"The workspace {path} is not a directory.")
        return real

    async def start_task(self, workspace: Path, request: TaskRequest) -> TaskStarted:
        if request.site == "nowhere":
            raise UsageError("There is no site named nowhere.")
        if request.task == "explode":
            raise RuntimeError("secret detail")
        number = len(self.started) + 1
        self.started.append((workspace, request))
        await self.session(workspace, f"s{number}")
        return TaskStarted(f"s{number}", f"t{number}")

    async def cancel_task(self, workspace: Path, task: str) -> bool:
        return any(place == workspace and task == f"t{n}" for n, (place, _) in enumerate(self.started, 1))

    async def answer_approval(
        self, workspace: Path, approval: str, digest: str, decision: ApprovalDecision, reason: str | None, by: str
    ) -> AnswerOutcome:
        found = [each for place, each in self.pending if place == workspace and each.id == approval]
        if not found:
            return "unknown"
        if approval in self.answers:
            return "already_answered"
        if found[0].digest != digest:
            return "digest_mismatch"
        self.answers[approval] = (decision, by)
        return "accepted"

    def pending_approvals(self, workspace: Path) -> list[PendingApproval]:
        return [each for place, each in self.pending if place == workspace and each.id not in self.answers]

    def tools(self, workspace: Path) -> list[ToolSpec]:
        return [ToolSpec("read_file", "Read a file")]

    def sites(self) -> list[dict[str, Any]]:
        return [{"name": "demo", "title": "Demo", "url": "http://127.0.0.1/"}]

    def on_ephemeral(self, handler: EphemeralHandler) -> Callable[[], None]:
        self.handlers.append(handler)
        return lambda: self.handlers.remove(handler)

    async def session(self, workspace: Path, session: str) -> None:
        data = {"workspace": str(workspace), "site": "demo", "title": "A task"}
        await self._journal.append("session.started", session=session, data=data)

    def say(self, workspace: Path, session: str, offset: int, text: str, turn: int = 1) -> None:
        for handler in [*self.handlers]:
            handler(Ephemeral(workspace, session, "t1", turn, "reply.delta", offset, text))


def approval(identifier: str, digest: str = "d1") -> PendingApproval:
    call = ("call_1", "write_file", {"path": "a"}, "+x")
    return PendingApproval(identifier, "s1", "t1", *call, "writes ask", "why", digest)


async def viewer(relay: Relay, bridge: Announcement, workspace: Path) -> RelayClient:
    """A viewer that came with a one-time code."""
    url = await relay.inspector_url(workspace)
    return await RelayClient.connect(replace(bridge, token=url.partition("#code=")[2]))


async def take(client: RelayClient, method: str, count: int) -> list[dict[str, Any]]:
    """The params of the next `count` notifications named `method`."""
    found: list[dict[str, Any]] = []
    async with asyncio.timeout(30):
        async for notification in client:
            if notification.method == method:
                found.append(notification.params)
            if len(found) == count:
                return found
    raise AssertionError(f"the connection ended after {len(found)} of {count}")


async def raw(port: int, request: bytes) -> tuple[int, bytes]:
    """Send exactly `request`; the status (0 when the connection just ended) and everything that was answered."""
    async with asyncio.timeout(30):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(request)
            head = b""
            while b"\r\n\r\n" not in head and (more := await reader.read(65536)):
                head += more
            status = int(head.split(b" ", 2)[1]) if head.startswith(b"HTTP/1.1 ") else 0
            if status != 101:
                head += await reader.read()
            return status, head
        except ConnectionResetError:
            return 0, b""
        finally:
            writer.close()


def upgrade(*lines: str | bytes, target: str = "/", protocol: str = "HTTP/1.1") -> bytes:
    """A websocket handshake with these header lines and nothing else that a check looks at."""
    fixed = ["Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {KEY}", "Sec-WebSocket-Version: 13"]
    return _request(f"GET {target} {protocol}", [*lines, *fixed])


def plain(*lines: str | bytes, target: str = "/", method: str = "GET") -> bytes:
    return _request(f"{method} {target} HTTP/1.1", lines)


def _request(first: str, lines: Iterable[str | bytes]) -> bytes:
    encoded = [line if isinstance(line, bytes) else line.encode("utf-8") for line in (first, *lines)]
    return b"\r\n".join(encoded) + b"\r\n\r\n"
