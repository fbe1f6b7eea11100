"""The embedded demo: a chat page that behaves like the real ones, and the scripted stand-in that answers in it."""

from __future__ import annotations

from bridge.demo.chats import Exchange
from bridge.demo.faults import Faults
from bridge.demo.model import ScriptedModel
from bridge.demo.sample import CONVERSATIONS, Demo, copy_sample
from bridge.demo.server import DemoServer

__all__ = ["CONVERSATIONS", "Demo", "DemoServer", "Exchange", "Faults", "ScriptedModel", "copy_sample"]
