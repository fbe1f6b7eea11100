"""`<tool name="x"><arg name="k">v</arg></tool>`, the XML form of document 003 (T57): one call a reply."""

from __future__ import annotations

from bridge.protocol.toolresult import tool_result
from bridge.protocol.xmlform.xmldialect import XmlDialect
from tool_manager.models import ToolCall, ToolResult


class XmlStyleDialect(XmlDialect):
    name = "xml_style"
    wrapped = False

    def result_message(self, call: ToolCall, result: ToolResult) -> str:
        """As in `tool_call`: the document has one form of result for all its forms of call (T25)."""
        return tool_result(self, call, result)


DIALECT = XmlStyleDialect()
