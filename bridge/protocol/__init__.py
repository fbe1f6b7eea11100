"""Text to calls and back: no I/O beyond our own templates, no asyncio, no page."""

from bridge.protocol import dialects
from bridge.protocol.dialect import Dialect, StreamParser, Tools
from bridge.protocol.errors import PromptError, UnknownDialect
from bridge.protocol.manifest import Manifest, describe
from bridge.protocol.models import (
    CORRECTABLE,
    CallClosed,
    Code,
    Diagnostic,
    ParsedReply,
    ReplyKind,
    StreamEvent,
    TextDelta,
    ToolCall,
    ToolResult,
)
from bridge.protocol.parser import ResponseParser
from bridge.protocol.pending import PendingConversation

__all__ = [
    "CORRECTABLE",
    "CallClosed",
    "Code",
    "Diagnostic",
    "Dialect",
    "Manifest",
    "ParsedReply",
    "PendingConversation",
    "PromptError",
    "ReplyKind",
    "ResponseParser",
    "StreamEvent",
    "StreamParser",
    "TextDelta",
    "ToolCall",
    "ToolResult",
    "Tools",
    "UnknownDialect",
    "describe",
    "dialects",
]
