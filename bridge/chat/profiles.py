"""Site profiles: what a chat page looks like, as data (TOML), never as code."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bridge.chat.decoders import DECODERS
from bridge.errors import UsageError

Selectors = tuple[str, ...]
"""CSS selectors in order of preference: the first that finds something visible counts."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Composer(_Part):
    """Where text is typed, and whether Enter or the send button submits it."""

    find: Selectors = Field(min_length=1)
    submit: Literal["enter", "click"] = "enter"


class Controls(_Part):
    """`send` is on the page when it takes a message, `stop` while it writes; `login` and `alert` tell the user."""

    send: Selectors = ()
    stop: Selectors = ()
    login: Selectors = ()
    alert: Selectors = ()


class Messages(_Part):
    """The bubbles. `id` is the attribute that names a message for good, where the page has one."""

    user: Selectors = Field(min_length=1)
    assistant: Selectors = Field(min_length=1)
    id: str | None = None


class Stream(_Part):
    """A response that carries replies: glob over URLs, and the decoder that reads it. `body`: the request itself must
    carry our message, so that nobody else's reply is taken for ours."""

    url: str
    decoder: str
    body: bool = False


class Limits(_Part):
    """What the page takes: `inline_chars` characters in one message."""

    inline_chars: int = Field(default=50_000, gt=0)


class SiteProfile(_Part):
    """One chat site. `origins` are the only ones that we type into; empty means the origin of the URL the user gave."""

    version: Literal[1]
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")
    title: str
    url: str | None = None
    origins: tuple[str, ...] = ()
    history: Literal["server", "browser", "none"]
    composer: Composer
    controls: Controls = Controls()
    messages: Messages
    streams: tuple[Stream, ...] = ()
    limits: Limits = Limits()

    def origins_for(self, start_url: str) -> tuple[str, ...]:
        """The origins that may be typed into and read, given the URL that the user chose."""
        return self.origins or (origin_of(start_url),)


def origin_of(url: str) -> str:
    """`scheme://host[:port]` of `url` as a browser writes it; raises `UsageError` for anything but http and https."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise UsageError(f"{url!r} is not a URL; give one like http://127.0.0.1:7860.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{url!r} is not the address of a chat page; give one that starts with http:// or https://.")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    default = 443 if parts.scheme == "https" else 80
    return f"{parts.scheme}://{host}" + (f":{port}" if port and port != default else "")


def parse_profile(text: str, where: str) -> SiteProfile:
    """A profile from TOML; raises `UsageError` naming `where` and the first thing that is wrong."""
    try:
        profile = SiteProfile.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"Site profile {where} is not valid TOML: {error}.") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"Site profile {where}: {place}: {first['msg']}.") from None
    for stream in profile.streams:
        if stream.decoder not in DECODERS:
            raise UsageError(f"Site profile {where}: unknown decoder {stream.decoder!r}; known: {', '.join(DECODERS)}.")
    return profile


@cache
def _shipped() -> dict[str, SiteProfile]:
    folder = files("bridge.chat") / "sites"
    texts = {entry.name: entry.read_text("utf-8") for entry in folder.iterdir() if entry.name.endswith(".toml")}
    profiles = [parse_profile(text, name) for name, text in sorted(texts.items())]
    return {profile.name: profile for profile in profiles}


def names() -> list[str]:
    """The names of the profiles that are shipped."""
    return list(_shipped())


def load(name: str) -> SiteProfile:
    """The profile called `name`; raises `UsageError` that lists the known ones."""
    profile = _shipped().get(name)
    if profile is None:
        raise UsageError(f"Unknown site {name!r}; known sites: {', '.join(names())}.")
    return profile
