"""A stand-in for the tools in tests of the scripted model: really runs each call on files held in memory."""

from __future__ import annotations

import ast
import json
import re
from fnmatch import fnmatch
from typing import Any

from bridge.demo import ScriptedModel

CALL = re.compile(r"\n````json\n<TOOL_CALL>\n(.*)\n</TOOL_CALL>\n````\Z")


class Workspace:
    """Runs calls on `files`; `deny` names tools whose use is declined, `page` how many files or lines a result
    holds; `calls` is what ran."""

    def __init__(self, files: dict[str, str], deny: tuple[str, ...] = (), page: int = 100) -> None:
        self.files, self.deny, self.page = files, deny, page
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def run(self, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        self.calls.append((tool, args))
        if tool in self.deny:
            return {"success": False, "data": None, "error": "Denied by the user: no reason was given"}
        try:
            return {"success": True, "data": getattr(self, "_" + tool)(**args), "error": None}
        except KeyError as error:
            return {"success": False, "data": None, "error": f"File not found: {error.args[0]}"}

    def _read_file(self, path: str, start_line: int = 1) -> dict[str, Any]:
        lines = self.files[path].splitlines(keepends=True)
        shown = lines[start_line - 1 :][: self.page]
        data: dict[str, Any] = {"path": path, "content": "".join(shown), "lines": len(shown)}
        after = start_line + len(shown)
        if after <= len(lines):
            data["next"] = {"tool": "read_file", "args": {"path": path, "start_line": after}}
        if data.get("next") or start_line > 1:
            data["start_line"] = start_line
        return data

    def _write_file(self, path: str, content: str) -> dict[str, Any]:
        self.files[path] = content
        return {"path": path, "bytes": len(content.encode())}

    def _list_files(self, directory: str, pattern: str, offset: int = 0) -> dict[str, Any]:
        names = sorted(name for name in self.files if fnmatch("./" + name, pattern.replace("**/", "*/")))
        page = names[offset : offset + self.page]
        after = offset + self.page
        data: dict[str, Any] = {"directory": directory, "files": page, "count": len(page), "total": len(names)}
        if after < len(names):
            args = {"directory": directory, "pattern": pattern, "offset": after}
            data["next"] = {"tool": "list_files", "args": args}
        return data

    def _search_code(self, query: str) -> dict[str, Any]:
        rows = [
            {"file": name, "line": at, "text": line}
            for name, text in self.files.items()
            for at, line in enumerate(text.splitlines(), 1)
            if query in line
        ]
        return {"matches": rows, "count": len(rows)}

    def _get_diagnostics(self, file: str) -> dict[str, Any]:
        return {"diagnostics": [{"file": file, "severity": "error", **row} for row in diagnose(self.files[file])]}


def diagnose(content: str) -> list[dict[str, Any]]:
    """Syntax errors by `compile()`, unused imports by their names."""
    try:
        tree = ast.parse(content)
    except SyntaxError as error:
        return [{"line": error.lineno, "column": error.offset, "code": "syntax", "message": error.msg}]
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return [
        {"line": node.lineno, "column": 1, "code": "F401", "message": f"`{_name(alias)}` imported but unused"}
        for node in imports
        for alias in node.names
        if (alias.asname or alias.name) not in used
    ]


def _name(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def result(value: dict[str, Any]) -> str:
    return "TOOL_RESULT: " + json.dumps(value)


def converse(workspace: Workspace, task: str, prompt: str = "You are…\n\nTASK: ") -> tuple[str, list[dict[str, str]]]:
    """Hold the whole conversation; the answer and every message."""
    model, messages = ScriptedModel(), [{"role": "user", "content": prompt + task}]
    for _ in range(100):
        reply = model.reply(messages)
        messages.append({"role": "assistant", "content": reply})
        found = CALL.search(reply)
        if found is None:
            return reply, messages
        call = json.loads(found[1])
        messages.append({"role": "user", "content": result(workspace.run(call["tool"], call["args"]))})
    raise AssertionError("the scripted model never answered")
