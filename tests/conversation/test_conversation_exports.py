from __future__ import annotations

import bridge.conversation


def test_the_public_names_of_the_conversation() -> None:
    assert bridge.conversation.__all__ == [
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
    assert all(hasattr(bridge.conversation, name) for name in bridge.conversation.__all__)
