"""OpenAI-style chat completion chunks: `choices[0].delta.content`, ended by `[DONE]`."""

from __future__ import annotations

import json

from bridge.chat.decoders.base import Decoder
from bridge.chat.decoders.sse import ServerEvent


class OpenAIDecoder(Decoder):
    def event(self, event: ServerEvent) -> None:
        if event.data.strip() == "[DONE]":
            self.done = True
            return
        try:
            chunk = json.loads(event.data)
            content = chunk["choices"][0]["delta"].get("content")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return
        if isinstance(content, str):
            self.append(content)
