"""`tabferry parse`: what a reply means to the bridge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from bridge.protocol import ParsedReply, ResponseParser, StreamEvent, ToolCall

STREAM_CHUNK = 64
"""Characters that `--stream` feeds at a time: about what a chat page receives at once."""


def parse(
    file: Annotated[Path, typer.Argument(help="A file with one reply in UTF-8; - reads standard input.")] = Path("-"),
    dialect: Annotated[str | None, typer.Option(help="The way in which calls are written; tool_call if none.")] = None,
    provider: Annotated[str | None, typer.Option(help="Choose the dialect by the provider of the model.")] = None,
    xml: Annotated[bool, typer.Option("--xml", help="Choose XML whatever the provider.")] = False,
    stream: Annotated[bool, typer.Option("--stream", help="Feed it in pieces; print what each makes certain.")] = False,
    chunk: Annotated[int, typer.Option(min=1, help="Characters a piece, with --stream.")] = STREAM_CHUNK,
    multi: Annotated[bool, typer.Option("--multi", help="Take every call of the reply, not only the first.")] = False,
    json: Annotated[bool, typer.Option("--json", help="JSON Lines only: no picture on standard error.")] = False,
) -> None:
    """Parse one model reply into a JSON object: kind, calls, text, error, diagnostics.

    Example: tabferry parse reply.txt --dialect cogency

    What is wrong with the reply goes to standard error, each place marked with a caret. With --stream, a line of JSON
    for each event comes first.
    """
    from bridge.cli.output import fail, print_json
    from bridge.errors import TabferryError
    from bridge.protocol import ResponseParser

    try:
        parser = ResponseParser(_choose(dialect, provider, xml), multi=multi)
        text = _read(file)
    except TabferryError as error:
        fail(error)
    reply = _replay(parser, text, chunk) if stream else parser.parse(text)
    print_json(_reply(reply))
    if reply.diagnostics and not json:
        _picture(reply, text, "-" if str(file) == "-" else file.name)


def _choose(dialect: str | None, provider: str | None, xml: bool) -> str:
    from bridge.errors import UsageError
    from bridge.protocol import dialects

    by_provider = provider is not None or xml
    if dialect is not None and by_provider:
        raise UsageError("--dialect names the dialect already: leave out --provider and --xml.")
    return dialects.for_provider(provider, xml) if by_provider else dialect or "tool_call"


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


def _replay(parser: ResponseParser, text: str, chunk: int) -> ParsedReply:
    from bridge.cli.output import print_json

    stream = parser.stream()
    for start in range(0, len(text), chunk):
        for event in stream.feed(text[start : start + chunk]):
            print_json(_event(event))
    return stream.close()


def _picture(reply: ParsedReply, text: str, file: str) -> None:
    from bridge.cli.carets import pointed
    from bridge.cli.output import notice

    calls = ", ".join(call.name for call in reply.calls) or "no call"
    notice(f"{reply.kind}: {calls}")
    for found in reply.diagnostics:
        notice(pointed(text, found, file))


def _event(event: StreamEvent) -> dict[str, Any]:
    from bridge.protocol import TextDelta

    if isinstance(event, TextDelta):
        return {"event": "text", "text": event.text}
    return {"event": "call", "call": _call(event.call)}


def _reply(reply: ParsedReply) -> dict[str, Any]:
    from dataclasses import asdict

    shown: dict[str, Any] = {
        "kind": reply.kind,
        "calls": [_call(call) for call in reply.calls],
        "text": reply.text,
        "error": reply.error,
        "diagnostics": [asdict(found) for found in reply.diagnostics],
    }
    extra = {"thinking": reply.thinking, "rest": reply.rest}
    return shown | {key: value for key, value in extra.items() if value}


def _call(call: ToolCall) -> dict[str, Any]:
    """`call` as others see it; how its leaves were written is between the parser and the ToolManager."""
    return {"id": call.id, "name": call.name, "args": call.args, "reasoning": call.reasoning}
