"""`<tool name="…"><arguments><arg name="…">…`, the XML dialect of AutoByteus (A12–A14, A24–A33)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bridge.protocol.aggregate import aggregated, invalid_text
from bridge.protocol.examples import example_args, has_optional
from bridge.protocol.manifest import Manifest
from bridge.protocol.xmlform.xmldialect import XmlDialect
from bridge.protocol.xmlform.xmlwriting import definition
from tool_manager.models import ToolCall, ToolResult, ToolSpec

_GUIDELINES: Final = """\
To use a tool, write an XML block exactly like the examples below. Name and nest all tags as shown, and pay attention \
to how lists and objects are written.

Formatting lists: put each value of a list in its own `<item>` tag. Write neither JSON arrays nor comma-separated text.

Correct:
<arg name="dependencies">
    <item>task_1</item>
    <item>task_2</item>
</arg>

Incorrect:
<arg name="dependencies">[task_1, task_2]</arg>
<arg name="dependencies">task_1, task_2</arg>"""


class AutobyteusXmlDialect(XmlDialect):
    name = "autobyteus_xml"
    several = True
    separator = "\n\n---\n\n"
    wrapped = True

    def result_message(self, call: ToolCall, result: ToolResult) -> str:
        return self.results_message([(call, result)])

    def results_message(self, outcomes: Sequence[tuple[ToolCall, ToolResult]]) -> str:
        """One message for all calls of a reply (A37)."""
        return aggregated([(call, self.worded(call, result)) for call, result in outcomes])

    def invalid_text(self, call: ToolCall, code: str, error: str) -> str:
        return invalid_text(call, code, error)

    def tool_text(self, tool: ToolSpec) -> str:
        """Definition and one or two examples, each of which parses back (A11, A14)."""
        examples = ["### Example 1: Basic Call (Required Arguments)\n" + self._example(tool, optional=False)]
        if has_optional(tool):
            heading = "### Example 2: Advanced Call (With Optional & Nested Arguments)"
            examples.append(f"{heading}\n{self._example(tool, optional=True)}")
        shown = "\n\n".join(examples)
        return f"## Tool Definition:\n{definition(tool)}\n\n## Tool Usage Examples and Guidelines:\n{shown}"

    def manifest(self, tools: Sequence[ToolSpec]) -> Manifest:
        """The tools, and once before them how to write calls and lists (A14)."""
        manifest = super().manifest(tools)
        if not manifest.texts:
            return manifest
        return replace(manifest, text=f"{_GUIDELINES}{self.separator}{manifest.text}")

    def _example(self, tool: ToolSpec, *, optional: bool) -> str:
        return self._call(tool.name, example_args(tool, optional=optional))


DIALECT = AutobyteusXmlDialect()
