"""Gradio's queue events: a snapshot of the whole chat, then JSON patches to it, then the chat again.

Every turn replays the history, so only the newest message counts, and only if it answers our prompt. Observed on
Gradio 6.31 (`/gradio_api/queue/data`); other events of the same stream only set widgets and are passed over.
"""

from __future__ import annotations

import json
from typing import Any

from bridge.chat.decoders.base import Decoder
from bridge.chat.decoders.sse import ServerEvent


class GradioDecoder(Decoder):
    def __init__(self, prompt: str = "") -> None:
        super().__init__(prompt)
        self._outputs: list[Any] = []

    def event(self, event: ServerEvent) -> None:
        try:
            message = json.loads(event.data)
        except (ValueError, RecursionError):
            self.failed = "a damaged event"
            return
        if not isinstance(message, dict):
            return
        output = message.get("output")
        found = output if isinstance(output, dict) else {}
        data = found.get("data")
        outputs = data if isinstance(data, list) else []
        if message.get("msg") == "process_generating":
            self._generating(outputs)
        elif message.get("msg") == "process_completed":
            self._completed(message.get("success") is not False, outputs, found.get("error"))

    def _generating(self, data: list[Any]) -> None:
        if self._outputs:
            for index, patches in enumerate(data[: len(self._outputs)]):
                self._outputs[index] = _patched(self._outputs[index], patches)
        else:
            self._outputs = list(data)
        self._show()

    def _completed(self, success: bool, outputs: list[Any], error: Any) -> None:
        if not success:
            self.failed = str(error or "the app reported an error")
        if outputs:
            self._outputs = list(outputs)
            self._show()
        self.done = bool(self.text) and not self.failed

    def _show(self) -> None:
        for output in self._outputs:
            reply = self._reply(output)
            if reply is not None:
                self.replace(reply)

    def _reply(self, chat: Any) -> str | None:
        if not (isinstance(chat, list) and len(chat) >= 2 and _role(chat[-1]) == "assistant"):
            return None
        asked = next((m for m in reversed(chat[:-1]) if _role(m) == "user"), None)
        # Gradio re-indents what it stores, so the prompt is compared without its white space.
        if self.prompt and "".join(_text(asked).split()) != "".join(self.prompt.split()):
            return None
        return _text(chat[-1])


def _role(message: Any) -> str | None:
    return message.get("role") if isinstance(message, dict) else None


def _text(message: Any) -> str:
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(p["text"] for p in parts if isinstance(p, dict) and isinstance(p.get("text"), str))


def _patched(value: Any, patches: Any) -> Any:
    for patch in patches if isinstance(patches, list) else []:
        try:
            action, path, new = patch
            value = _apply(value, action, path, new)
        except (LookupError, TypeError, ValueError, AttributeError):
            continue  # a patch of something that we do not show
    return value


def _apply(value: Any, action: str, path: list[Any], new: Any) -> Any:
    if not path:
        return value + new if action == "append" else new
    parent = value
    for key in path[:-1]:
        parent = parent[key]
    last = path[-1]
    if action == "delete":
        del parent[last]
    elif action == "add" and isinstance(parent, list):
        parent.insert(last, new)
    else:
        parent[last] = parent[last] + new if action == "append" else new
    return value
