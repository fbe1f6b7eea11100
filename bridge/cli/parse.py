"""`tabferry parse`: what a reply means to the bridge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from bridge.protocol import ParsedReply, ResponseParser, StreamEvent

STREAM_CHUNK = 64
"""Characters that `--stream` feeds at a time: about what a chat page receives at once."""


def parse(
    file: Annotated[Path, typer.Argument(help="A file with one reply in UTF-8; - reads standard input.")] = Path("-"),
    dialect: Annotated[str, typer.Option(help="The way in which calls are written.")] = "tool_call",
    stream: Annotated[bool, typer.Option("--stream", help="Feed it in pieces; print what each makes certain.")] = False,
    multi: Annotated[bool, typer.Option("--multi", help="Take every call of the reply, not only the first.")] = False,
    json: Annotated[bool, typer.Option("--json", help="JSON Lines; parse prints nothing else anyway.")] = False,
) -> None:
    """Parse one model reply into a JSON object: kind, calls, text, error, diagnostics.

    Example: tabferry parse reply.txt

    With --stream, a line of JSON for each event comes first.
    """
    from bridge.cli.output import fail, print_json
    from bridge.errors import TabferryError
    from bridge.protocol import ResponseParser

    try:
        parser = ResponseParser(dialect, multi=multi)
        text = _read(file)
    except TabferryError as error:
        fail(error)
    reply = _replay(parser, text) if stream else parser.parse(text)
    print_json(_reply(reply))


def _read(file: Path) -> str:
    import sys

    from bridge.errors import UsageError

    try:
        raw = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        return raw.decode("utf-8")
    except OSError as error:
        raise UsageError(f"Cannot read the reply from {file}: {error.strerror or error}.") from error
    except ValueError as error:  # a NUL in the path, or bytes that are not UTF-8
        place = f"byte {error.start}" if isinstance(error, UnicodeDecodeError) else "its name"
        raise UsageError(f"The reply in {file} is not UTF-8 text ({place}): save it as UTF-8.") from error


def _replay(parser: ResponseParser, text: str) -> ParsedReply:
    from bridge.cli.output import print_json

    stream = parser.stream()
    for start in range(0, len(text), STREAM_CHUNK):
        for event in stream.feed(text[start : start + STREAM_CHUNK]):
            print_json(_event(event))
    return stream.close()


def _event(event: StreamEvent) -> dict[str, Any]:
    from bridge.protocol import TextDelta

    if isinstance(event, TextDelta):
        return {"event": "text", "text": event.text}
    return {"event": "call", "call": _plain(event.call)}


def _reply(reply: ParsedReply) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "kind": reply.kind,
        "calls": [_plain(call) for call in reply.calls],
        "text": reply.text,
        "error": reply.error,
        "diagnostics": [_plain(found) for found in reply.diagnostics],
    }
    extra = {"thinking": reply.thinking, "rest": reply.rest}
    return shown | {key: value for key, value in extra.items() if value}


def _plain(value: Any) -> dict[str, Any]:
    from dataclasses import fields

    return {each.name: getattr(value, each.name) for each in fields(value)}
