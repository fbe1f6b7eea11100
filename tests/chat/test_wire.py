from __future__ import annotations

import json

import pytest

from bridge.chat.profiles import load
from bridge.chat.wire import Tapped, Wire, carries
from bridge.conversation import Capture

URL = "http://127.0.0.1:1/api/conversations/7/messages"
REPLY = 'data: {"choices":[{"delta":{"content":"hello"}}]}\n\n'
DONE = "data: [DONE]\n\n"


def wire(text: str = "hi \u00e9\n") -> Wire:
    return Wire(load("demo"), text, ("http://127.0.0.1:1",))


def test_a_request_is_ours_only_if_it_carries_our_text() -> None:
    assert wire().match(URL, json.dumps({"content": "hi \u00e9\n"}))
    assert wire().match(URL, json.dumps({"content": "hi \u00e9\n"}, ensure_ascii=False))
    assert wire().match(URL, json.dumps({"content": "typed by somebody else"})) is None
    assert wire().match("http://127.0.0.1:1/api/other", json.dumps({"content": "hi \u00e9\n"})) is None


@pytest.mark.parametrize(
    "url",
    [
        "http://evil.example/api/conversations/7/messages",
        "http://127.0.0.1:1.evil.example/api/conversations/7/messages",
        "https://127.0.0.1:1/api/conversations/7/messages",
        "http://127.0.0.1:12/api/conversations/7/messages",
    ],
)
def test_another_origin_never_answers_for_the_chat(url: str) -> None:
    assert wire().match(url, json.dumps({"content": "hi \u00e9\n"})) is None


def test_carries_wants_the_text_as_a_whole_json_string() -> None:
    text = 'say "x"\n'
    assert carries(json.dumps({"a": text}), text)
    assert carries(json.dumps({"a": text.strip()}), text)
    assert carries(text, text)
    assert not carries(json.dumps({"a": f"Write a title for: {text}"}), text)
    assert not carries(json.dumps({"a": "say"}), text)


def test_a_later_stream_is_another_reading_not_the_reply() -> None:
    tapped, stream = wire(), load("demo").streams[0]
    for content in ("first", "second"):
        opened = tapped.open("cdp", stream)
        tapped.feed("cdp", opened, REPLY.replace("hello", content) + DONE)
    assert tapped.captures() == [Capture("cdp", "first"), Capture("cdp", "second")]


def test_deltas_before_a_listener_are_kept_for_it() -> None:
    tapped, heard = wire(), list[str]()
    stream = tapped.open("cdp", load("demo").streams[0])
    tapped.feed("cdp", stream, REPLY)
    tapped.listen(heard.append)
    tapped.feed("cdp", stream, REPLY)
    assert heard == ["hello", "hello"]


def test_half_of_a_second_source_is_no_capture() -> None:
    tapped = wire()
    sources: tuple[Tapped, Tapped] = ("cdp", "tee")
    for source in sources:
        stream = tapped.open(source, load("demo").streams[0])
        tapped.feed(source, stream, REPLY)
    main = tapped.main("cdp")
    assert main is not None
    tapped.feed("cdp", main, DONE)
    assert tapped.over
    assert [capture.source for capture in tapped.captures()] == ["cdp"]


def test_a_stream_that_broke_off_is_over_and_no_capture() -> None:
    tapped = wire()
    stream = tapped.open("cdp", load("demo").streams[0])
    tapped.feed("cdp", stream, REPLY)
    tapped.end(stream, "net::ERR_INCOMPLETE_CHUNKED_ENCODING")
    assert tapped.over
    assert tapped.captures() == []
