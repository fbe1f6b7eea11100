"""What clients get from a running relay: roles, isolation, events exactly once, live text, limits."""

from __future__ import annotations

import asyncio
import json
import socket as sockets
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from bridge.journal import Journal
from bridge.journal.limits import SUBSCRIPTION_QUEUE
from bridge.relay import Announcement, Relay, RelayClient, RelayClosed, RelayError, find_live
from bridge.relay.methods import METHODS
from bridge.relay.tokens import Vault, proof
from tests.relay.harness import FakeService, approval, take, upgrade, viewer
from tests.relay.test_frames import INITIALIZE

EVERYTHING = {"journal_id": "", "seq": 0}


async def test_initialize_tells_who_and_where(client: RelayClient, workspace: Path, service: FakeService) -> None:
    told = client.initialized
    assert (told.version, told.role, told.workspace) == ("1.2.3", "controller", str(workspace))
    assert (told.journal_id, told.seq, told.sessions, told.approvals) == (service.journal.id, 0, [], [])


async def test_every_method_answers(client: RelayClient, service: FakeService, workspace: Path) -> None:
    started = await client.call("task/start", {"task": "Read a file", "site": "demo", "approve": "edits"})
    assert started == {"session": "s1", "task": "t1"}
    assert service.started[0][0] == workspace
    assert service.started[0][1].approve == "edits"
    assert await client.call("task/cancel", {"task": "t1"}) == {"cancelled": True}
    assert await client.call("task/cancel", {"task": "t9"}) == {"cancelled": False}
    (session,) = (await client.call("session/list"))["sessions"]
    assert (session["session"], session["title"], session["state"]) == ("s1", "A task", "idle")
    got = await client.call("session/get", {"session": "s1"})
    assert [event["type"] for event in got["events"]] == ["session.started"]
    assert got["more"] is False
    assert (await client.call("tools/list"))["tools"][0]["name"] == "read_file"
    assert (await client.call("site/list"))["sites"][0]["name"] == "demo"
    assert (await client.call("workspace/open", {"path": str(workspace)}))["workspace"] == str(workspace)


async def test_session_get_pages(client: RelayClient, service: FakeService, workspace: Path) -> None:
    await service.session(workspace, "s1")
    for number in range(5):
        await service.journal.append("usage", session="s1", data={"n": number})
    first = await client.call("session/get", {"session": "s1", "limit": 4})
    assert first["more"] is True
    rest = await client.call("session/get", {"session": "s1", "after": first["events"][-1]["seq"], "limit": 4})
    assert (len(rest["events"]), rest["more"]) == (2, False)


async def test_service_errors_keep_their_meaning(client: RelayClient) -> None:
    with pytest.raises(RelayError, match="no site named nowhere") as caught:
        await client.call("task/start", {"task": "x", "site": "nowhere"})
    assert (caught.value.code, caught.value.exit_code) == (-32003, 2)


async def test_an_approval_is_answered_once(
    bridge: Announcement, client: RelayClient, service: FakeService, workspace: Path
) -> None:
    """FX104, FX107: the first answer wins, whoever gives it."""
    service.pending.append((workspace, approval("a1")))
    yes = {"id": "a1", "digest": "d1", "decision": "approve"}
    async with await RelayClient.connect(bridge, name="second") as second:
        assert second.initialized.approvals[0].tool == "write_file"
        assert await second.call("approval/answer", {**yes, "digest": "d0"}) == {"outcome": "digest_mismatch"}
        assert await client.call("approval/answer", yes) == {"outcome": "accepted"}
        assert await second.call("approval/answer", {**yes, "decision": "deny"}) == {"outcome": "already_answered"}
        assert await client.call("approval/answer", yes) == {"outcome": "already_answered"}
    assert await client.call("approval/answer", {**yes, "id": "a9"}) == {"outcome": "unknown"}
    assert service.answers == {"a1": ("approve", "tests")}


ALLOWED = {
    "discovery": {"initialize", "workspace/open", "shutdown"},
    "viewer": {"initialize", "session/list", "session/get", "tools/list", "site/list"},
    "controller": set(METHODS),
}
PARAMS: dict[str, dict[str, Any]] = {
    "task/start": {"task": "x"},
    "task/cancel": {"task": "x"},
    "approval/answer": {"id": "a", "digest": "d", "decision": "approve"},
    "session/get": {"session": "s1"},
    "inspector/promote": {"viewer": "x"},
}


@pytest.mark.parametrize("role", sorted(ALLOWED))
async def test_roles(role: str, relay: Relay, bridge: Announcement, workspace: Path, tmp_path: Path) -> None:
    if role == "discovery":
        entrance = await find_live(tmp_path / "run")
        assert entrance is not None
        client = await RelayClient.connect(entrance)
    else:
        client = await (RelayClient.connect(bridge) if role == "controller" else viewer(relay, bridge, workspace))
    async with client:
        assert client.initialized.role == role
        for method in sorted(set(METHODS) - {"initialize", "shutdown"}):
            params = {"path": str(workspace)} if method == "workspace/open" else PARAMS.get(method, {})
            try:
                await client.call(method, params)
                code = 0
            except RelayError as error:
                code = error.code
            assert (code == -32001) == (method not in ALLOWED[role]), method
        if role == "viewer":
            with pytest.raises(RelayError, match="viewer may not call shutdown"):
                await client.call("shutdown")


async def test_a_controller_promotes_a_viewer(
    relay: Relay, bridge: Announcement, client: RelayClient, workspace: Path, other: Path
) -> None:
    async with await viewer(relay, bridge, workspace) as watching:
        name = watching.initialized.viewer
        async with await RelayClient.connect(await relay.announcement(other)) as stranger:
            assert await stranger.call("inspector/promote", {"viewer": name}) == {"promoted": False}
        with pytest.raises(RelayError, match="viewer may not"):
            await watching.call("task/start", {"task": "x"})
        assert await client.call("inspector/promote", {"viewer": name}) == {"promoted": True}
        assert (await watching.call("task/start", {"task": "x"}))["task"] == "t1"


async def test_a_viewer_code_opens_once(bridge: Announcement, client: RelayClient, workspace: Path) -> None:
    opened = await client.call("inspector/open", {"session": "s 1"})
    address, _, fragment = opened["url"].partition("#")
    assert address == bridge.url.replace("ws:", "http:")
    code, _, session = fragment.removeprefix("code=").partition("&")
    assert session == "session=s%201"
    async with await RelayClient.connect(replace(bridge, token=code)) as watching:
        assert watching.initialized.viewer == opened["viewer"]
    with pytest.raises(RelayClosed):
        await RelayClient.connect(replace(bridge, token=code))


def test_a_viewer_code_expires() -> None:
    now = [0.0]
    vault = Vault(lambda: now[0])
    early, _ = vault.viewer_code(Path("/w"))
    late, _ = vault.viewer_code(Path("/w"))
    now[0] = 29.9
    assert vault.admit(early.encode()) is not None
    now[0] = 30.0
    assert vault.admit(late.encode()) is None
    assert late not in repr(vault)


async def test_workspaces_never_see_each_other(
    relay: Relay, client: RelayClient, service: FakeService, workspace: Path, other: Path
) -> None:
    """TX085: a token of another workspace opens that one and nothing else."""
    service.pending.append((workspace, approval("a1")))
    await client.call("task/start", {"task": "x"})
    async with await RelayClient.connect(await relay.announcement(other), last=EVERYTHING) as foreign:
        assert (foreign.initialized.sessions, foreign.initialized.approvals) == ([], [])
        assert await foreign.call("session/list") == {"sessions": []}
        assert await foreign.call("task/cancel", {"task": "t1"}) == {"cancelled": False}
        answer = {"id": "a1", "digest": "d1", "decision": "approve"}
        assert await foreign.call("approval/answer", answer) == {"outcome": "unknown"}
        with pytest.raises(RelayError, match="no such session"):
            await foreign.call("session/get", {"session": "s1"})
        with pytest.raises(RelayError, match="another workspace"):
            await foreign.call("workspace/open", {"path": str(workspace)})
        service.say(workspace, "s1", 0, "for the first only")
        await service.journal.append("state", session="s1", data={"state": "done"})
        await service.session(other, "mine")
        seen = [(await anext(aiter(foreign))).params["session"]]
        assert seen == ["mine"]


async def test_a_bad_workspace_is_one_sentence(relay: Relay, tmp_path: Path) -> None:
    entrance = await find_live(tmp_path / "run")
    assert entrance is not None
    async with await RelayClient.connect(entrance) as client:
        for path in (str(tmp_path / "missing"), "relative", "/a\0b"):
            with pytest.raises(RelayError) as caught:
                await client.call("workspace/open", {"path": path})
            assert caught.value.code == -32003


async def test_events_follow_their_answer(client: RelayClient, service: FakeService) -> None:
    started = await client.call("task/start", {"task": "x"})
    (event,) = await take(client, "event", 1)
    assert (event["session"], event["type"], event["seq"]) == (started["session"], "session.started", 1)


@pytest.mark.parametrize("last", [None, "same", "foreign", "ahead"])
async def test_where_events_start(
    last: str | None, bridge: Announcement, service: FakeService, workspace: Path
) -> None:
    await service.session(workspace, "s1")
    for number in range(4):
        await service.journal.append("usage", session="s1", data={"n": number})
    known = {
        None: None,
        "same": {"journal_id": service.journal.id, "seq": 3},
        "foreign": {"journal_id": "another", "seq": 3},
        "ahead": {"journal_id": service.journal.id, "seq": 99},
    }[last]
    async with await RelayClient.connect(bridge, last=known) as client:
        await service.journal.append("usage", session="s1", data={"n": "new"})
        expected = {None: [6], "same": [4, 5, 6]}.get(last, [1, 2, 3, 4, 5, 6])
        events = await take(client, "event", len(expected))
    assert [event["seq"] for event in events] == expected
    assert {event["journal_id"] for event in events} == {service.journal.id}


async def test_every_event_once_through_a_storm_of_reconnects(
    bridge: Announcement, service: FakeService, workspace: Path
) -> None:
    total, seen = 2000, []  # type: tuple[int, list[int]]
    await service.session(workspace, "s1")

    async def write() -> None:
        for start in range(1, total, 50):
            numbers = range(start, min(start + 50, total))
            await asyncio.gather(*(service.journal.append("usage", session="s1", data={"n": n}) for n in numbers))

    writing = asyncio.create_task(write())
    last: dict[str, Any] = EVERYTHING
    async with asyncio.timeout(60):
        while len(seen) < total:
            async with await RelayClient.connect(bridge, last=last) as client:
                for event in await take(client, "event", min(37, total - len(seen))):
                    seen.append(event["seq"])
                    last = {"journal_id": event["journal_id"], "seq": event["seq"]}
    await writing
    assert seen == list(range(1, total + 1))


async def test_live_text_is_coalesced_and_ends_before_the_reply(
    client: RelayClient, service: FakeService, workspace: Path
) -> None:
    await service.session(workspace, "s1")
    for number in range(500):
        service.say(workspace, "s1", number, "x")
    await service.journal.append("reply.done", session="s1", turn=1, data={"text": "x" * 500})
    deltas, text = 0, ""
    async with asyncio.timeout(30):
        async for notification in client:
            if notification.method == "delta":
                deltas += 1
                assert notification.params["offset"] == len(text)
                text += notification.params["text"]
            elif notification.params["type"] == "reply.done":
                break
    assert text == "x" * 500
    assert deltas <= 2


async def test_a_rewrite_replaces_from_its_offset(client: RelayClient, service: FakeService, workspace: Path) -> None:
    service.say(workspace, "s1", 0, "Hello wrld")
    (first,) = await take(client, "delta", 1)
    service.say(workspace, "s1", 7, "orld")
    (second,) = await take(client, "delta", 1)
    assert (first["text"], second["offset"], second["text"]) == ("Hello wrld", 7, "orld")


async def test_a_reconnect_gets_one_snapshot(bridge: Announcement, service: FakeService, workspace: Path) -> None:
    service.say(workspace, "s1", 0, "Hello ")
    service.say(workspace, "s1", 6, "world")
    async with await RelayClient.connect(bridge) as client:
        (delta,) = await take(client, "delta", 1)
    assert (delta["offset"], delta["text"]) == (0, "Hello world")
    await service.session(workspace, "s1")
    await service.journal.append("reply.done", session="s1", turn=1)
    async with await RelayClient.connect(bridge) as client:
        await service.journal.append("usage", session="s1")
        assert (await anext(aiter(client))).method == "event"


async def test_a_reader_that_never_reads_is_cut_off(service: FakeService, workspace: Path) -> None:
    """FX116: its memory is bounded, others are not delayed, and it gets everything when it comes back."""
    await service.session(workspace, "s1")
    async with Relay(service, version="1", send_timeout=0.2) as relay:
        bridge = await relay.announcement(workspace)
        request = upgrade(f"Host: 127.0.0.1:{relay.port}", f"Authorization: Bearer {bridge.token}")
        mute = sockets.socket()
        mute.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
        mute.connect(("127.0.0.1", relay.port))
        mute.sendall(request + masked(json.dumps(INITIALIZE)))
        async with asyncio.timeout(60), await RelayClient.connect(bridge) as client:
            while relay.clients < 2:
                await client.call("session/list")
            while relay.clients == 2:
                await service.journal.append("usage", session="s1", data={"text": "x" * 100_000})
            head = service.journal.head
            assert [event["seq"] for event in await take(client, "event", head - 1)] == list(range(2, head + 1))
        mute.close()
        async with await RelayClient.connect(bridge, last=EVERYTHING) as back:
            assert len(await take(back, "event", head)) == head


def masked(text: str) -> bytes:
    """A client's text frame under a mask of zeros."""
    payload = text.encode("utf-8")
    assert 125 < len(payload) < 65536
    return b"\x81\xfe" + len(payload).to_bytes(2, "big") + bytes(4) + payload


async def test_a_slow_subscriber_holds_a_bounded_queue(service: FakeService, workspace: Path) -> None:
    subscription = service.journal.subscribe()
    count = 5 * SUBSCRIPTION_QUEUE
    await asyncio.gather(*(service.journal.append("usage", session="s", data={"n": n}) for n in range(count)))
    assert len(subscription._queue) <= SUBSCRIPTION_QUEUE
    assert [(await anext(subscription)).seq for _ in range(count)] == list(range(1, count + 1))
    subscription.close()


async def test_shutdown_is_answered_first(relay: Relay, client: RelayClient) -> None:
    assert await client.call("shutdown") == {}
    async with asyncio.timeout(30):
        await relay.wait_shutdown()
    await relay.close()
    with pytest.raises(RelayClosed):
        await client.call("session/list")


async def test_closing_ends_clients_and_takes_the_announcement_back(
    relay: Relay, client: RelayClient, tmp_path: Path
) -> None:
    assert await find_live(tmp_path / "run") is not None
    await relay.close()
    async with asyncio.timeout(30):
        assert [each async for each in client] == []
    assert list((tmp_path / "run").iterdir()) == []
    assert await find_live(tmp_path / "run") is None


def test_the_proof_is_what_the_contract_says() -> None:
    import hashlib
    import hmac

    assert proof("key", "nönce") == hmac.new(b"key", "nönce".encode(), hashlib.sha256).hexdigest()


async def test_a_reader_that_fails_ends_only_its_connection(
    bridge: Announcement, service: FakeService, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bridge.errors import JournalError

    await service.session(workspace, "s1")

    async def broken(self: Journal, *args: object, **options: object) -> list[object]:
        raise JournalError("Cannot read the journal: disk I/O error.")

    monkeypatch.setattr(Journal, "events", broken)
    async with asyncio.timeout(30), await RelayClient.connect(bridge, last=EVERYTHING) as client:
        assert [each async for each in client] == []
        with pytest.raises((RelayClosed, ConnectionClosed)):
            await client.call("session/list")
