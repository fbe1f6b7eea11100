from __future__ import annotations

import bridge
import bridge.chat
import bridge.chat.decoders


def test_public_names() -> None:
    assert bridge.__all__ == ["LLMManager"]
    assert bridge.LLMManager.__module__ == "bridge.agent.manager"
    assert bridge.chat.__all__ == [
        "BrowserChat",
        "Patience",
        "SiteProfile",
        "ensure_browser",
        "find_browser",
        "open_chat",
        "profiles",
    ]
    assert all(hasattr(bridge.chat, name) for name in bridge.chat.__all__)
    assert sorted(bridge.chat.decoders.DECODERS) == ["gradio", "openai"]
