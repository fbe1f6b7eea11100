"""The agent: the loop over conversation and tools, its guards, approvals, and the bridge that runs many of them."""

from __future__ import annotations

from bridge.agent.approvals import Answer, ApprovalBroker, Approver, deny_unattended
from bridge.agent.bridge import Bridge
from bridge.agent.call import CallRunner, Outcome
from bridge.agent.call_ids import CallIds
from bridge.agent.call_machine import CallMachine, CallState
from bridge.agent.chat_holder import ChatFactory, ChatHolder
from bridge.agent.choices import Approve, Choices, Mode, OnMalformed, real_workspace
from bridge.agent.effects import JournalEffects
from bridge.agent.guards import GuardLimits, Guards
from bridge.agent.loop import AgentLoop
from bridge.agent.manager import LLMManager
from bridge.agent.record import JournalRecorder
from bridge.agent.session import AgentSession

__all__ = [
    "AgentLoop",
    "AgentSession",
    "Answer",
    "ApprovalBroker",
    "Approve",
    "Approver",
    "Bridge",
    "CallIds",
    "CallMachine",
    "CallRunner",
    "CallState",
    "ChatFactory",
    "ChatHolder",
    "Choices",
    "GuardLimits",
    "Guards",
    "JournalEffects",
    "JournalRecorder",
    "LLMManager",
    "Mode",
    "OnMalformed",
    "Outcome",
    "deny_unattended",
    "real_workspace",
]
