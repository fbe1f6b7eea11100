"""OpenAI-style chat completion chunks: `choices[0].delta.content`, ended by `[DONE]`."""

from __future__ import annotations

import json
from typing import Any

from bridge.chat.decoders.base import Decoder
from bridge.chat.decoders.sse import ServerEvent


class OpenAIDecoder(Decoder):
    def event(self, event: ServerEvent) -> None:
        if event.data.strip() == "[DONE]":
            self.done = True
            return
        try:
            chunk = json.loads(event.data)
        except (ValueError, RecursionError):
            # A piece of the reply is lost, and a reply with a hole in it may still look like a call.
            self.failed = "a damaged event"
            return
        if isinstance(chunk, dict):
            if chunk.get("error"):
                self.failed = _sentence(chunk["error"])
            self._choices(chunk.get("choices"))

    def _choices(self, choices: Any) -> None:
        for choice in choices if isinstance(choices, list) else []:
            if isinstance(choice, dict) and choice.get("index", 0) == 0 and isinstance(choice.get("delta"), dict):
                content = choice["delta"].get("content")
                if isinstance(content, str):
                    self.append(content)


def _sentence(error: Any) -> str:
    message = error.get("message") if isinstance(error, dict) else error
    return str(message)[:200]
