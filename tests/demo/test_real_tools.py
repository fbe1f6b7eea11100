"""The scripted model with the real tools on the real sample: only the browser is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bridge.demo import CONVERSATIONS, Demo, ScriptedModel, copy_sample
from tests.demo.executor import CALL, result
from tests.demo.test_sample import Event
from tool_manager import ToolCall, ToolManager


@pytest.mark.parametrize("demo", CONVERSATIONS, ids=lambda demo: demo.task)
async def test_the_conversation_really_happens(demo: Demo, tmp_path: Path) -> None:
    folder = copy_sample(tmp_path / "sample")
    tools = ToolManager(folder, approve="edits" if demo.approve == "edits" else "none")
    messages, events = [{"role": "user", "content": f"…\n\nTASK: {demo.task}"}], list[Event]()
    while found := CALL.search(reply := ScriptedModel().reply(messages)):
        wish = json.loads(found[1])
        call = ToolCall(str(len(messages)), wish["tool"], wish["args"])
        events.append(Event("call.parsed", call.id, wish))
        got = await tools.execute(call)
        events.append(Event("call.done", call.id, {"success": got.success}))
        value = {"success": got.success, "data": got.data, "error": got.error}
        messages += [{"role": "assistant", "content": reply}, {"role": "user", "content": result(value)}]
    await tools.aclose()
    assert demo.check(folder, events, reply) is None
