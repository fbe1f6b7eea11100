"""The attack cases (`data/path-cases.jsonl`) and the fixture that their README describes."""

from __future__ import annotations

import ctypes
import json
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tool_manager import ToolCall

CANARY = "CANARY-7f3a91"
SIBLINGS = ("outside", "ws-evil", "ws.bak", "ws2", "wsevil", "home")
DATA = Path(__file__).parent / "data" / "path-cases.jsonl"


@dataclass(frozen=True)
class Site:
    """`parent` holds the workspace `root` and the siblings that must neither be read nor touched."""

    parent: Path
    root: Path

    def fill(self, text: str) -> str:
        places = {"{ROOT}": self.root, "{OUT}": self.parent / "outside", "{PARENT}": self.parent, "{CANARY}": CANARY}
        for name, value in places.items():
            text = text.replace(name, str(value))
        return text

    def outside(self) -> dict[str, bytes]:
        """Every file and link beside the workspace, to compare before and after."""
        found: dict[str, bytes] = {}
        for path in sorted(self.parent.rglob("*")):
            if path.is_relative_to(self.parent / "ws") or path.is_relative_to(self.parent / "parked"):
                continue
            found[str(path)] = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        return found


def cases(kind: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
    return [row for row in rows if row["kind"] == kind]


def build(parent: Path) -> Site:
    root = parent / "ws"
    for name in ("src", "sub/deep", ".git/hooks"):
        (root / name).mkdir(parents=True)
    files = {"src/a.py": "print('a')\n", "README.md": "# Readme\n", "sub/deep/x.txt": "x\n", ".env": "KEY=1\n"}
    for name, text in {**files, ".git/config": "[core]\n"}.items():
        (root / name).write_text(text, "utf-8")
    for sibling in SIBLINGS:
        (parent / sibling).mkdir()
        (parent / sibling / "secret.txt").write_text(CANARY, "utf-8")
    (parent / "secret.txt").write_text(CANARY, "utf-8")
    return Site(parent, root)


def set_up(site: Site, steps: list[list[Any]]) -> Path:
    """Apply a case's setup; returns the path by which the workspace is opened."""
    opened = site.root
    for step in steps:
        target = site.root / str(step[1]) if len(step) > 1 else site.root
        match step[0]:
            case "symlink":
                target.symlink_to(site.fill(step[2]))
            case "fifo":
                os.mkfifo(target)
            case "sparse":
                with target.open("wb") as file:
                    file.truncate(step[2])
            case "write":
                target.write_text(step[2], "utf-8")
            case "chmod":
                target.chmod(step[2])
            case "root_is_symlink":
                opened = site.parent / "ws-link"
                opened.symlink_to(site.root)
            case "socket":
                with socket.socket(socket.AF_UNIX) as server:
                    server.bind(str(target))
            case other:
                raise AssertionError(f"unknown setup step {other}")
    return opened


def call(name: str, /, **args: Any) -> ToolCall:
    return ToolCall("call-1", name, args)


def calls_for(case: dict[str, Any], site: Site) -> list[ToolCall]:
    """The call that the case is about first, then every other tool that takes a path, with the same one."""
    raw = case["input"]
    if isinstance(raw, dict) and case["op"] in {"glob", "search"}:
        glob = raw.get("glob") or raw.get("include")
        options = {"directory": raw["path"], "glob": glob}
        return [
            call("list_files", directory=raw["path"], pattern=glob),
            call("search_code", query=CANARY, options=options),
        ]
    path = site.fill(raw) if isinstance(raw, str) else raw
    tools = {
        "read": call("read_file", path=path),
        "write": call("write_file", path=path, content="new\n"),
        "list": call("list_files", directory=path),
        "search": call("search_code", query="CANARY", options={"directory": path}),
        "diagnose": call("get_diagnostics", file=path),
        "range": call("read_file", path=path, start_line=1, end_line=5),
    }
    if case["op"] == "mkdir":
        return [call("write_file", path=f"{path}/new.txt", content="new\n")]
    first = tools.pop(case["op"])
    return [first, *tools.values()]


@contextmanager
def racing(flip: Callable[[], None]) -> Iterator[None]:
    """`flip()` over and over in a thread; it has flipped at least once before the block begins."""
    stop, begun = threading.Event(), threading.Event()
    failures: list[BaseException] = []

    def work() -> None:
        try:
            while not stop.is_set():
                flip()
                begun.set()
        except BaseException as error:
            failures.append(error)
            begun.set()

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(30)
    try:
        yield
    finally:
        stop.set()
        thread.join(30)
    assert not failures, failures


def exchange(one: Path, other: Path) -> None:
    """Swap two names atomically, so that neither is ever missing."""
    libc = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(other)
    if sys.platform == "darwin":
        code = libc.renamex_np(*names, 2)  # RENAME_SWAP
    else:
        code = libc.renameat2(-100, names[0], -100, names[1], 2)  # AT_FDCWD, RENAME_EXCHANGE
    if code:
        raise OSError(ctypes.get_errno(), "exchange", str(one))


def swap_for_link(path: Path, target: Path) -> Callable[[], None]:
    """Swap `path` with a link to `target`, to and fro."""
    parked = path.with_name("parked")
    parked.symlink_to(target)

    def flip() -> None:
        if not path.is_symlink() and not parked.is_symlink():  # a write has replaced the link itself
            parked.unlink()
            parked.symlink_to(target)
        exchange(path, parked)

    return flip


def plant_links(directory: Path, target: Path) -> Callable[[], None]:
    """Replace every temporary file that appears in `directory` by a link to `target`."""

    def flip() -> None:
        for planted in directory.glob(".*.tmp"):
            planted.unlink(missing_ok=True)
            with suppress(FileExistsError):
                planted.symlink_to(target)

    return flip
