"""Gradio's ChatInterface as a third-party page: streams from the OpenAI-compatible endpoint in OPENAI_BASE_URL.

Runs in its own environment (gradio and openai are no dependencies of ours) and prints `READY <url>`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import gradio  # type: ignore[import-not-found]  # lives in .venvs/gradio
import openai  # type: ignore[import-not-found]

client = openai.OpenAI(base_url=os.environ["OPENAI_BASE_URL"], api_key="none", max_retries=0, timeout=None)


def reply(message: str, history: list[dict[str, Any]]) -> Iterator[str]:
    turns = [{"role": turn["role"], "content": _text(turn["content"])} for turn in history]
    turns.append({"role": "user", "content": message})
    text = ""
    for chunk in client.chat.completions.create(model="scripted", messages=turns, stream=True):
        text += chunk.choices[0].delta.content or ""
        yield text


def _text(content: Any) -> str:
    """Gradio hands earlier turns over as a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part.get("type") == "text")


demo = gradio.ChatInterface(reply, title="Gradio ChatInterface")
_, url, _ = demo.launch(
    server_name="127.0.0.1",
    server_port=int(os.environ.get("GRADIO_SERVER_PORT", "0")) or None,
    prevent_thread_lock=True,
    quiet=True,
)
print(f"READY {url}", flush=True)
demo.block_thread()
