"""A bridge that is killed leaves a journal that tells the truth, and no half of anything; the next one ends it."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bridge.agent import Bridge
from bridge.journal import Journal, JournalReader

ROOT = Path(__file__).parents[2]

KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from bridge.agent import LLMManager
from bridge.journal import Journal
from tests.agent.scripted import ScriptedChat, call

async def main(folder, moment):
    def die():
        os.kill(os.getpid(), signal.SIGKILL)

    class Chat(ScriptedChat):
        async def send(self, text):
            if moment == "send" and self.typed:
                die()
            return await super().send(text)

    async def before(called, next_):
        if moment == "before":
            die()
        result = await next_(called)
        if moment == "after":
            die()
        return result

    journal = Journal.open(folder / "journal" / "journal.db")
    chat = Chat([call("write_file", path="new.txt", content="hello" * 1000)])
    async with LLMManager(folder / "ws", chat=chat, journal=journal, approve="edits") as llm:
        llm.tools.use(before)
        await llm.call("Write it")

asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
"""


@pytest.mark.parametrize(
    ("moment", "written", "last"),
    [("before", False, "call.started"), ("after", True, None), ("send", True, "state")],
)
def test_killed_in_the_middle_of_a_write(tmp_path: Path, moment: str, written: bool, last: str | None) -> None:
    (tmp_path / "ws").mkdir()
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), moment], cwd=ROOT, timeout=120, check=False)
    assert killed.returncode == -signal.SIGKILL
    with JournalReader(tmp_path / "journal" / "journal.db") as reader:
        events = reader.events(limit=100)
    types = [event.type for event in events]
    assert "call.started" in types
    assert last in (None, types[-1])
    content = "hello" * 1000
    assert [path.name for path in (tmp_path / "ws").iterdir()] == (["new.txt"] if written else [])
    assert not written or (tmp_path / "ws" / "new.txt").read_text(encoding="utf-8") == content
    assert not [type for type in types if type.startswith("session.task_") and type != "session.task_started"]
    asyncio.run(_settled(tmp_path, moment, len(events)))


async def _settled(folder: Path, moment: str, seq: int) -> None:
    journal = Journal.open(folder / "journal" / "journal.db")
    bridge = Bridge(journal)
    await bridge.start()
    more = await journal.events(after=seq)
    [row] = await journal.sessions()
    assert (row.state, more[-1].type, more[-1].data["kind"]) == ("failed", "session.task_failed", "Interrupted")
    settled = [event.data["settled"] for event in more if event.type == "call.done"]
    assert settled == {"before": ["not_done"], "after": ["done"], "send": []}[moment]
    unsure = [event.data["code"] for event in more if event.type == "diagnostic"]
    assert unsure == (["delivery_unknown"] if moment == "send" else [])
    await bridge.close()
    await journal.close()
