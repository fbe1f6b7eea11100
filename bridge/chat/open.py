"""From a site's name or a URL to a chat that can be driven."""

from __future__ import annotations

from pathlib import Path

from bridge.chat import profiles
from bridge.chat.driver import BrowserChat
from bridge.chat.patience import Patience
from bridge.errors import UsageError

DEMO = "demo"


async def open_chat(
    *,
    site: str = DEMO,
    url: str | None = None,
    headless: bool = True,
    profile_dir: Path,
    patience: Patience | None = None,
) -> BrowserChat:
    """A chat on `site`, at `url` or the profile's own address, in a browser on `profile_dir`; call its `open` next.

    The site "demo" without a `url` starts the embedded page too, and stops it with the chat.
    Raises `UsageError` for an unknown site or a missing URL, `ChatError` when the browser does not start.
    """
    profile = profiles.load(site)
    if url is None and site == DEMO:
        return await _open_demo(profile, headless=headless, profile_dir=profile_dir, patience=patience)
    address = url or profile.url
    if address is None:
        raise UsageError(f"The site {site!r} has no address of its own; give one with --url.")
    profiles.origin_of(address)
    return await BrowserChat.launch(profile, address, profile_dir=profile_dir, headless=headless, patience=patience)


async def _open_demo(
    profile: profiles.SiteProfile, *, headless: bool, profile_dir: Path, patience: Patience | None
) -> BrowserChat:
    from bridge.demo import DemoServer

    server = await DemoServer().__aenter__()
    try:
        chat = await BrowserChat.launch(
            profile, server.url, profile_dir=profile_dir, headless=headless, patience=patience
        )
    except BaseException:
        await server.__aexit__(None, None, None)
        raise
    chat.on_close(lambda: server.__aexit__(None, None, None))
    return chat
