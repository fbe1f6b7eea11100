"""What the two XML dialects share: how calls are written and read, and how a bad one is answered."""

from __future__ import annotations

from typing import ClassVar

from bridge.protocol import prompts
from bridge.protocol.dialect import Dialect, StreamParser, Tools
from bridge.protocol.harmless import harmless
from bridge.protocol.models import ParsedReply
from bridge.protocol.xmlform.xmlblocks import XmlStream
from bridge.protocol.xmlform.xmlwriting import call_lines
from tool_manager.models import ToolCall


class XmlDialect(Dialect):
    """A dialect of `<tool name="…">` blocks; `wrapped` says whether `<arguments>` stands around its arguments.

    `decode_entities=False` takes values as they were written (X12); then parsing is no inverse of formatting. A closed
    block is not final: a closing tag that is left over after it shows that a value was cut there.
    """

    wrapped: ClassVar[bool]

    def __init__(self, *, decode_entities: bool = True) -> None:
        self._decode = decode_entities

    def stream(self, *, multi: bool = False, tools: Tools | None = None) -> StreamParser:
        # an unknown name is for the ToolManager to refuse (X2)
        return XmlStream(several=multi or self.several, decode=self._decode, tools=tools)

    def format_call(self, call: ToolCall) -> str:
        """The call in a fence of four backticks; a reasoning is not written, for these dialects have no place for it.

        Parsing gives it back with all leaves as text, and coercion by the tool's schema with their types.
        """
        body = "\n".join(call_lines(call, wrapped=self.wrapped))
        return f"````xml\n{body}\n````"

    def error_message(self, error: str, hint: str | None = None) -> str:
        """As in every dialect (T23), and no name that it quotes opens a call."""
        return super().error_message(harmless(error), harmless(hint) if hint else None)

    def correction_message(self, reply: ParsedReply) -> str:
        damage = next((found.message for found in reply.diagnostics if found.code == "rendering_damage"), None)
        return prompts.render("xml_correction.j2", found=reply.problem, damage=damage, call=self._call)
