from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.chat.decoders import DECODERS, GradioDecoder, OpenAIDecoder


def sse(*messages: Any) -> str:
    return "".join(f"data: {m if isinstance(m, str) else json.dumps(m)}\n\n" for m in messages)


def delta(text: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}}]}


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "metadata": None, "content": [{"text": text, "type": "text"}], "options": None}


def generating(*data: Any) -> dict[str, Any]:
    return {"msg": "process_generating", "event_id": "e", "output": {"data": list(data)}, "success": True}


def completed(*data: Any) -> dict[str, Any]:
    return {"msg": "process_completed", "event_id": "e", "output": {"data": list(data)}, "success": True}


OLD = [said("user", "earlier"), said("assistant", "an old answer")]
GRADIO = sse(
    {"msg": "estimation", "rank": 0},
    generating(None, [*OLD, said("user", "now  do\tit"), said("assistant", "Let")]),
    generating([], [["append", [3, "content", 0, "text"], " me"]]),
    generating([], []),
    generating([], [["append", [3, "content", 0, "text"], " read é"]]),
    completed(None, [*OLD, said("user", "now do it"), said("assistant", "Let me read é\n")]),
    {"msg": "close_stream", "event_id": None},
)
OPENAI = sse(
    {"choices": []},
    {"choices": [{"delta": {"role": "assistant"}}]},
    delta("Hé"),
    delta(""),
    delta("llo"),
    "[DONE]",
    delta("!"),
)


def test_openai_concatenates_deltas_until_done() -> None:
    decoder = OpenAIDecoder()
    assert decoder.feed(OPENAI) == "Héllo"
    assert (decoder.text, decoder.done) == ("Héllo", True)


@pytest.mark.parametrize(
    ("event", "failed"),
    [("{not json", "a damaged event"), ({"error": {"message": "overloaded"}}, "overloaded"), ({"error": "no"}, "no")],
)
def test_a_reply_with_a_hole_in_it_has_failed(event: Any, failed: str) -> None:
    decoder = OpenAIDecoder()
    decoder.feed(sse(delta("line1"), event, delta("line3"), "[DONE]"))
    assert (decoder.text, decoder.failed, decoder.done) == ("line1", failed, False)


def test_openai_reads_the_first_choice_only() -> None:
    decoder = OpenAIDecoder()
    decoder.feed(sse({"choices": [{"index": 1, "delta": {"content": "B"}}, {"index": 0, "delta": {"content": "A"}}]}))
    assert decoder.text == "A"


def test_gradio_takes_only_the_newest_reply() -> None:
    decoder = GradioDecoder("now do it")
    assert decoder.feed(GRADIO) == "Let me read é\n"
    assert (decoder.text, decoder.done) == ("Let me read é\n", True)


def test_gradio_refuses_the_answer_to_another_prompt() -> None:
    decoder = GradioDecoder("something else")
    assert decoder.feed(GRADIO) == ""
    assert (decoder.text, decoder.done) == ("", False)


def test_gradio_sets_what_a_patch_replaces() -> None:
    decoder = GradioDecoder("q")
    decoder.feed(sse(generating([said("user", "q"), said("assistant", "thinking")])))
    decoder.feed(sse(generating([["replace", [1, "content", 0, "text"], "The answer"]])))
    assert decoder.text == "The answer"


def test_gradio_stopped_keeps_what_the_patches_gave() -> None:
    decoder = GradioDecoder("q")
    decoder.feed(sse(generating([said("user", "q"), said("assistant", "half a")])))
    decoder.feed(sse({"msg": "process_completed", "output": {}, "success": True}))
    assert (decoder.text, decoder.done) == ("half a", True)


def test_gradio_says_why_the_app_failed() -> None:
    decoder = GradioDecoder("q")
    decoder.feed(sse({"msg": "process_completed", "output": {"error": "no model"}, "success": False}))
    assert (decoder.failed, decoder.done) == ("no model", False)


def test_gradio_passes_over_widget_updates() -> None:
    decoder = GradioDecoder("q")
    decoder.feed(sse(completed({"interactive": True, "value": None, "__type__": "update"})))
    assert (decoder.text, decoder.done) == ("", False)


@pytest.mark.parametrize(("name", "stream", "prompt"), [("openai", OPENAI, ""), ("gradio", GRADIO, "now do it")])
@given(data=st.data())
def test_any_chunking_gives_the_same_text(name: str, stream: str, prompt: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=20)))
    decoder, at, news = DECODERS[name](prompt), 0, ""
    for cut in [*cuts, len(stream)]:
        news += decoder.feed(stream[at:cut])
        at = cut
    whole = DECODERS[name](prompt)
    assert news == whole.feed(stream)
    assert (decoder.text, decoder.done) == (whole.text, whole.done)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)
)


@pytest.mark.parametrize("name", DECODERS)
@given(messages=st.lists(JSON | st.fixed_dictionaries({"msg": st.just("process_generating"), "output": JSON})))
def test_never_raises_on_what_a_page_sends(name: str, messages: list[Any]) -> None:
    DECODERS[name]("q").feed(sse(*messages))
