from __future__ import annotations

import json

import pytest

from bridge.demo import ScriptedModel
from bridge.demo.model import HELP, chunks, render
from bridge.demo.plans import _repair_all
from bridge.demo.transcript import Call
from tests.demo.executor import CALL, Workspace, converse, result


def ask(*messages: str) -> str:
    """The reply to a conversation, given as user and assistant messages in turn."""
    roles = ("user", "assistant")
    return ScriptedModel().reply([{"role": roles[at % 2], "content": text} for at, text in enumerate(messages)])


@pytest.mark.parametrize("version", ["1.4.2", "0.0.1-rc.3"])
def test_reports_the_version_it_read(version: str) -> None:
    workspace = Workspace({"package.json": json.dumps({"version": version})})
    answer, _ = converse(workspace, "Read package.json and tell me the version")
    assert answer == f"The version in package.json is {version}."
    assert workspace.calls == [("read_file", {"path": "package.json"})]


def test_says_when_the_value_is_not_there() -> None:
    answer, _ = converse(Workspace({"package.json": "{}"}), "Read package.json and tell me the version")
    assert answer == "I read `package.json`, but there is no `version` in it."


def test_reads_a_value_from_a_file_that_is_not_json() -> None:
    answer, _ = converse(Workspace({"a.toml": 'name = "x"\nversion = "7"\n'}), "Read a.toml and tell me the version")
    assert answer == "The version in a.toml is 7."


def test_counts_files_over_all_pages() -> None:
    workspace = Workspace(dict.fromkeys(("src/a.ts", "src/b.ts", "src/deep/c.ts", "x.py"), ""), page=2)
    answer, _ = converse(workspace, "Find all TypeScript files and count them")
    assert answer == "I found 3 TypeScript files:\n\n- `src/a.ts`\n- `src/b.ts`\n- `src/deep/c.ts`"
    assert [args.get("offset") for _, args in workspace.calls] == [None, 2]


def test_finds_no_files() -> None:
    answer, _ = converse(Workspace({"x.py": ""}), "Find all TypeScript files and count them")
    assert answer == "I found no TypeScript files."


def test_offers_to_create_a_missing_file() -> None:
    answer, _ = converse(Workspace({}), "Read missing-file.txt")
    assert answer == ("I cannot read missing-file.txt because the file does not exist. Would you like me to create it?")


def test_shows_a_file_in_a_fence_longer_than_any_in_it() -> None:
    answer, _ = converse(Workspace({"a.md": "`````\nx\n`````\n"}), "Read a.md")
    assert answer.endswith("``````markdown\n`````\nx\n`````\n``````")


def test_replaces_whole_words_and_reports_what_it_reads_afterwards() -> None:
    workspace = Workspace({"a.ts": "foo(1);\nfood;\nx = foo;\n", "b.ts": "food\n", "c.ts": "// foo"})
    answer, _ = converse(workspace, "Replace every use of `foo` by `bar`")
    assert workspace.files == {"a.ts": "bar(1);\nfood;\nx = bar;\n", "b.ts": "food\n", "c.ts": "// bar"}
    each = ["read_file", "write_file", "read_file"]
    assert [tool for tool, _ in workspace.calls] == ["search_code", *each, *each]
    assert "- `a.ts`: `bar` on lines 1, 3, 0 old uses left" in answer
    assert "- `c.ts`: `bar` on line 1, 0 old uses left" in answer


def test_replaces_in_the_named_file_only() -> None:
    workspace = Workspace({"a.ts": "foo", "b.ts": "foo"})
    converse(workspace, "Replace every use of foo by bar in a.ts.")
    assert workspace.files == {"a.ts": "bar", "b.ts": "foo"}


def test_reads_all_pages_before_it_answers() -> None:
    workspace = Workspace({"a.toml": "x = 1\n" * 5 + "version = 3\n"}, page=2)
    assert converse(workspace, "Read a.toml and tell me the version")[0] == "The version in a.toml is 3."
    assert [args.get("start_line") for _, args in workspace.calls] == [None, 3, 5]
    assert converse(workspace, "Read a.toml and tell me how many lines it has")[0] == "`a.toml` has 6 lines."


@pytest.mark.parametrize("task", ["Rename os to sys", "Fix the diagnostic in a.py"])
def test_never_writes_a_file_that_it_did_not_see_whole(task: str) -> None:
    workspace = Workspace({"a.py": "import os\nx = 1\ny = 2\n"}, page=2)
    answer, _ = converse(workspace, task)
    assert "I left it alone" in answer
    assert workspace.files == {"a.py": "import os\nx = 1\ny = 2\n"}


def test_tells_what_a_lying_write_left() -> None:
    class Forgetful(Workspace):
        def _write_file(self, path: str, content: str) -> dict[str, object]:
            return {"path": path}

    answer, _ = converse(Forgetful({"a.ts": "foo"}), "Rename foo to bar")
    assert "`bar` on no line, 1 old use left" in answer


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import json\nimport os\n\njson.dumps(1)\n", "import json\n\njson.dumps(1)\n"),
        ("from os import path, sep\n\nprint(sep)\n", "from os import sep\n\nprint(sep)\n"),
        ("def f()\n    return 1\n", "def f():\n    return 1\n"),
        ("print((1, 2)\n", "print((1, 2))\n"),
        ("import os, sys\n", ""),
        ("import os as o, sys\n\nprint(sys)\n", "import sys\n\nprint(sys)\n"),
        ("import os\n\n\ndef f(:\n    pass\n", None),
        ("from os import (\n    path,\n)\n", None),
    ],
)
def test_fixes_what_follows_from_the_diagnostic(before: str, after: str | None) -> None:
    workspace = Workspace({"a.py": before})
    answer, _ = converse(workspace, "Fix the diagnostic in a.py")
    assert workspace.files["a.py"] == (before if after is None else after)
    assert ("no diagnostics any more" in answer) == (after is not None)


def test_fixes_two_layers_of_problems() -> None:
    workspace = Workspace({"a.py": "import os\n\n\ndef f()\n    return 1\n"})
    converse(workspace, "Fix the problems in `a.py`")
    assert workspace.files["a.py"] == "\n\ndef f():\n    return 1\n"


def test_says_what_it_fixed_and_what_it_could_not() -> None:
    workspace = Workspace({"a.py": "import json\nfrom os import (\n    path,\n)\n"})
    answer, _ = converse(workspace, "Fix the diagnostics in a.py")
    assert workspace.files == {"a.py": "from os import (\n    path,\n)\n"}
    assert answer == (
        "I fixed:\n\n- line 1: F401 `json` imported but unused\n\n"
        "I cannot fix this in `a.py` by script:\n\n- line 1: F401 `path` imported but unused"
    )


def test_repairs_each_problem_once_however_often_it_is_reported() -> None:
    twice = [{"line": 1, "message": "expected ':'"}] * 2
    assert _repair_all("def f()\n    return 1\n", [*twice]) == ("def f():\n    return 1\n", ["line 1: expected ':'"])


def test_has_nothing_to_fix() -> None:
    workspace = Workspace({"a.py": "x = 1\n"})
    answer, _ = converse(workspace, "Fix the diagnostic in a.py")
    assert answer == "`a.py` has no diagnostics; there is nothing to fix."
    assert [tool for tool, _ in workspace.calls] == ["get_diagnostics"]


def test_creates_a_file_and_reads_it_back() -> None:
    workspace = Workspace({})
    answer, _ = converse(workspace, "Create notes.txt with the text hello there")
    assert workspace.files == {"notes.txt": "hello there\n"}
    assert answer == "`notes.txt` now says: hello there"


def test_accepts_a_denial() -> None:
    workspace = Workspace({"a.py": "import os\n"}, deny=("write_file",))
    answer, _ = converse(workspace, "Fix the diagnostic in a.py")
    assert answer.startswith("I did not write a.py, because it was not allowed: Denied by the user")
    assert workspace.files == {"a.py": "import os\n"}


@pytest.mark.parametrize("times", [1, 7])
def test_benchmark_reads_as_often_as_asked(times: int) -> None:
    workspace = Workspace({"one.txt": "x" * 1000})
    answer, _ = converse(workspace, f"Bench: read one.txt {times} times")
    assert workspace.calls == [("read_file", {"path": "one.txt"})] * times
    assert f"{times * 1000} characters in all" in answer


def test_says_what_it_is_when_the_task_is_unknown() -> None:
    assert ask("What is the meaning of life?") == HELP


def test_finds_the_task_after_a_long_prompt_without_marker() -> None:
    prompt = "\n".join(f"Rule {number}: read nothing." for number in range(30))
    assert '"path": "a.txt"' in ask(f"{prompt}\n\nRead a.txt")


def test_takes_the_marker_that_comes_last() -> None:
    assert '"path": "b.txt"' in ask("…\nTASK: example\n…\n\nTASK: Read b.txt")


def test_a_new_task_forgets_the_results_of_the_old_one() -> None:
    _, messages = converse(Workspace({"a.txt": "x"}), "Read a.txt")
    reply = ScriptedModel().reply([*messages, {"role": "user", "content": "Read b.txt"}])
    assert '"path": "b.txt"' in reply


def test_sends_the_same_call_again_when_it_did_not_arrive() -> None:
    first = ask("Read a.txt")
    correction = "TOOL_ERROR: No tool was run: the block was cut off. Please try again with correct format.\n\nSend…"
    assert ask("Read a.txt", first, correction) == first
    assert ask("Read a.txt", first, "Your <TOOL_CALL> was not readable.") == first
    reread = result({"success": True, "data": {"path": "a.txt", "content": "hi\n"}, "error": None})
    assert "hi" in ask("Read a.txt", first, correction, first, reread)


def test_corrects_a_tool_name_once_and_then_apologises() -> None:
    error = "TOOL_ERROR: Unknown tool: read_file. Please try again with correct format.\nDid you mean `open_file`?"
    again = ask("Read a.txt", "…", error)
    assert '{"tool": "open_file", "args": {"path": "a.txt"}}' in again
    assert ask("Read a.txt", "…", error, again, error).startswith("I'm sorry, I could not read a.txt")


@pytest.mark.parametrize("garbage", ["TOOL_RESULT: not json", "TOOL_RESULT: [1]", "TOOL_RESULT:", "TOOL_ERROR: x"])
def test_apologises_for_what_it_cannot_read(garbage: str) -> None:
    assert ask("Read a.txt", "…", garbage).startswith("I'm sorry, I could not read a.txt")


@pytest.mark.parametrize("data", [None, 1, [], {}, {"content": 3}, {"files": "no", "matches": None}])
def test_survives_results_of_an_unexpected_shape(data: object) -> None:
    tasks = ["Read a.py", "Find all Python files", "Rename a to b", "Fix the diagnostic in a.py"]
    for task in tasks:
        assert ask(task, "…", result({"success": True, "data": data, "error": None}))


@pytest.mark.requirement("T1")
def test_a_call_is_one_line_of_ascii_json_in_a_long_fence() -> None:
    text = render(Call("Now.", "write_file", {"path": "a", "content": 'é\n`````\n</TOOL_CALL>"\u2028'}))
    found = CALL.search(text)
    assert found is not None and found[1].isascii()
    assert json.loads(found[1])["args"]["content"] == 'é\n`````\n</TOOL_CALL>"\u2028'


def test_chunks_keep_every_character() -> None:
    text = "x" * 41
    assert [len(piece) for piece in chunks(text)] == [20, 20, 1]
    assert "".join(chunks(text)) == text
