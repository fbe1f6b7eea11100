"""One chat as a sequence of turns: the turn machine, sending as a transaction, capture agreement."""

from __future__ import annotations

from bridge.conversation.agreement import Doubt, Judgement, Trust, judge
from bridge.conversation.conversation import Conversation, DeltaHandler, Parser, PromptKind, Turn
from bridge.conversation.port import Capture, ChatLocation, ChatPort, ChatReply, Ending, SentMessage, Source
from bridge.conversation.record import NullRecorder, Recorder
from bridge.conversation.turn_machine import IllegalTransition, TurnMachine, TurnState

__all__ = [
    "Capture",
    "ChatLocation",
    "ChatPort",
    "ChatReply",
    "Conversation",
    "DeltaHandler",
    "Doubt",
    "Ending",
    "IllegalTransition",
    "Judgement",
    "NullRecorder",
    "Parser",
    "PromptKind",
    "Recorder",
    "SentMessage",
    "Source",
    "Trust",
    "Turn",
    "TurnMachine",
    "TurnState",
    "judge",
]
