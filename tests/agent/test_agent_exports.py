from __future__ import annotations

import bridge.agent


def test_the_public_names_of_the_agent() -> None:
    assert bridge.agent.__all__ == [
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
    assert all(hasattr(bridge.agent, name) for name in bridge.agent.__all__)
