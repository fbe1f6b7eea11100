"""The room's walls: its public names, and what it may not import."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import bridge.protocol

FOREIGN = {"asyncio", "playwright", "websockets", "socket", "threading", "sqlite3", "typer", "rich"}
SOURCES = sorted(Path(bridge.protocol.__file__).parent.rglob("*.py"))


def test_public_names() -> None:
    assert sorted(bridge.protocol.__all__) == [
        "CORRECTABLE", "CallClosed", "Code", "Diagnostic", "Dialect", "Manifest", "ParsedReply",
        "PendingConversation", "PromptError", "ReplyKind", "ResponseParser", "StreamEvent", "StreamParser",
        "TextDelta", "ToolCall", "ToolResult", "Tools", "UnknownDialect", "describe", "dialects",
    ]  # fmt: skip
    assert all(hasattr(bridge.protocol, name) for name in bridge.protocol.__all__)


@pytest.mark.requirement("T54")
@pytest.mark.parametrize("source", SOURCES, ids=[source.name for source in SOURCES])
def test_no_file_imports_what_does_io(source: Path) -> None:
    nodes = list(ast.walk(ast.parse(source.read_text("utf-8"))))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    assert not {name.split(".")[0] for name in names} & FOREIGN
    ours = {name for name in names if name.startswith(("bridge", "tool_manager"))}
    assert all(name.startswith("bridge.protocol") or name in ("bridge.errors", "tool_manager.models") for name in ours)


def test_using_it_loads_neither_browser_nor_sockets() -> None:
    code = (
        "import sys, tool_manager.models; before = set(sys.modules)\n"
        "from bridge.protocol import ResponseParser, dialects\n"
        "ResponseParser().parse('<TOOL_CALL>{}'); dialects.get('tool_call').system_prompt([])\n"
        "print(*{name.split('.')[0] for name in sys.modules} & {'playwright', 'websockets'})\n"
        "print(*{name.split('.')[0] for name in set(sys.modules) - before} & {'asyncio', 'socket', 'sqlite3'})\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout.split() == []
