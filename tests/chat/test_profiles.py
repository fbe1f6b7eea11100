from __future__ import annotations

import pytest

from bridge.chat import profiles
from bridge.errors import UsageError

MINIMAL = """
version = 1
name = "x"
title = "X"
history = "none"
[composer]
find = ["textarea"]
[messages]
user = [".u"]
assistant = [".a"]
"""


def test_every_shipped_profile_loads_under_its_own_name() -> None:
    assert {"demo", "gradio"} <= set(profiles.names())
    assert all(profiles.load(name).name == name for name in profiles.names())


def test_an_unknown_site_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"Unknown site 'nope'; known sites: demo, gradio"):
        profiles.load("nope")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("version = 2", r"mine\.toml: version: "),
        ("origins = 3", r"mine\.toml: origins: "),
        ("colour = 'red'", r"mine\.toml: colour: Extra inputs"),
        ("version = ", r"mine\.toml is not valid TOML"),
    ],
)
def test_a_bad_profile_is_refused_in_one_sentence(change: str, sentence: str) -> None:
    key = change.split(" ")[0]
    kept = "\n".join(line for line in MINIMAL.splitlines() if not line.startswith(f"{key} "))
    with pytest.raises(UsageError, match=sentence):
        profiles.parse_profile(f"{change}\n{kept}", "mine.toml")


def test_an_unknown_decoder_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown decoder 'magic'; known: openai, gradio"):
        profiles.parse_profile(MINIMAL + '[[streams]]\nurl = "*"\ndecoder = "magic"\n', "mine.toml")


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://127.0.0.1:7860/?x=1", "http://127.0.0.1:7860"),
        ("https://Chat.Example/c/1", "https://chat.example"),
        ("https://chat.example:443", "https://chat.example"),
        ("http://[::1]:80/", "http://[::1]"),
    ],
)
def test_origins_are_written_as_a_browser_writes_them(url: str, origin: str) -> None:
    assert profiles.origin_of(url) == origin


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "javascript:alert(1)", "chat.example", "http://", "http://x:99999/", ""]
)
def test_only_web_addresses_are_chat_pages(url: str) -> None:
    with pytest.raises(UsageError):
        profiles.origin_of(url)


def test_origin_is_that_of_the_profile_or_of_the_chosen_url() -> None:
    own = profiles.parse_profile('origins = ["https://chat.example"]\n' + MINIMAL, "x")
    assert own.origins_for("https://elsewhere.example") == ("https://chat.example",)
    free = profiles.parse_profile(MINIMAL, "x")
    assert free.origins_for("http://127.0.0.1:1/chat") == ("http://127.0.0.1:1",)
