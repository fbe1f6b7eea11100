"""Decoders: what the stream formats of chat pages say. A profile names one; a new one is one file here."""

from __future__ import annotations

from bridge.chat.decoders.base import Decoder
from bridge.chat.decoders.gradio import GradioDecoder
from bridge.chat.decoders.openai import OpenAIDecoder

DECODERS: dict[str, type[Decoder]] = {"openai": OpenAIDecoder, "gradio": GradioDecoder}

__all__ = ["DECODERS", "Decoder", "GradioDecoder", "OpenAIDecoder"]
