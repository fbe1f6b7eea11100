"""The tools that the cases speak of, beside the built-in ones."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Literal

from tool_manager import ToolManager, tool


def fill(root: Path) -> None:
    """Files that the cases read, and secrets beside the workspace that none may reach."""
    for name in ("same", "a", "b", "notes..txt", *(f"a{n}" for n in range(12))):
        (root / name).write_text("text\n", encoding="utf-8")
    (root / "package.json").write_text('{"name": "my-app", "version": "1.0.0"}\n', encoding="utf-8")
    (root / "config.json").write_text('{"api": "old.com"}', encoding="utf-8")
    outside = root.parent / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "file.txt").write_text("CANARY\n", encoding="utf-8")
    (root.parent / "outside.txt").write_text("CANARY\n", encoding="utf-8")
    (root / "link-to-outside").symlink_to(outside)


def add_fixtures(manager: ToolManager, root: Path) -> None:
    """Register the fixture tools of the cases; `read`, `write` and `shell` work on `root`."""

    @tool("Says it back")
    def echo(message: str) -> str:
        return message

    @tool("Gives any value back", parameters={"type": "object", "properties": {"value": {}}, "required": ["value"]})
    def json_echo(value: Any) -> Any:
        return value

    @tool("Adds two numbers")
    def add(a: float, b: float) -> float:
        return a + b

    @tool("Says it back after a while")
    async def sleep_echo(ms: int, message: str) -> str:
        await asyncio.sleep(ms / 1000)
        return message

    @tool("Fails")
    def boom() -> str:
        raise ValueError("boom failed")

    @tool("Deletes everything", dangerous=True, effect="write")
    def delete_all() -> str:
        raise AssertionError("a dangerous tool ran without being asked")

    @tool("Calculates")
    def calculator(operation: Literal["add", "subtract", "multiply", "divide"], a: float, b: float) -> str:
        if operation == "divide" and b == 0:
            raise ValueError("cannot divide by zero")
        return f"{ {'add': a + b, 'subtract': a - b, 'multiply': a * b}.get(operation) or a / b:.2f}"

    @tool("Reads")
    def read(file: str) -> str:
        return (root / file).read_text("utf-8")

    @tool("Writes", effect="write")
    def write(file: str, content: str) -> str:
        (root / file).write_text(content, encoding="utf-8")
        return "written"

    @tool("Runs", effect="command")
    def shell(cmd: str) -> str:
        return cmd

    for each in (echo, json_echo, add, sleep_echo, boom, delete_all, calculator, read, write, shell):
        manager.register(each)
