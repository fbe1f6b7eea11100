"""`<execute>` JSON array `</execute>`: thinking, one batch of calls a reply, `<results>` (C1–C29, C33)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from bridge.protocol import limits, prompts, wire
from bridge.protocol.dialect import Dialect, StreamParser, Tools
from bridge.protocol.harmless import harmless
from bridge.protocol.manifest import Manifest
from bridge.protocol.models import Diagnostic, ParsedReply
from bridge.protocol.signatures import tool_line
from bridge.protocol.tagged.blocks import BlockStream, Manners
from tool_manager.models import JsonObject, JsonValue, ToolCall, ToolResult, ToolSpec


class CogencyDialect(Dialect):
    """Calls of a batch start in array order, and the batch is all or nothing (C10): none may start before it is whole,
    so a closed block is not final."""

    name = "cogency"
    several = True

    def stream(self, *, multi: bool = False, tools: Tools | None = None) -> StreamParser:
        del multi  # whatever follows the first batch is discarded (C25)
        manners = Manners(error=_syntax_error, moves_thinking=True, strict=True)
        # an unknown name fails in its own slot (C13)
        return BlockStream("execute", read_batch, manners=manners, tools=tools)

    def format_call(self, call: ToolCall) -> str:
        """A batch of one call, on one line as pages need it."""
        return self._batch([(call.name, call.args)])

    def format_calls(self, calls: Sequence[ToolCall]) -> str:
        """One batch, indented by two, as a conversation is rebuilt (C29)."""
        return _fenced(_json([_element(call.name, call.args) for call in calls], indent=2))

    def result_message(self, call: ToolCall, result: ToolResult) -> str:
        return self.results_message([(call, result)])

    def results_message(self, outcomes: Sequence[tuple[ToolCall, ToolResult]]) -> str:
        """All results of a batch by position, `content` in its own JSON type and always there (C20–C22, C24)."""
        lines = ",\n".join(f"  {wire.one_line(_outcome(call, self.worded(call, result)))}" for call, result in outcomes)
        return f"<results>\n[\n{lines}\n]\n</results>" if lines else "<results>\n[]\n</results>"

    def tool_text(self, tool: ToolSpec) -> str:
        """`name(arg, opt?) - description` (C33)."""
        tool_line(tool)  # raises for a schema that makes no sense
        required = tool.parameters.get("required", [])
        names = ", ".join(name if name in required else f"{name}?" for name in tool.parameters.get("properties", {}))
        return f"{tool.name}({names}) - {' '.join(tool.description.split())}"

    def opening(self, manifest: Manifest) -> str:
        """The sections of C33 in their order; the tools come last."""
        listed = f"TOOLS:\n{manifest.text}" if manifest.text else "No tools available."
        return f"{self.instructions(list(manifest.texts))}\n\n{listed}"

    def instructions(self, names: Sequence[str]) -> str:
        return prompts.render(
            "cogency.j2", names=names, batch=self._batch, results=_results, max_call=limits.MAX_CALL_HINT
        )

    def invalid_text(self, call: ToolCall, code: str, error: str) -> str:
        """The words of C13–C15; they fail the call in its slot, and the others run."""
        if code == "unknown_tool":
            return f"Tool '{call.name}' not registered"
        if code == "missing":
            return error.replace("Missing required parameter: ", "Missing required field: ", 1)
        return error.replace("Expected type ", "expected ", 1) if code == "type" else error

    def error_message(self, error: str, hint: str | None = None) -> str:
        message = f"Error: {harmless(error)}"
        return f"{message}\n{harmless(hint)}" if hint else message

    def correction_message(self, reply: ParsedReply) -> str:
        """`Error: Malformed tool call syntax. …` (C11), with the place and the format."""
        damage = next((found.message for found in reply.diagnostics if found.code == "rendering_damage"), None)
        return prompts.render("cogency_correction.j2", found=reply.problem, damage=damage, batch=self._batch)

    def _batch(self, calls: Sequence[tuple[str, JsonObject]]) -> str:
        lines = ",\n".join(f"  {_json(_element(name, args))}" for name, args in calls)
        return _fenced(f"[\n{lines}\n]")


def read_batch(value: JsonValue) -> list[ToolCall] | str:
    """The calls of a decoded batch, which may be none (C7); one bad element rejects all of them (C10)."""
    if not isinstance(value, list):
        return "Expected a JSON array of calls; write a single call as an array of one"
    for index, each in enumerate(value):
        if fault := _fault(each):
            return f"Call {index} invalid: {fault}"
    return [ToolCall.of(each["name"], each["args"]) for each in value]


def _fault(element: JsonValue) -> str | None:
    if not isinstance(element, dict):
        return "it must be a JSON object"
    for key in ("name", "args"):
        if key not in element:
            return f'"{key}" is missing'
    if not isinstance(element["name"], str):
        return '"name" must be a string'
    return None if isinstance(element["args"], dict) else '"args" must be a JSON object'


def _syntax_error(found: Diagnostic) -> str:
    return f"Error: Malformed tool call syntax. {found.message}"


def _element(name: str, args: JsonObject) -> JsonObject:
    return {"name": name, "args": args}


def _json(value: JsonValue, indent: int | None = None) -> str:
    return json.dumps(value, indent=indent, allow_nan=False).replace("\x7f", "\\u007f")


def _fenced(array: str) -> str:
    return f"````json\n<execute>\n{array}\n</execute>\n````"


def _outcome(call: ToolCall, result: ToolResult) -> JsonObject:
    content = result.data if result.success else result.error or "The tool failed without saying why."
    return {"tool": call.name, "status": "success" if result.success else "failure", "content": content}


def _results(outcomes: Sequence[tuple[str, JsonValue, str | None]]) -> str:
    """Results as the prompt shows them: name, content, error."""
    pairs = [
        (ToolCall("", name, {}), ToolResult.fail(error) if error else ToolResult.ok(content))
        for name, content, error in outcomes
    ]
    return DIALECT.results_message(pairs)


DIALECT = CogencyDialect()
