from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence

import pytest

from bridge.demo import DemoServer, Faults
from bridge.demo.limits import MAX_BODY_BYTES, MAX_CONVERSATIONS, MAX_HEADER_BYTES
from tests.demo.client import Client

CALL = "I'll look.\n\n````json\n<TOOL_CALL>\n{}\n</TOOL_CALL>\n````"


class Echo:
    """Replies with what it was told, so that a test sees what the model saw."""

    def reply(self, messages: Sequence[Mapping[str, str]]) -> str:
        return json.dumps([message["content"] for message in messages], ensure_ascii=False)


class Fixed:
    def __init__(self, text: str = CALL) -> None:
        self.text = text

    def reply(self, messages: Sequence[Mapping[str, str]]) -> str:
        return self.text


@pytest.mark.parametrize("text", ["hello", "two\nlines\n", " \ttab\u00a0nb\u2028 é😀 ", "</TOOL_CALL>\r\ndata: x\n\n"])
async def test_streams_the_reply_and_keeps_both_texts_exactly(text: str) -> None:
    async with DemoServer(model=Echo(), delay=0) as server, Client(server.url) as client:
        await client.message("c1", text)
        assert await client.reply() == (json.dumps([text], ensure_ascii=False), True)
        await client.message("c1", "again")
        assert json.loads((await client.reply())[0])[0] == text
        kept = (await client.ask("GET", "/api/conversations/c1")).json()["messages"]
    assert [message["role"] for message in kept] == ["user", "assistant"] * 2
    assert kept[0] == {"id": "m", "role": "user", "content": text}
    assert server.log[0].text == text and server.log[0].ended == "done"


async def test_the_first_event_names_the_message_and_every_chunk_carries_it() -> None:
    async with DemoServer(model=Fixed("x" * 50), delay=0) as server, Client(server.url) as client:
        await client.message("c1", "hi")
        chunks = [json.loads(str(await client.event())) for _ in range(4)]
        kept = (await client.reply(), (await client.ask("GET", "/api/conversations/c1")).json()["messages"][1])
    assert [chunk["choices"][0]["delta"]["content"] for chunk in chunks] == ["", "x" * 20, "x" * 20, "x" * 10]
    assert {chunk["id"] for chunk in chunks} == {kept[1]["id"]}


async def test_notes_the_last_byte_out_and_the_first_byte_in() -> None:
    async with DemoServer(model=Fixed(), delay=0) as server, Client(server.url) as client:
        before = time.monotonic_ns()
        await client.message("c1", "one")
        await client.reply()
        await client.message("c1", "two")
        await client.reply()
        after = time.monotonic_ns()
    one, two = server.log
    assert before < one.received_ns < one.replied_ns < two.received_ns < two.replied_ns < after


async def test_lists_conversations_newest_first_with_the_task_as_title() -> None:
    async with DemoServer(model=Fixed(), delay=0) as server, Client(server.url) as client:
        for chat, text in (("a", "You are…\nrules\n\nTASK: Read a.txt"), ("b", "word " * 30)):
            await client.message(chat, text)
            await client.reply()
        listed = (await client.ask("GET", "/api/conversations")).json()["conversations"]
    assert listed[1] == {"id": "a", "title": "Read a.txt"}
    assert listed[0]["id"] == "b" and len(listed[0]["title"]) == 60


async def test_forgets_the_oldest_conversation_when_there_are_too_many() -> None:
    async with DemoServer(model=Fixed("x"), delay=0) as server, Client(server.url) as client:
        for number in range(MAX_CONVERSATIONS + 1):
            await client.message(f"c{number}", "hi")
            await client.reply()
        assert (await client.ask("GET", f"/api/conversations/c{MAX_CONVERSATIONS}")).status == 200
        assert (await client.ask("GET", "/api/conversations/c0")).status == 404


async def test_stops_when_the_browser_lets_go_and_takes_the_next_message() -> None:
    async with DemoServer(model=Fixed(), delay=0, faults=Faults("endless", count=1)) as server:
        async with Client(server.url) as client:
            await client.message("c1", "go on for ever")
            await client.event()
        async with Client(server.url) as client:
            await client.message("c1", "next")
            assert await client.reply() == (CALL, True)
            kept = (await client.ask("GET", "/api/conversations/c1")).json()["messages"]
    assert [exchange.ended for exchange in server.log] == ["stopped", "done"]
    assert kept[1]["content"] == server.log[0].reply


async def test_refuses_a_second_message_while_it_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.demo.server.BUSY_WAIT_S", 0.01)
    async with DemoServer(model=Fixed(), delay=0, faults=Faults("endless")) as server, Client(server.url) as first:
        await first.message("c1", "one")
        async with Client(server.url) as second:
            answer = await second.ask("POST", "/api/conversations/c1/messages", {"id": "m", "content": "two"})
    assert answer.status == 409
    assert [exchange.text for exchange in server.log] == ["one"]


@pytest.mark.parametrize("done", [True, False])
async def test_truncates_before_the_closing_tag(done: bool) -> None:
    faults = Faults("truncated", done=done)
    async with DemoServer(model=Fixed(), delay=0, faults=faults) as server, Client(server.url) as client:
        await client.message("c1", "hi")
        assert await client.reply() == (CALL.partition("</TOOL_CALL>")[0], done)
    assert server.log[0].ended == "truncated"


async def test_replies_with_nothing() -> None:
    async with DemoServer(model=Fixed(), delay=0, faults=Faults("empty")) as server, Client(server.url) as client:
        await client.message("c1", "hi")
        assert await client.reply() == ("", True)


async def test_drops_the_connection_in_mid_reply() -> None:
    async with DemoServer(model=Fixed(), delay=0, faults=Faults("drop")) as server, Client(server.url) as client:
        await client.message("c1", "hi")
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await client.reply()
    assert server.log[0].ended == "dropped"
    assert CALL.startswith(server.log[0].reply) and server.log[0].reply != CALL


def test_faults_hit_only_the_replies_they_name() -> None:
    assert [Faults("empty", first=1, count=2).hit(number) for number in range(4)] == ["none", "empty", "empty", "none"]
    assert Faults("drop", first=2).hit(99) == "drop"
    assert Faults().hit(0) == "none"


async def test_serves_a_page_that_can_load_nothing_from_elsewhere() -> None:
    async with DemoServer() as server, Client(server.url) as client:
        for path in ("/", "/c/some-chat"):
            page = await client.ask("GET", path)
            assert page.status == 200 and b"no AI is running here" in page.body
            assert page.headers["content-security-policy"].startswith("default-src 'none'")
            assert b"http://" not in page.body and b"https://" not in page.body
        script = await client.ask("GET", "/app.js")
        assert script.headers["content-type"] == "text/javascript"
        assert b"innerHTML" not in script.body


@pytest.mark.parametrize("page", ["login", "no_composer"])
async def test_serves_a_page_without_composer(page: str) -> None:
    faults = Faults(page="login" if page == "login" else "no_composer")
    async with DemoServer(faults=faults) as server, Client(server.url) as client:
        body = (await client.ask("GET", "/")).body
    assert b'role="textbox"' not in body
    assert (b'type="password"' in body) == (page == "login")


@pytest.mark.parametrize(
    "path",
    ["/nothing", "/../server.py", "/%2e%2e/server.py", "/c/..", "//etc/passwd", "/api/conversations/no", "/c/"],
)
async def test_serves_nothing_else(path: str) -> None:
    async with DemoServer() as server, Client(server.url) as client:
        assert (await client.ask("GET", path)).status == 404


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", ""])
async def test_refuses_a_foreign_host(host: str) -> None:
    async with DemoServer() as server, Client(server.url) as client:
        assert (await client.ask("GET", "/", Host=host)).status == 421


async def test_answers_to_localhost() -> None:
    async with DemoServer() as server, Client(server.url) as client:
        port = server.url.rstrip("/").rpartition(":")[2]
        assert (await client.ask("GET", "/", Host=f"localhost:{port}")).status == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
async def test_refuses_a_foreign_origin(origin: str) -> None:
    async with DemoServer(model=Fixed()) as server, Client(server.url) as client:
        body = {"id": "m", "content": "hi"}
        answer = await client.ask("POST", "/api/conversations/c1/messages", body, Origin=origin)
    assert answer.status == 403 and server.log == []


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        ({"id": "m", "content": "hi"}, {"Content_Type": "text/plain"}, 415),
        ([], {}, 400),
        ({"id": "m"}, {}, 400),
        ({"id": "m", "content": ""}, {}, 400),
        ({"id": 1, "content": "hi"}, {}, 400),
        (None, {"Content_Length": "-1"}, 400),
        (None, {"Content_Length": "٣"}, 400),
        (None, {"Content_Length": str(MAX_BODY_BYTES + 1)}, 413),
        (None, {"Transfer_Encoding": "chunked"}, 400),
        (None, {"X": "y" * MAX_HEADER_BYTES}, 431),
    ],
)
async def test_refuses_bad_requests_with_one_sentence(body: object, headers: dict[str, str], status: int) -> None:
    async with DemoServer(model=Fixed()) as server, Client(server.url) as client:
        answer = await client.ask("POST", "/api/conversations/c1/messages", body, **headers)
    assert answer.status == status and answer.json()["error"]
    assert server.log == []


async def test_refuses_what_is_not_http_and_other_methods() -> None:
    async with DemoServer() as server:
        async with Client(server.url) as client:
            assert (await client.ask("DELETE", "/")).status == 405
        async with Client(server.url) as client:
            client.writer.write(b"hello\r\n\r\n")
            assert (await client.head())[0] == 400


async def test_ends_with_connections_open() -> None:
    async with asyncio.timeout(30):
        async with DemoServer(model=Fixed(), delay=3600) as server:
            client = await Client(server.url).__aenter__()
            await client.message("c1", "hi")
        assert await client.reader.read() is not None
        client.writer.close()


async def test_a_taken_port_is_an_error() -> None:
    async with DemoServer() as server:
        port = int(server.url.rstrip("/").rpartition(":")[2])
        with pytest.raises(OSError):
            async with DemoServer(port):
                raise AssertionError("two servers on one port")
