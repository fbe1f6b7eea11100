"""The checks before a connection is let in: a pure function of the request's headers (no I/O)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bridge.relay.tokens import Grant

SUBPROTOCOL = "tabferry.v1"
_TOKEN_PREFIX = "token."
_BEARER = "Bearer "
_SEPARATOR = re.compile(r"[ \t]*,[ \t]*")

Headers = Mapping[str, Sequence[str]]
"""Lower-case name → every value, in order."""


@dataclass(frozen=True, slots=True)
class Page:
    """Not a websocket: the inspector page is asked for."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP status and one sentence that repeats nothing of the request."""

    status: int
    sentence: str


Decision = Grant | Page | Refusal


def decide(headers: Headers, path: str, port: int, admit: Callable[[bytes], Grant | None]) -> Decision:
    """Host, then Origin, then token, then path; the first that fails answers 421, 403, 401 or 404.

    `admit` turns a secret into what it opens. The page itself holds no secret, so it needs no token.
    """
    refusal = _check_host(headers, port) or _check_origin(headers)
    if refusal:
        return refusal
    if "upgrade" not in headers:
        return Page() if path == "/" else Refusal(404, "There is only one page here, at /.")
    secret = _credential(headers)
    grant = admit(secret) if secret and path == "/" else None
    if grant is None:
        known = path == "/" or not secret
        return Refusal(401, "A valid token is needed.") if known else Refusal(404, "The relay is at /.")
    return grant


def hosts(port: int) -> tuple[str, str, str]:
    """The only values of Host that name this server; anything else is another name that was pointed at us."""
    return f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"


def _check_host(headers: Headers, port: int) -> Refusal | None:
    values = headers.get("host", ())
    if len(values) != 1 or values[0] not in hosts(port):
        return Refusal(421, "This bridge answers only to its own loopback address.")
    return None


def _check_origin(headers: Headers) -> Refusal | None:
    values = headers.get("origin", ())
    if not values or (len(values) == 1 and values[0] == f"http://{headers['host'][0]}"):
        return None
    return Refusal(403, "Pages of other origins may not connect to this bridge.")


def _credential(headers: Headers) -> bytes | None:
    """The one secret of the request; None when there is none, more than one, or one in a wrong form."""
    bearer = [*headers.get("authorization", ())]
    offers = _offers(headers)
    tokens = [offer for offer in offers if offer.startswith(_TOKEN_PREFIX)]
    if len(bearer) + len(tokens) != 1:
        return None
    if bearer:
        return bearer[0][len(_BEARER) :].encode("latin-1", "replace") if bearer[0].startswith(_BEARER) else None
    if SUBPROTOCOL not in offers:
        return None
    return tokens[0][len(_TOKEN_PREFIX) :].encode("latin-1", "replace")


def _offers(headers: Headers) -> list[str]:
    values = headers.get("sec-websocket-protocol", ())
    return [offer for value in values for offer in _SEPARATOR.split(value)]
