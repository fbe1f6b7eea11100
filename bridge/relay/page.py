"""The inspector page: one static file, whose policy allows its own script and style and nothing else."""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from importlib.resources import files

from websockets.datastructures import Headers
from websockets.http11 import Response


@functools.cache
def html() -> bytes:
    return files("bridge.relay").joinpath("inspector.html").read_bytes()


def policy(host: str) -> str:
    """The Content-Security-Policy for the page served as `host`: by hash, so that injected code never runs."""
    text = html().decode("utf-8")
    script, style = (_hash(text, tag) for tag in ("script", "style"))
    return (
        f"default-src 'none'; script-src '{script}'; style-src '{style}'; connect-src ws://{host}/;"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    )


def response(host: str) -> Response:
    """The page as an HTTP answer. `host` is the Host header, already checked."""
    return answer(200, "OK", html(), "text/html; charset=utf-8", {"Content-Security-Policy": policy(host)})


def answer(status: int, phrase: str, body: bytes, kind: str, more: dict[str, str] | None = None) -> Response:
    """Any HTTP answer of the relay: never cached, never sniffed, never framed, and the connection ends."""
    headers = Headers(
        {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Connection": "close",
            **(more or {}),
        }
    )
    return Response(status, phrase, headers, body)


def _hash(text: str, tag: str) -> str:
    match = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    assert match is not None
    return "sha256-" + base64.b64encode(hashlib.sha256(match[1].encode("utf-8")).digest()).decode("ascii")
