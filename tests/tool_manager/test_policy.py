from __future__ import annotations

import pytest

from tool_manager import Policy, Request
from tool_manager.policy import Approve, guarded, is_secret

WRITE = Request("write_file", "write", writes=("src/a.py",), undoable=True)
FOREIGN_WRITE = Request("deploy", "write")
COMMAND = Request("run_command", "command")
READ = Request("read_file", "read", reads=("src/a.py",))
GUARDED = Request("write_file", "write", writes=("sub/.git/config",), undoable=True)
SECRET = Request("read_file", "read", reads=("config/.env.local",))
DANGEROUS = Request("delete_all", "read", dangerous=True)


@pytest.mark.requirement("T43")
@pytest.mark.parametrize(
    ("request_", "ask", "edits", "auto", "none"),
    [
        (READ, "allow", "allow", "allow", "allow"),
        (WRITE, "ask", "allow", "allow", "deny"),
        (FOREIGN_WRITE, "ask", "ask", "allow", "deny"),
        (COMMAND, "ask", "ask", "ask", "deny"),
        (GUARDED, "ask", "ask", "ask", "deny"),
        (SECRET, "ask", "ask", "ask", "deny"),
        (DANGEROUS, "ask", "ask", "ask", "deny"),
    ],
    ids=lambda value: value.tool if isinstance(value, Request) else value,
)
def test_the_table(request_: Request, ask: str, edits: str, auto: str, none: str) -> None:
    modes: tuple[Approve, ...] = ("ask", "edits", "auto", "none")
    assert [Policy(mode).decide(request_).decision for mode in modes] == [ask, edits, auto, none]


def test_plan_mode_refuses_every_change() -> None:
    policy = Policy("auto", "plan")
    assert [policy.decide(request).decision for request in (WRITE, COMMAND, READ)] == ["deny", "deny", "allow"]
    assert "plan mode" in policy.decide(WRITE).reason


def test_the_rule_is_named() -> None:
    decision = Policy("auto").decide(GUARDED)
    assert decision.rule == "always-ask:.git" and decision.reason.startswith("sub/.git/config changes what runs")


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        ".GIT/hooks/pre-commit",
        "sub/.vscode/tasks.json",
        ".idea/x",
        ".devcontainer/d.json",
        ".github/workflows/ci.yml",
        ".husky/pre-push",
        ".tabferry/config.toml",
        "deep/er/.tabferryignore",
        "agents.md",
        ".mcp.json",
        ".envrc",
        ".npmrc",
        ".pypirc",
        ".netrc",
        "sub/MAKEFILE",
        "GNUmakefile",
        "sub/bsdmakefile",
        "AGENTS.override.md",
        ".devcontainer.json",
        "_netrc",
        "team.code-workspace",
        "Package.json",
        ".g\u200cit/config",
        "git~1/config",
        ".git /config",
        ".git::$INDEX_ALLOCATION/config",
        "\uff0egit/config",
    ],
)
def test_guarded_names(path: str) -> None:
    assert guarded(path)


@pytest.mark.parametrize("path", ["src/a.py", ".gitignore", "git/config", "package.json5", "makefile.py", "a.git"])
def test_ordinary_names(path: str) -> None:
    assert guarded(path) is None


@pytest.mark.parametrize(
    ("path", "secret"),
    [
        (".env", True),
        ("sub/.ENV.production", True),
        ("tls/server.pem", True),
        ("x.KEY", True),
        ("id_rsa", True),
        (".netrc", True),
        (".npmrc", True),
        ("a/secrets/b/c.txt", True),
        ("Secrets/x", True),
        ("environment.py", False),
        ("secrets", False),
        ("src/key.py", False),
        ("grid_view.py", False),
    ],
)
def test_secret_names(path: str, secret: bool) -> None:
    assert is_secret(path) is secret
