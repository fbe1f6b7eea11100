"""Broken and hostile messages: one error each, and the connection stays open."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from bridge.relay import Announcement
from bridge.relay.frames import decode, encode, parse_params, parse_request
from bridge.relay.limits import MAX_FRAME
from tests.relay.harness import FakeService
from tests.relay.test_handshake import ATTACKS

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"client": {"name": "raw", "version": "1"}, "capabilities": {}, "nonce": "n" * 16},
}


@pytest.fixture
async def socket(bridge: Announcement) -> AsyncIterator[ClientConnection]:
    headers = {"Authorization": f"Bearer {bridge.token}"}
    async with asyncio.timeout(60), connect(bridge.url, additional_headers=headers, proxy=None) as socket:
        yield socket


async def exchange(socket: ClientConnection, frame: str | bytes) -> dict[str, Any]:
    await socket.send(frame)
    answer = json.loads(await socket.recv())
    assert isinstance(answer, dict)
    assert answer["jsonrpc"] == "2.0"
    return answer


def sampled() -> list[Any]:
    cases = [json.loads(line) for line in ATTACKS.read_text(encoding="utf-8").splitlines()]
    kept = [case for case in cases if case["kind"] == "frame" and case["expect"] == "error_keep_open"]
    return [pytest.param(case["input"] * case.get("repeat", 1), id=case["id"]) for case in kept]


@pytest.mark.parametrize("frame", sampled())
async def test_sampled_frames(frame: str, socket: ClientConnection) -> None:
    assert (await exchange(socket, frame))["error"]["code"] in (-32700, -32600)
    assert "result" in await exchange(socket, json.dumps(INITIALIZE))


def request(method: object = "session/list", params: object = None, **more: object) -> str:
    body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {} if params is None else params, **more}
    return json.dumps({key: value for key, value in body.items() if value is not ...})


@pytest.mark.parametrize(
    ("frame", "code", "identifier"),
    [
        ("", -32700, None),
        ("{", -32700, None),
        ("NaN", -32700, None),
        ('{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":Infinity}}', -32700, None),
        ('{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":-1e999}}', -32700, None),
        ("[" * 100_000, -32700, None),
        ('{"a":' * 100_000, -32700, None),
        ("[" * 900 + "]" * 900, -32600, None),
        ("null", -32600, None),
        ("true", -32600, None),
        ("1", -32600, None),
        ("1.5", -32600, None),
        ('"text"', -32600, None),
        ("[]", -32600, None),
        (f"[{request()}]", -32600, None),
        ("{}", -32600, None),
        (b"\x00\x01", -32600, None),
        (b"{}", -32600, None),
        (request(jsonrpc="1.0"), -32600, 7),
        (request(jsonrpc=2.0), -32600, 7),
        (request(method=1), -32600, 7),
        (request(method=None), -32600, 7),
        (request(id=...), -32600, None),
        (request(id=None), -32600, None),
        (request(id=True), -32600, None),
        (request(id=1.0), -32600, None),
        (request(id=[1]), -32600, None),
        (request(id=2**80), -32600, None),
        (request(id="x" * 1000), -32600, None),
        (request(method="no/such"), -32601, 7),
        (request(method="__class__"), -32601, 7),
        (request(params=[]), -32602, 7),
        (request(params="x"), -32602, 7),
        (request(params={"extra": 1}), -32602, 7),
        (request(method="task/start"), -32602, 7),
        (request(method="task/start", params={"task": 1}), -32602, 7),
        (request(method="task/start", params={"task": ""}), -32602, 7),
        (request(method="task/start", params={"task": "\ud800"}), -32602, 7),
        (request(method="task/start", params={"task": "x", "new_chat": 1}), -32602, 7),
        (request(method="task/start", params={"task": "x", "approve": "always"}), -32602, 7),
        (request(method="approval/answer", params={"id": "a", "digest": "d", "decision": "maybe"}), -32602, 7),
        (request(method="session/get", params={"session": "s", "after": -1}), -32602, 7),
        (request(method="session/get", params={"session": "s", "limit": 10**9}), -32602, 7),
        (request(method="initialize", params={"client": {"name": "x", "version": "1"}, "nonce": "short"}), -32602, 7),
        (request(id="\ud800"), -32002, "\ud800"),
        (request(), -32002, 7),
    ],
)
async def test_bad_frames(frame: str | bytes, code: int, identifier: object, socket: ClientConnection) -> None:
    answer = await exchange(socket, frame)
    assert (answer["error"]["code"], answer["id"]) == (code, identifier)
    assert answer["error"]["message"].endswith(".")
    assert "result" in await exchange(socket, json.dumps(INITIALIZE))


async def test_errors_repeat_no_input(socket: ClientConnection) -> None:
    answer = await exchange(socket, request(method="task/start", params={"task": ["hunter2"]}))
    assert "hunter2" not in json.dumps(answer)
    assert "hunter2" not in json.dumps(await exchange(socket, request(method="hunter2")))


async def test_a_fault_inside_is_one_sentence(socket: ClientConnection, caplog: pytest.LogCaptureFixture) -> None:
    await exchange(socket, json.dumps(INITIALIZE))
    answer = await exchange(socket, request(method="task/start", params={"task": "explode"}))
    assert answer["error"]["code"] == -32603
    assert "secret detail" not in json.dumps(answer)
    assert "secret detail" in caplog.text


async def test_a_frame_beyond_the_bound_ends_the_connection(socket: ClientConnection) -> None:
    await socket.send("x" * (MAX_FRAME + 1))
    await socket.wait_closed()
    assert socket.close_code == 1009


async def test_initialize_twice_is_refused(socket: ClientConnection) -> None:
    await exchange(socket, json.dumps(INITIALIZE))
    assert (await exchange(socket, json.dumps(INITIALIZE)))["error"]["code"] == -32600


async def test_ten_thousand_frames(socket: ClientConnection, service: FakeService) -> None:
    """FX115: every frame is answered, in order, no faster than the client reads."""
    await exchange(socket, json.dumps(INITIALIZE))

    async def flood() -> None:
        for number in range(10_000):
            await socket.send(request(id=number))

    sending = asyncio.create_task(flood())
    for number in range(10_000):
        assert json.loads(await socket.recv())["id"] == number
    await sending


@pytest.mark.requirement("T17")
def test_encoding_survives_anything_a_record_holds() -> None:
    assert json.loads(encode({"a": "\ud800\u2028"})) == {"a": "\ud800\u2028"}


def test_parts_of_a_request() -> None:
    parsed = parse_request(decode(request(method="task/cancel", params={"task": "t1"})))
    assert parse_params(parsed).model_dump() == {"task": "t1"}
