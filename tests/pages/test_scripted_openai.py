from __future__ import annotations

import json
from typing import Any

import pytest

from tests.demo.client import Client
from tests.pages.scripted_openai import ScriptedOpenAI

PATH = "/v1/chat/completions"
ASK: dict[str, Any] = {"model": "x", "messages": [{"role": "user", "content": "Read a.txt"}]}


async def test_lists_its_model() -> None:
    async with ScriptedOpenAI() as server, Client(server.url) as client:
        assert (await client.ask("GET", "/v1/models")).json()["data"][0]["id"] == "scripted"
        assert server.base_url == server.url + "v1"


async def test_the_stream_and_the_whole_answer_are_the_same() -> None:
    async with ScriptedOpenAI() as server, Client(server.url) as client:
        whole = (await client.ask("POST", PATH, ASK)).json()["choices"][0]["message"]["content"]
        await client.send("POST", PATH, {**ASK, "stream": True})
        await client.head()
        assert await client.reply() == (whole, True)
        log = (await client.ask("GET", "/log")).json()
    assert '"path": "a.txt"' in whole
    assert [entry["text"] for entry in log] == ["Read a.txt"] * 2
    assert log[0]["received_ns"] < log[0]["replied_ns"] < log[1]["received_ns"] < log[1]["replied_ns"]
    assert [exchange.reply for exchange in server.log] == [whole, whole]


async def test_takes_content_in_parts() -> None:
    parts = [{"type": "text", "text": "Read "}, {"type": "text", "text": "b.txt"}]
    async with ScriptedOpenAI() as server, Client(server.url) as client:
        await client.ask("POST", PATH, {"messages": [{"role": "user", "content": parts}]})
    assert server.log[0].text == "Read b.txt"


async def test_stops_when_the_caller_hangs_up() -> None:
    class Endless:
        def reply(self, messages: object) -> str:
            return "x" * 50_000_000

    async with ScriptedOpenAI(model=Endless()) as server:
        async with Client(server.url) as client:
            await client.send("POST", PATH, {**ASK, "stream": True})
            assert json.loads(str((await client.head(), await client.event())[1]))["choices"]
        async with Client(server.url) as client:
            while not server.log[0].stopped:
                await client.ask("GET", "/v1/models")
    assert len(server.log[0].reply) < 50_000_000


@pytest.mark.parametrize("body", [{}, {"messages": []}, {"messages": "hi"}])
async def test_refuses_what_is_no_conversation(body: dict[str, Any]) -> None:
    async with ScriptedOpenAI() as server, Client(server.url) as client:
        assert (await client.ask("POST", PATH, body)).status == 400
    assert server.log == []
