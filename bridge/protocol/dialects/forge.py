"""`<tool>` JSON `</tool>` with `server_name`, `tool_name`, `arguments`; every reply must hold one (F6–F23, F34, X8)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from bridge.protocol import limits, prompts, wire
from bridge.protocol.dialect import Dialect, StreamParser, Tools
from bridge.protocol.harmless import harmless
from bridge.protocol.models import Diagnostic, ParsedReply
from bridge.protocol.signatures import tool_line
from bridge.protocol.tagged.blocks import Manners
from bridge.protocol.tagged.forgexml import ForgeStream
from bridge.protocol.tags import SPACE
from tool_manager.models import JsonValue, ToolCall, ToolResult, ToolSpec

_NAME_REQUIRED = "tool_name is required in tool call"
_ONLY_LOCAL = "Only local supported"
_NOT_PARSED = "failed to parse tool call JSON: "
_NOT_XML = "failed to parse tool call XML: "
_NOT_FOUND = "tool not found: "
_BAD_ARGUMENTS = "invalid arguments for "
_OWN_WORDS = (_NAME_REQUIRED, _ONLY_LOCAL, _NOT_PARSED, _NOT_XML, _BAD_ARGUMENTS)

_ELSEWHERE = frozenset({"args", "parameters", "params", "input"})
_BLOCK = re.compile(rf"<tool>{SPACE}*+[^\s<]")


class ForgeDialect(Dialect):
    name = "forge"
    closed_block_is_final = True
    needs_call = True
    thinking_tag = "thinking"
    separator = "\n\n"

    def stream(self, *, multi: bool = False, tools: Tools | None = None) -> StreamParser:
        manners = Manners(error=_error, moves_thinking=True, trims=True, strict=True)
        # an unknown name is for the ToolManager to refuse (F21)
        return ForgeStream("tool", read_tool, multi=multi, manners=manners, tools=tools)

    def format_call(self, call: ToolCall) -> str:
        value = {"server_name": "local", "tool_name": call.name, "arguments": call.args}
        body = json.dumps(value, allow_nan=False).replace("\x7f", "\\u007f")
        return f"````json\n<tool>\n{body}\n</tool>\n````"

    def result_message(self, call: ToolCall, result: ToolResult) -> str:
        """The texts of F21 and F22. The result is one line: plain text as it is, anything else as JSON."""
        name = harmless(call.name)
        if result.success:
            return f"Tool '{name}' result:\n{_shown(result.data)}"
        error = harmless(self.worded(call, result).error or "the tool failed without saying why")
        if result.code is not None:
            return self.error_message(error)
        return (
            f"tool execution failed: {error}\n"
            f'ERROR: Tool "{name}" execution failed. Correct the arguments or use another tool; '
            "you MUST use a tool in every response."
        )

    def tool_text(self, tool: ToolSpec) -> str:
        """Name, description and the whole JSON Schema (F16)."""
        tool_line(tool)  # raises for a schema that makes no sense
        schema = json.dumps(tool.parameters, allow_nan=False)
        return f"## {tool.name}\n{' '.join(tool.description.split())}\narguments: {schema}"

    def instructions(self, names: Sequence[str]) -> str:
        return prompts.render(
            "forge.j2", names=names, call=self._call, result=_result_line, max_call=limits.MAX_CALL_HINT
        )

    def invalid_text(self, call: ToolCall, code: str, error: str) -> str:
        """The words of F21 and F5."""
        return f"{_NOT_FOUND}{call.name}" if code == "unknown_tool" else f"{_BAD_ARGUMENTS}{call.name}: {error}"

    def error_message(self, error: str, hint: str | None = None) -> str:
        """The error in the document's words, then what to do about it, then the items that the hint lists (F21)."""
        hint, *listed = (hint or "").split("\n- ")
        advice = f"{harmless(hint)} " if hint else ""
        remedy = "ERROR: The tool was not run."
        if error.startswith(_NOT_FOUND):
            remedy = f'ERROR: Unknown tool "{harmless(error.removeprefix(_NOT_FOUND))}".'
        message = f"{harmless(error)}\n{remedy} {advice}You MUST use a tool in every response."
        return "\n- ".join([message, *map(harmless, listed)])

    def correction_message(self, reply: ParsedReply) -> str:
        """The recovery texts of F21: no call, invalid JSON, no `tool_name`."""
        damage = next((found.message for found in reply.diagnostics if found.code == "rendering_damage"), None)
        return prompts.render(
            "forge_correction.j2",
            found=reply.problem,
            nameless=reply.error == _NAME_REQUIRED,
            unread=reply.error is not None and reply.error.startswith(_NOT_PARSED),
            error=reply.error,
            content=_snippet(reply.text),
            damage=damage,
            max_told=limits.MAX_TOLD,
            max_error=limits.MAX_TOLD // 2,
            max_content=limits.MAX_TOLD // 6,
            call=self._call,
        )


def read_tool(value: JsonValue) -> list[ToolCall] | str:
    """The call of a decoded block, or what the document says of one that is none (F7–F10, F14, F15).

    Keys are matched in any case of letters and null leaves a field empty, as Go's decoder has it.
    """
    if value is not None and not isinstance(value, dict):
        return f"{_NOT_PARSED}the block must hold a JSON object"
    fields = {key.casefold(): each for key, each in (value or {}).items() if each is not None}
    name, server = fields.get("tool_name", ""), fields.get("server_name", "")
    for key, text in (("tool_name", name), ("server_name", server)):
        if not isinstance(text, str):
            return f"{_NOT_PARSED}{key} must be a string"
    if not name:
        return _NAME_REQUIRED
    if server not in ("", "local"):
        return _ONLY_LOCAL
    args = fields.get("arguments", {})
    shown = harmless(name)[: limits.MAX_TOLD // 2]
    if "arguments" not in fields and not _ELSEWHERE.isdisjoint(fields):
        return f'{_BAD_ARGUMENTS}{shown}: they must stand under "arguments"'
    if not isinstance(args, dict):
        return f"{_BAD_ARGUMENTS}{shown}: they must be a JSON object"
    return [ToolCall.of(name, args)]


def _error(found: Diagnostic) -> str:
    return found.message if found.message.startswith(_OWN_WORDS) else f"{_NOT_PARSED}{found.message}"


def _shown(data: JsonValue) -> str:
    plain = isinstance(data, str) and data.isascii() and data.isprintable() and data == data.strip()
    return data if plain and data and not set(data) & set('<`\\"') else wire.one_line(data)


def _snippet(text: str) -> str:
    """The beginning of the first block in `text`, harmless to type; empty where there is none."""
    found = _BLOCK.search(text)
    return harmless(text[found.start() :][: limits.SNIPPET])[: limits.SNIPPET] if found else ""


def _result_line(name: str, data: JsonValue, error: str | None = None) -> str:
    result = ToolResult.fail(error) if error else ToolResult.ok(data)
    return DIALECT.result_message(ToolCall("", name, {}), result)


DIALECT = ForgeDialect()
