from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import typer
from typer.testing import CliRunner

import bridge.chat
from bridge.agent import Bridge, Choices
from bridge.cli.ask import _ask, ask
from bridge.cli.asking import Terminal, _Desk
from bridge.cli.backend import Backend
from bridge.cli.transcript import Transcript
from bridge.errors import ChatError, NeedsUser, TabferryError, TaskCancelled, UsageError
from bridge.journal import Event, Journal, JournalReader, paths
from bridge.relay import Relay
from tests.agent.scripted import ScriptedChat, call

READ = call("read_file", path="package.json")
WRITE = call("write_file", path="new.txt", content="hello")

app = typer.Typer()
app.command()(ask)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("STATE", "RUNTIME", "CONFIG"):
        monkeypatch.setenv(f"TABFERRY_{name}_DIR", str(tmp_path / name.lower()))
    return tmp_path


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "package.json").write_text('{"version": "1.0.0"}', encoding="utf-8")
    return root


class Pages:
    """Stands for `bridge.chat.open_chat`: hands out one scripted chat, and keeps what it was asked for."""

    def __init__(self) -> None:
        self.chat = ScriptedChat()
        self.asked: list[dict[str, Any]] = []

    async def open_chat(self, **choices: Any) -> ScriptedChat:
        self.asked.append(choices)
        return self.chat


@pytest.fixture(autouse=True)
def pages(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pages]:
    made = Pages()
    monkeypatch.setattr(bridge.chat, "open_chat", made.open_chat)
    yield made


def invoke(workspace: Path, *args: str, stdin: str | bytes | None = None) -> Any:
    return CliRunner().invoke(app, ["--workspace", str(workspace), *args], input=stdin)


def recorded() -> list[str]:
    with JournalReader(paths.journal_path()) as reader:
        return [event.type for event in reader.events(limit=1000)]


def test_the_answer_goes_to_stdout_and_the_rest_to_stderr(pages: Pages, workspace: Path) -> None:
    pages.chat = ScriptedChat([READ, "The version is 1.0.0"])
    result = invoke(workspace, "Which version?")
    assert (result.exit_code, result.stdout) == (0, "The version is 1.0.0\n")
    assert '→ read_file {"path": "package.json"}' in result.stderr
    assert pages.chat.closed == 1
    assert "session.task_done" in recorded()


@pytest.mark.parametrize(
    ("script", "code", "sentence"),
    [
        ([ChatError("The chat page crashed.")], 1, "The chat page crashed."),
        ([NeedsUser("captcha", "Solve the captcha, then start again.")], 3, "Solve the captcha"),
        ([READ, READ, READ], 3, "3 times in a row"),
        ([""], 1, "empty reply"),
    ],
)
def test_a_failure_is_one_sentence_and_an_exit_code(
    pages: Pages, workspace: Path, script: list[Any], code: int, sentence: str
) -> None:
    pages.chat = ScriptedChat(script)
    result = invoke(workspace, "Go")
    assert (result.exit_code, result.stdout) == (code, "")
    assert sentence in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr
    assert recorded()[-1] == "session.task_failed"


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["Go", "--workspace", "/no/such/place"], "cannot be opened"),
        (["Go", "--site", "nowhere"], "nowhere"),
        (["Go", "--approve", "always"], "--approve"),
        (["Go", "--max-iterations", "0"], "--max-iterations"),
        (["Go", "--dialect", "assistant_api"], "never runs tools"),
        (["Go", "--dialect", "forge", "--xml"], "leave out --provider and --xml"),
        (["Go", "--team", "nobody"], "There is no team 'nobody'"),
        (["Go", "--continue"], "No bridge is running"),
        ([" "], "empty"),
    ],
)
def test_bad_usage_is_2(pages: Pages, workspace: Path, args: list[str], sentence: str) -> None:
    result = invoke(workspace, *args)
    assert (result.exit_code, result.stdout, pages.asked) == (2, "", [])
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_bad_configuration_is_2(home: Path, workspace: Path) -> None:
    (home / "config").mkdir()
    (home / "config" / "config.toml").write_text("sight = 1", encoding="utf-8")
    result = invoke(workspace, "Go")
    assert result.exit_code == 2
    assert "'sight'" in result.stderr


def test_flags_reach_the_page_and_the_loop(pages: Pages, workspace: Path) -> None:
    pages.chat = ScriptedChat([call("list_files", directory=".", depth=n) for n in (1, 2, 3)])
    result = invoke(
        workspace, "Go", "--site", "gradio", "--url", "http://127.0.0.1:9", "--headed", "--max-iterations", "2"
    )
    assert result.exit_code == 1
    assert "Max iterations reached (2). LLM did not provide final answer." in result.stderr
    [asked] = pages.asked
    assert (asked["site"], asked["url"], asked["headless"]) == ("gradio", "http://127.0.0.1:9", False)


def dialect_of_the_session() -> tuple[str, bool]:
    with JournalReader(paths.journal_path()) as reader:
        [started] = [event.data for event in reader.events(limit=1000) if event.type == "session.started"]
    return started["dialect"], started["multi"]


@pytest.mark.requirement("A7", "A8")
@pytest.mark.parametrize(
    ("args", "dialect"),
    [
        ([], "tool_call"),
        (["--dialect", "yaml_style"], "yaml_style"),
        (["--provider", "OpenAI"], "openai_json"),
        (["--provider", "openai", "--xml"], "autobyteus_xml"),
        (["--team", "a"], "cogency"),
        (["--team", "a", "--provider", "gemini"], "gemini_json"),
        (["--team", "x", "--provider", "gemini"], "autobyteus_xml"),
    ],
)
def test_the_dialect_of_a_task_is_chosen(
    pages: Pages, home: Path, workspace: Path, args: list[str], dialect: str
) -> None:
    (home / "config").mkdir()
    teams = '[teams.a]\ndialect = "cogency"\n[teams.x]\nxml = true\n'
    (home / "config" / "config.toml").write_text(teams, encoding="utf-8")
    assert invoke(workspace, "Go", *args).exit_code == 0
    assert dialect_of_the_session() == (dialect, False)


@pytest.mark.requirement("T8")
def test_multi_runs_every_call_of_a_reply(pages: Pages, workspace: Path) -> None:
    pages.chat = ScriptedChat([f"{READ}\n{READ}", "Done."])
    assert invoke(workspace, "Go", "--multi").exit_code == 0
    assert pages.chat.typed[1].count("TOOL_RESULT: ") == 2
    assert dialect_of_the_session() == ("tool_call", True)


def test_json_is_events_on_stdout_and_nothing_else(pages: Pages, workspace: Path) -> None:
    pages.chat = ScriptedChat([READ, "It is 1.0.0"])
    result = invoke(workspace, "Go", "--json")
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 0
    assert [event["type"] for event in events] == recorded()
    assert events[-1]["data"]["answer"] == "It is 1.0.0"
    assert [event["seq"] for event in events] == sorted(event["seq"] for event in events)
    assert result.stderr == ""


def test_a_task_from_standard_input(pages: Pages, workspace: Path) -> None:
    result = invoke(workspace, "-", stdin="Read\nthis ✓\n")
    assert result.exit_code == 0
    assert pages.chat.typed[0].endswith("TASK: Read\nthis ✓\n")


def test_standard_input_that_is_no_text_is_2(workspace: Path) -> None:
    result = invoke(workspace, "-", stdin=b"\xff\xfe")
    assert result.exit_code == 2
    assert "UTF-8" in result.stderr


def test_beside_another_task_in_a_process_of_its_own_it_fails_at_once(pages: Pages, workspace: Path) -> None:
    hold = "import sys; from bridge.journal import Journal, paths; journal = Journal.open(paths.journal_path())"
    other = subprocess.Popen(
        [sys.executable, "-c", f"{hold}; print('held', flush=True); sys.stdin.read(); import os; os._exit(0)"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert other.stdout and other.stdout.readline() == b"held\n"
    result = invoke(workspace, "Go")
    other.communicate(b"")
    assert (result.exit_code, result.stdout, pages.asked) == (1, "", [])
    assert f"Another bridge (process {other.pid}) holds the journal" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.requirement("T43")
def test_without_a_terminal_a_write_is_denied_and_with_edits_it_runs(pages: Pages, workspace: Path) -> None:
    pages.chat = ScriptedChat([WRITE, "I may not."])
    assert invoke(workspace, "Go").exit_code == 0
    assert not (workspace / "new.txt").exists()
    pages.chat = ScriptedChat([WRITE, "Done."])
    assert invoke(workspace, "Go", "--approve", "edits").exit_code == 0
    assert (workspace / "new.txt").read_text(encoding="utf-8") == "hello"


class Screen:
    """What the terminal shows, so that it can be waited for."""

    def __init__(self) -> None:
        self._text = ""
        self._changed = asyncio.Event()

    def write(self, text: str) -> None:
        self._text += text
        self._changed.set()

    async def shows(self, text: str, times: int = 1) -> None:
        async with asyncio.timeout(30):
            while self._text.count(text) < times:
                self._changed.clear()
                await self._changed.wait()


class Keyboard:
    """The other end of `terminal`, a pseudo-terminal that echoes."""

    def __init__(self) -> None:
        self.fd, self.terminal = os.openpty()

    def type(self, text: str) -> None:
        """Return when the terminal has taken it: it has echoed every character."""
        os.write(self.fd, text.encode())
        echo = b""
        while len(echo) < len(text.replace("\n", "\r\n")):
            echo += os.read(self.fd, 1024)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    made = Screen()
    monkeypatch.setattr("bridge.cli.asking._write", made.write)
    return made


@pytest.fixture
def keyboard() -> Iterator[Keyboard]:
    made = Keyboard()
    yield made
    os.close(made.fd)
    os.close(made.terminal)


class Yes(Terminal):
    async def decide(self) -> Any:
        return "approve", None


def test_with_json_a_person_still_sees_what_to_approve(
    pages: Pages, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Terminal, "attached", lambda stdin_is_task: Yes())
    pages.chat = ScriptedChat([WRITE, "Done."])
    result = invoke(workspace, "Go", "--json")
    assert (workspace / "new.txt").read_text(encoding="utf-8") == "hello"
    assert "+hello" in result.stderr
    assert all(json.loads(line)["v"] for line in result.stdout.splitlines())


class Answers:
    """A backend that only keeps what it was answered."""

    def __init__(self) -> None:
        self.given: list[str] = []

    async def answer(self, approval: str, *rest: Any) -> None:
        self.given.append(approval)


@pytest.mark.requirement("T43")
@pytest.mark.parametrize(("settled", "given"), [("other", ["a_1"]), ("asked", [])])
async def test_a_question_is_taken_back_only_when_its_own_call_is_settled(settled: str, given: list[str]) -> None:
    def event(type: str, call: str, **data: Any) -> Event:
        return Event("j", 1, 0.0, "s", type, "t", 1, call, data=data)

    class Late(Terminal):
        async def decide(self) -> Any:
            await may_answer.wait()
            return "approve", None

    may_answer, backend = asyncio.Event(), Answers()
    with Transcript() as transcript:
        desk = _Desk(cast(Backend, backend), Late(), transcript)
        desk.event(event("call.asking", "asked", id="a_1", digest="d"))
        for _ in range(2):
            await asyncio.sleep(0)
        desk.event(event("call.granted", settled))
        may_answer.set()
        for _ in range(3):
            await asyncio.sleep(0)
        await desk.close()
    assert backend.given == given


def test_an_answer_cannot_drive_the_terminal(pages: Pages, workspace: Path) -> None:
    pages.chat = ScriptedChat(["\x1b]0;owned\x07\u202eanswer"])
    result = invoke(workspace, "Go")
    assert not {"\x1b", "\x07", "\u202e"} & set(result.output)


def test_settings_of_the_workspace_are_ignored_and_said_so(pages: Pages, workspace: Path) -> None:
    (workspace / ".tabferry").mkdir()
    (workspace / ".tabferry" / "config.toml").write_text('approve = "auto"', encoding="utf-8")
    pages.chat = ScriptedChat([WRITE, "I may not."])
    result = invoke(workspace, "Go")
    assert "Ignored" in result.stderr
    assert not (workspace / "new.txt").exists()


def test_ctrl_c_cancels_the_task_first(pages: Pages, workspace: Path) -> None:
    pages.chat = ScriptedChat(hold="reply")

    def press() -> None:
        while not pages.chat.reached.is_set():
            threading.Event().wait(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    result = invoke(workspace, "Go")
    presser.join()
    assert (result.exit_code, pages.chat.stopped, pages.chat.closed) == (130, 1, 1)
    assert recorded()[-1] == "session.task_cancelled"


@pytest.mark.parametrize(
    ("typed", "decision"),
    [
        (["y"], ("approve", None)),
        (["what?", "YES"], ("approve", None)),
        (["n", "use another file"], ("deny", "use another file")),
        (["", ""], ("deny", None)),
    ],
)
async def test_a_person_at_the_terminal_decides(
    typed: list[str], decision: tuple[str, str | None], screen: Screen, keyboard: Keyboard
) -> None:
    deciding = asyncio.create_task(Terminal(keyboard.terminal).decide())
    await screen.shows("approve?")
    for line in typed:
        os.write(keyboard.fd, f"{line}\n".encode())
    async with asyncio.timeout(30):
        assert await deciding == decision


@pytest.mark.requirement("T43")
@pytest.mark.parametrize("early", ["y\n", "y\ny\nyes\n", "yes"])
async def test_what_was_typed_before_the_question_answers_nothing(
    early: str, screen: Screen, keyboard: Keyboard
) -> None:
    """Type-ahead, and half a line whose rest comes when the question is there."""
    keyboard.type(early)
    deciding = asyncio.create_task(Terminal(keyboard.terminal).decide())
    await screen.shows("approve?")
    if not early.endswith("\n"):
        os.write(keyboard.fd, b"y\n")
        await screen.shows("approve?", times=2)
    os.write(keyboard.fd, b"no\nnot this\n")
    async with asyncio.timeout(30):
        assert await deciding == ("deny", "not this")


@pytest.mark.requirement("T43")
async def test_an_answer_to_a_question_that_is_gone_answers_no_other(screen: Screen, keyboard: Keyboard) -> None:
    terminal = Terminal(keyboard.terminal)
    gone = asyncio.create_task(terminal.decide())
    await screen.shows("approve?")
    gone.cancel()
    keyboard.type("y\n")
    deciding = asyncio.create_task(terminal.decide())
    await screen.shows("approve?", times=2)
    os.write(keyboard.fd, b"n\nanother\n")
    async with asyncio.timeout(30):
        assert await deciding == ("deny", "another")


async def test_a_terminal_that_cannot_be_asked_denies(screen: Screen) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"y\n")
    async with asyncio.timeout(30):
        decision, reason = await Terminal(reader).decide()
    os.close(reader)
    os.close(writer)
    assert (decision, "cannot be asked" in str(reason)) == ("deny", True)


class Live:
    """A live bridge in this process, announced as `tabferry serve` would."""

    def __init__(self, chat: ScriptedChat) -> None:
        self._chat = chat

    async def __aenter__(self) -> Bridge:
        async def factory(choices: Choices) -> ScriptedChat:
            return self._chat

        self.journal = Journal.open(paths.journal_path())
        self.bridge = Bridge(self.journal, chat_factory=factory)
        self.relay = Relay(self.bridge, version="0", runtime_dir=paths.runtime_dir())
        await self.relay.start()
        return self.bridge

    async def __aexit__(self, *exc: object) -> None:
        await self.relay.close()
        await self.bridge.close()
        await self.journal.close()


async def remote(workspace: Path, task: str, *, json: bool = False, new_chat: bool = True, **flags: Any) -> None:
    async with asyncio.timeout(30):
        await _ask(task, workspace, flags, new_chat=new_chat, json=json)


async def test_a_live_bridge_is_used(pages: Pages, workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chat = ScriptedChat([READ, "It is 1.0.0", "Again."])
    async with Live(chat):
        await remote(workspace, "Which version?", headless=False)
        await remote(workspace, "And again?", new_chat=False)
    out, err = capsys.readouterr()
    assert out == "It is 1.0.0\nAgain.\n"
    assert "--headless has no effect" in err
    assert "→ read_file" in err
    assert (pages.asked, chat.opened, chat.typed[-1]) == ([], 1, "And again?")


@pytest.mark.parametrize(("failure", "code"), [(ChatError("It crashed."), 1), (NeedsUser("login", "Log in first."), 3)])
async def test_a_failure_in_a_live_bridge_keeps_sentence_and_exit_code(
    workspace: Path, failure: TabferryError, code: int
) -> None:
    async with Live(ScriptedChat([failure])):
        with pytest.raises(TabferryError) as caught:
            await remote(workspace, "Go")
    assert (str(caught.value), caught.value.exit_code) == (str(failure), code)


@pytest.mark.requirement("A7", "A8")
@pytest.mark.parametrize(
    ("flags", "dialect"),
    [
        ({}, "tool_call"),
        ({"dialect": "forge"}, "forge"),
        ({"provider": "openai"}, "openai_json"),
        ({"xml": True}, "autobyteus_xml"),
        ({"team": "a", "multi": True}, "cogency"),
    ],
)
async def test_a_live_bridge_is_told_the_dialect(
    home: Path, workspace: Path, flags: dict[str, Any], dialect: str
) -> None:
    paths.private_dir(home / "config")
    (home / "config" / "config.toml").write_text('[teams.a]\ndialect = "cogency"\n', encoding="utf-8")
    async with Live(ScriptedChat([NeedsUser("login", "Log in first.")])):
        with pytest.raises(TabferryError, match="Log in"):
            await remote(workspace, "Go", **flags)
    assert dialect_of_the_session() == (dialect, flags.get("multi", False))


async def test_bad_usage_in_a_live_bridge_is_2(workspace: Path) -> None:
    async with Live(ScriptedChat()):
        with pytest.raises(TabferryError, match="--url") as caught:
            await remote(workspace, "Go", site="gradio")
    assert caught.value.exit_code == UsageError.exit_code


async def test_a_task_that_somebody_else_cancels_is_130(workspace: Path) -> None:
    chat = ScriptedChat(hold="reply")
    async with Live(chat) as live:
        asking = asyncio.create_task(remote(workspace, "Go"))
        await chat.reached.wait()
        [event] = [each for each in await live.journal.events() if each.type == "session.task_started"]
        assert event.task is not None
        assert await live.cancel_task(workspace, event.task)
        with pytest.raises(TaskCancelled):
            await asking


async def test_leaving_cancels_the_task_in_the_live_bridge(workspace: Path) -> None:
    chat = ScriptedChat(hold="reply")
    async with Live(chat) as live:
        asking = asyncio.create_task(remote(workspace, "Go"))
        await chat.reached.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert (await live.journal.events(limit=100))[-1].type == "session.task_cancelled"
    assert chat.stopped == 1


async def test_an_approval_given_elsewhere_lets_the_task_go_on(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    leader, follower = os.openpty()
    monkeypatch.setattr(Terminal, "attached", lambda stdin_is_task: Terminal(follower))
    async with Live(ScriptedChat([WRITE, "Done."])) as live:
        asking = asyncio.create_task(remote(workspace, "Go"))
        async with asyncio.timeout(30):
            async for event in live.journal.subscribe(after=0):
                if event.type == "call.asking":
                    answer = live.answer_approval
                    assert await answer(workspace, event.data["id"], event.data["digest"], "approve", None, "vscode")
                    break
            await asking
    os.close(leader)
    os.close(follower)
    out, err = capsys.readouterr()
    assert out == "Done.\n"
    assert "approved by vscode" in err
