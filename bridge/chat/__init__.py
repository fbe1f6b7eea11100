"""The chat driver: a real browser on a real chat page behind `bridge.conversation.port.ChatPort`."""

from __future__ import annotations

from bridge.chat import profiles
from bridge.chat.browser import ensure_browser, find_browser
from bridge.chat.driver import BrowserChat
from bridge.chat.open import open_chat
from bridge.chat.patience import Patience
from bridge.chat.profiles import SiteProfile

__all__ = ["BrowserChat", "Patience", "SiteProfile", "ensure_browser", "find_browser", "open_chat", "profiles"]
