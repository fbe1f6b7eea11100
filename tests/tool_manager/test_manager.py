from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.tool_manager.attacks import Site, call
from tool_manager import (
    Denial,
    Effect,
    Grant,
    Next,
    Policy,
    Prepared,
    Snapshot,
    ToolCall,
    ToolManager,
    ToolResult,
    tool,
)
from tool_manager.files import digest
from tool_manager.plan import digest_of

WRITE = call("write_file", path="src/a.py", content="new\n")


class Log:
    """An effect log that remembers, and fails on request."""

    def __init__(self, site: Site, broken: str = "") -> None:
        self.site, self.broken = site, broken
        self.seen: list[tuple[str, Any]] = []

    async def intent(self, effect: Effect) -> None:
        if self.broken == "intent":
            raise RuntimeError("journal is full")
        self.seen.append(("intent", (effect, (self.site.root / "src/a.py").read_text("utf-8"))))

    async def done(self, effect: Effect, result: ToolResult) -> None:
        if self.broken == "done":
            raise RuntimeError("journal is full")
        self.seen.append(("done", (effect, result)))


def content(site: Site) -> str:
    return (site.root / "src/a.py").read_text("utf-8")


async def test_prepare_shows_all_and_changes_nothing(site: Site) -> None:
    async with ToolManager(site.root) as manager:
        prepared = await manager.prepare(WRITE)
        assert (prepared.decision, prepared.rule, prepared.effect) == ("ask", "approve=ask", "write")
        assert prepared.diff == "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-print('a')\n+new\n"
        assert prepared.resources == ("file:src/a.py",)
        assert prepared.before == {"src/a.py": digest(b"print('a')\n")}
        assert prepared.after == {"src/a.py": digest(b"new\n")}
        assert content(site) == "print('a')\n"


@pytest.mark.requirement("T43")
async def test_commit_needs_a_grant_for_exactly_this(site: Site) -> None:
    async with ToolManager(site.root) as manager:
        prepared = await manager.prepare(WRITE)
        other = await manager.prepare(call("write_file", path="src/a.py", content="other\n"))
        assert "needs approval" in str((await manager.commit(prepared)).error)
        assert "approval was given for something else" in str(
            (await manager.commit(prepared, Grant(other.digest, "me"))).error
        )
        assert content(site) == "print('a')\n"
        assert (await manager.commit(prepared, Grant(prepared.digest, "me"))).success
        assert content(site) == "new\n"
        again = await manager.commit(prepared, Grant(prepared.digest, "me"))
        assert again.error == "This call was run already; it is never run twice."


async def test_the_digest_covers_arguments_and_pre_state(site: Site) -> None:
    async with ToolManager(site.root) as manager:
        first = await manager.prepare(WRITE)
        assert (await manager.prepare(replace(WRITE, id="other"))).digest == first.digest
        (site.root / "src/a.py").write_text("print('b')\n", "utf-8")
        assert (await manager.prepare(WRITE)).digest != first.digest
        result = await manager.commit(first, Grant(first.digest, "me"))
        assert "changed after this call was prepared" in str(result.error)
        assert content(site) == "print('b')\n"


@pytest.mark.requirement("T43")
async def test_the_digest_covers_where_a_link_leads(site: Site) -> None:
    (site.root / ".env.other").write_text("OTHER=1\n", "utf-8")
    (site.root / "link").symlink_to(".env")
    async with ToolManager(site.root) as manager:
        reading = call("read_file", path="link")
        first = await manager.prepare(reading)
        assert (await manager.prepare(reading)).digest == first.digest
        (site.root / "link").unlink()
        (site.root / "link").symlink_to(".env.other")
        second = await manager.prepare(reading)
        assert (first.decision, second.decision) == ("ask", "ask")
        assert not (await manager.commit(second, Grant(first.digest, "me"))).success


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"a": 1.0}, False),
        ({"a": "1"}, {"a": 1}, False),
        ({"a": ["x", "y"]}, {"a": ["xy"]}, False),
        ({"a": None}, {}, False),
        ({"a": {"b": []}}, {"a": {"b": {}}}, False),
    ],
)
def test_digests_tell_arguments_apart(one: dict[str, Any], other: dict[str, Any], same: bool) -> None:
    digests = {digest_of(call("x", **args), None, {}) for args in (one, other)}
    assert (len(digests) == 1) is same


async def test_a_mode_that_was_tightened_since_holds(site: Site) -> None:
    async with ToolManager(site.root, approve="auto") as manager:
        prepared = await manager.prepare(WRITE)
        assert prepared.decision == "allow"
        manager.policy = Policy("auto", "plan")
        assert "plan mode" in str((await manager.commit(prepared)).error)
        assert content(site) == "print('a')\n"


@pytest.mark.requirement("T43")
async def test_execute_asks_the_approver(site: Site) -> None:
    asked: list[Prepared] = []

    async def approver(prepared: Prepared) -> Grant | Denial:
        asked.append(prepared)
        return Grant(prepared.digest, "me") if len(asked) > 1 else Denial("not now.")

    async with ToolManager(site.root, approver=approver) as manager:
        assert (await manager.execute(WRITE)).error == "Denied by user: not now."
        assert content(site) == "print('a')\n"
        assert (await manager.execute(WRITE)).success and content(site) == "new\n"
        assert (await manager.execute(call("read_file", path="src/a.py"))).success
    assert len(asked) == 2 and asked[0].diff


@pytest.mark.requirement("T43")
async def test_a_dangerous_tool_without_an_approver_never_runs(manager: ToolManager) -> None:
    ran: list[int] = []
    manager.register(tool("Delete all.", name="delete_all", dangerous=True, parameters=EMPTY)(lambda: ran.append(1)))
    result = await manager.execute(call("delete_all"))
    assert not result.success and "needs approval" in str(result.error) and ran == []


EMPTY: dict[str, Any] = {"type": "object", "properties": {}, "required": []}


async def test_intent_comes_before_and_done_after(site: Site) -> None:
    log = Log(site)
    async with ToolManager(site.root, approve="auto", effects=log) as manager:
        assert (await manager.execute(WRITE)).success
        assert (await manager.execute(call("read_file", path="src/a.py"))).success
    (first, (effect, text)), (second, (same, result)) = log.seen
    assert (first, second, text) == ("intent", "done", "print('a')\n") and effect == same and result.success
    assert effect.kind == "write" and effect.after == {"src/a.py": digest(b"new\n")}


async def test_an_intent_that_cannot_be_recorded_refuses_the_effect(site: Site) -> None:
    async with ToolManager(site.root, approve="auto", effects=Log(site, "intent")) as manager:
        result = await manager.execute(WRITE)
        assert result.error == "Not executed: it could not be recorded first (journal is full)"
        assert content(site) == "print('a')\n"


async def test_a_done_that_cannot_be_recorded_is_told(site: Site) -> None:
    async with ToolManager(site.root, approve="auto", effects=Log(site, "done")) as manager:
        assert (await manager.execute(WRITE)).error == "It happened, but that could not be recorded (journal is full)"


@pytest.mark.requirement("T39", "T25")
async def test_a_tool_that_fails_is_a_failure_with_its_own_message(manager: ToolManager) -> None:
    @tool("Fail.")
    async def boom(how: str = "") -> None:
        if how == "exit":
            raise SystemExit(3)
        raise ValueError("boom failed")

    manager.register(boom)
    assert await manager.execute(call("boom")) == ToolResult(False, None, "boom failed")
    assert await manager.execute(call("boom", how="exit")) == ToolResult(False, None, "3")
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    assert not (await manager.execute(call("boom", how=deep))).success


async def test_a_cancellation_passes_through(manager: ToolManager) -> None:
    begun = asyncio.Event()

    @tool("Wait.")
    async def wait() -> None:
        begun.set()
        await asyncio.Event().wait()

    manager.register(wait)
    running = asyncio.create_task(manager.execute(call("wait")))
    async with asyncio.timeout(30):
        await begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running


@pytest.mark.requirement("T27")
async def test_data_is_always_json(manager: ToolManager) -> None:
    @tool("Odd things.")
    def odd() -> dict[Any, Any]:
        return {1: b"\xff", "inf": float("inf"), "path": Path("x"), "set": {2, 1}, "bad": "\ud800", "none": None}

    manager.register(odd)
    result = await manager.execute(call("odd"))
    assert json.loads(json.dumps(result.data)) == {
        "1": "base64:/w==",
        "inf": None,
        "path": "x",
        "set": [1, 2],
        "bad": "?",
        "none": None,
    }


@pytest.mark.requirement("T24", "T37")
async def test_handlers_get_what_they_declare(manager: ToolManager) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    manager.register_tool({"name": "named", "parameters": schema, "handler": lambda n: n})
    manager.register_tool({"name": "whole", "parameters": schema, "handler": lambda args: args})
    assert (await manager.execute(call("named", n=2.0, extra=1))).data == 2
    assert (await manager.execute(call("whole", n=2, extra=1))).data == {"n": 2}


@pytest.mark.requirement("T38")
async def test_the_onion(manager: ToolManager) -> None:
    order: list[str] = []

    def layer(name: str) -> Any:
        async def middleware(call: ToolCall, next: Next) -> ToolResult:
            order.append(f"{name}>")
            result = await next()
            order.append(f"<{name}")
            return result

        return middleware

    manager.use(layer("outer"))
    manager.use(layer("inner"))
    assert (await manager.execute(call("read_file", path="README.md"))).success
    assert order == ["outer>", "inner>", "<inner", "<outer"]


@pytest.mark.requirement("T38", "T39")
async def test_middleware_may_answer_change_observe_and_fail(manager: ToolManager) -> None:
    seen: list[str] = []

    async def observe(call: ToolCall, next: Next) -> ToolResult:
        try:
            return await next()
        except KeyError as error:
            seen.append(repr(error))
            raise

    async def act(call: ToolCall, next: Next) -> ToolResult:
        if call.id == "answer":
            return ToolResult.ok("cached")
        if call.id == "change":
            return await next(replace(call, args={"path": "README.md"}))
        if call.id == "fail":
            raise KeyError("mine")
        return "junk"  # type: ignore[return-value]

    manager.use(observe)
    manager.use(act)
    read = call("read_file", path="src/a.py")
    assert (await manager.execute(replace(read, id="answer"))).data == "cached"
    assert (await manager.execute(replace(read, id="change"))).data["path"] == "README.md"
    assert (await manager.execute(replace(read, id="fail"))).error == "'mine'" and seen == ["KeyError('mine')"]
    assert "instead of a ToolResult" in str((await manager.execute(read)).error)


@pytest.mark.requirement("T38", "T43")
@pytest.mark.parametrize("in_place", [True, False])
async def test_middleware_cannot_smuggle_arguments_past_an_approval(site: Site, in_place: bool) -> None:
    async def smuggle(call: ToolCall, next: Next) -> ToolResult:
        if in_place:
            call.args["path"] = "Makefile"
            return await next()
        return await next(replace(call, args={**call.args, "path": "Makefile"}))

    async with ToolManager(site.root) as manager:
        manager.use(smuggle)
        prepared = await manager.prepare(WRITE)
        result = await manager.commit(prepared, Grant(prepared.digest, "me"))
        assert not result.success and "Makefile changes what runs" in str(result.error)
        assert not (site.root / "Makefile").exists() and content(site) == "print('a')\n"


async def test_arguments_changed_after_prepare_have_no_effect(manager: ToolManager) -> None:
    got: list[Any] = []
    manager.register(tool("Keep.", name="keep", effect="write")(keep := _keeper(got)))
    mine = call("keep", items=["a"])
    prepared = await manager.prepare(mine)
    mine.args["items"].append("b")
    prepared.call.args["items"].append("c")
    await manager.commit(prepared)
    assert got == [["a"]] and keep


def _keeper(got: list[Any]) -> Any:
    async def keep(items: list[str]) -> None:
        got.append(items)

    return keep


@pytest.mark.requirement("T46", "T39")
async def test_a_batch_runs_in_parallel_and_in_order(manager: ToolManager) -> None:
    meeting = asyncio.Barrier(3)

    @tool("Meet.")
    async def meet(name: str) -> str:
        await meeting.wait()
        if name == "b":
            raise ValueError("b failed")
        return name

    manager.register(meet)
    async with asyncio.timeout(30):
        results = await manager.execute_batch([call("meet", name=name) for name in "abc"])
    assert [result.data for result in results] == ["a", None, "c"] and results[1].error == "b failed"


@pytest.mark.requirement("T46")
async def test_a_batch_serialises_what_touches_the_same_file(manager: ToolManager) -> None:
    calls = [
        call("write_file", path="new.txt", content="one\n"),
        call("read_file", path="new.txt"),
        call("write_file", path="./sub/../new.txt", content="two\n"),
        call("list_files", directory="."),
        call("read_file", path="new.txt"),
    ]
    one, first, two, listing, second = await manager.execute_batch(calls)
    assert one.data["created"] and not two.data["created"] and "new.txt" in listing.data["files"]
    assert (first.data["content"], second.data["content"]) == ("one\n", "two\n")


@pytest.mark.requirement("T46")
async def test_what_an_earlier_call_makes_possible_waits_for_it(manager: ToolManager) -> None:
    calls = [call("write_file", path="fresh/x.txt", content="x\n"), call("list_files", directory="fresh")]
    assert [result.success for result in await manager.execute_batch(calls)] == [True, True]


async def test_nothing_runs_after_a_loop_breaking_call(manager: ToolManager, site: Site) -> None:
    manager.register(tool("End.", name="finish", loop_breaking=True, parameters=EMPTY)(lambda: "end"))
    results = await manager.execute_batch([call("read_file", path="README.md"), call("finish"), WRITE])
    assert [result.success for result in results] == [True, True, False]
    assert results[2].error == "Not run: finish ended this batch." and content(site) == "print('a')\n"


def memory(manager: ToolManager, **declared: Any) -> tuple[dict[str, str], list[str]]:
    """Registers write, read and sleep_echo, which work on what is returned: the files, and what happened in order."""
    files: dict[str, str] = {}
    order: list[str] = []

    async def write(path: str, content: str) -> None:
        order.append("write begins")
        for _ in range(20):
            await asyncio.sleep(0)
        files[path] = content
        order.append("write ends")

    async def read(path: str) -> str | None:
        order.append("read")
        return files.get(Path(path).name)

    async def sleep_echo(text: str) -> str:
        order.append("echo")
        return text

    for function in (write, read, sleep_echo):
        manager.register(tool("Plain.", **declared)(function))
    return files, order


@pytest.mark.requirement("X5", "C17")
async def test_tools_of_undeclared_effect_keep_their_order_where_they_name_the_same_path(manager: ToolManager) -> None:
    _, order = memory(manager)
    calls = [
        call("write", path="b.txt", content="new"),
        call("read", path=f"{manager.workspace.path}/sub/../b.txt"),
        call("read", path="c.txt"),
        call("sleep_echo", text="b.txt"),
    ]
    results = await manager.execute_batch(calls)
    assert [result.data for result in results] == [None, "new", None, "b.txt"]
    assert order == ["write begins", "read", "echo", "write ends", "read"]  # the others did not wait


@pytest.mark.requirement("X5")
async def test_a_tool_of_undeclared_effect_keeps_its_order_with_a_built_in_reader(
    manager: ToolManager, site: Site
) -> None:
    def append(file: str, text: str) -> None:
        (site.root / file).write_text(text)

    manager.register(tool("Append.")(append))
    calls = [
        call("append", file="fresh.txt", text="x\n"),
        call("read_file", path="fresh.txt"),
        call("list_files", directory="."),
    ]
    _, read, listed = await manager.execute_batch(calls)
    assert read.data["content"] == "x\n" and "fresh.txt" in listed.data["files"]


@pytest.mark.requirement("X5")
async def test_declared_readers_never_wait_for_each_other(manager: ToolManager) -> None:
    _, order = memory(manager, effect="read")
    await manager.execute_batch([call("write", path="b.txt", content="new"), call("read", path="b.txt")])
    assert order == ["write begins", "read", "write ends"]


@pytest.mark.requirement("T19", "T20", "T22")
@pytest.mark.parametrize(
    ("name", "args", "code"),
    [
        ("nope", {}, "unknown_tool"),
        ("read_file", {}, "missing"),
        ("read_file", {"path": 1}, "type"),
        ("read_file", {"path": "missing"}, None),
    ],
)
async def test_a_result_says_whether_the_call_was_wrong(
    manager: ToolManager, name: str, args: dict[str, Any], code: str | None
) -> None:
    result = await manager.execute(call(name, **args))
    assert (result.success, result.code) == (False, code)
    assert result == ToolResult.fail(result.error or "")  # for who compares results there is no difference


@pytest.mark.requirement("T46")
async def test_a_thousand_calls(manager: ToolManager) -> None:
    manager.register(tool("Echo.", name="echo")(_echo))
    async with asyncio.timeout(30):
        results = await manager.execute_batch([call("echo", message=str(number)) for number in range(1_000)])
    assert [result.data for result in results] == [str(number) for number in range(1_000)]


async def _echo(message: str) -> str:
    return message


@pytest.mark.requirement("T45")
async def test_cacheable_results_are_reused_until_something_is_written(manager: ToolManager) -> None:
    ran: list[str] = []

    @tool("Search.", cacheable=True)
    async def search(query: str) -> list[str]:
        ran.append(query)
        return [query]

    manager.register(search)
    first = await manager.execute(call("search", query="x"))
    first.data.append("spoilt")
    assert (await manager.execute(call("search", query="x"))).data == ["x"] and ran == ["x"]
    await manager.execute(call("search", query="y"))
    assert (await manager.execute(WRITE)).success
    await manager.execute(call("search", query="x"))
    assert ran == ["x", "y", "x"]


async def test_another_file_backend_is_used_for_writes(site: Site) -> None:
    class Editor:
        saved: dict[str, bytes] = {}  # noqa: RUF012

        async def snapshot(self, path: str) -> Snapshot:
            return Snapshot(path, (path,), b"unsaved\n")

        async def write(self, path: str, data: bytes, *, expected: str | None) -> None:
            assert expected == digest(b"unsaved\n")
            self.saved[path] = data

    async with ToolManager(site.root, approve="auto", files=Editor()) as manager:
        prepared = await manager.prepare(WRITE)
        assert prepared.diff and "-unsaved" in prepared.diff
        assert (await manager.commit(prepared)).success
    assert Editor.saved == {"src/a.py": b"new\n"} and content(site) == "print('a')\n"
