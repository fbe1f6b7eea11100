"""The two network taps: CDP from outside the page, and the tee inside it as a second opinion."""

from __future__ import annotations

import asyncio
import base64
import codecs
import json
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from bridge.chat.channel import Channel
from bridge.chat.profiles import SiteProfile
from bridge.chat.wire import Wire, WireStream
from bridge.errors import ChatError

TEE_BINDING = "__tabferryTee"
BODY_BYTES = 1 << 20
"""Of a request's body, to find our message in it: twenty times what any page takes in one message."""

READABLE = {"Fetch", "XHR", "EventSource"}
"""The kinds of request by which a page asks for a reply."""


@dataclass(slots=True)
class _Response:
    """A response that is being tapped. Chunks wait in `early` until the browser has told what it held before us."""

    stream: WireStream
    wire: Wire
    decode: codecs.IncrementalDecoder = field(default_factory=lambda: codecs.getincrementaldecoder("utf-8")("strict"))
    streaming: bool = False
    early: list[bytes] = field(default_factory=list)
    finished: bool = False
    failed: str = ""

    def take(self, data: bytes) -> None:
        try:
            self.wire.feed("cdp", self.stream, self.decode.decode(data))
        except UnicodeDecodeError:
            self.failed = self.failed or "it is not UTF-8"
            self.wire.end(self.stream, self.failed)


class Taps:
    """`arm` before a message is submitted; what is asked for from then on is read into the `Wire` it returns."""

    def __init__(self, channel: Channel, profile: SiteProfile, origins: tuple[str, ...], frame: str) -> None:
        self._channel, self._profile, self._origins = channel, profile, origins
        self._frame = frame
        self._wire: Wire | None = None
        self._responses: dict[str, _Response] = {}
        self._teed: dict[str, WireStream] = {}
        self._tee_seen: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    async def install(cls, channel: Channel, profile: SiteProfile, origins: tuple[str, ...]) -> Taps:
        tree = await channel.send("Page.getFrameTree")
        taps = cls(channel, profile, origins, tree["frameTree"]["frame"]["id"])
        channel.on("Network.requestWillBeSent", taps._requested)
        channel.on("Network.responseReceived", taps._responded)
        channel.on("Network.dataReceived", taps._received)
        channel.on("Network.loadingFinished", taps._finished)
        channel.on("Network.loadingFailed", taps._failed)
        channel.on("Runtime.bindingCalled", taps._tee_called)
        # A page may post its whole history with every request: bodies are asked for only where one is looked at.
        bodies = BODY_BYTES if any(stream.body for stream in profile.streams) else 1
        await channel.send("Network.enable", maxPostDataSize=bodies)
        await channel.send("Runtime.addBinding", name=TEE_BINDING)
        source = (files("bridge.chat") / "tee.js").read_text("utf-8")
        await channel.send("Page.addScriptToEvaluateOnNewDocument", source=f"({source})({json.dumps(TEE_BINDING)})")
        return taps

    def arm(self, text: str) -> Wire:
        self._wire = Wire(self._profile, text, self._origins)
        self._responses.clear()
        self._teed.clear()
        return self._wire

    def _requested(self, event: dict[str, Any]) -> None:
        request = event["request"]
        old = self._responses.pop(event["requestId"], None)
        if old:  # a redirect: what comes now is the answer of another address
            old.wire.end(old.stream, "redirected")
        if self._wire is None or event.get("type") not in READABLE or event.get("frameId") != self._frame:
            return
        stream = self._wire.match(request["url"], request.get("postData"))
        if stream:
            response = _Response(self._wire.open("cdp", stream), self._wire)
            self._responses[event["requestId"]] = response
            # Asked for before the response is there: asked for later, a short reply is already over.
            self._spawn(self._read(event["requestId"], response))

    def _responded(self, event: dict[str, Any]) -> None:
        response = self._responses.get(event["requestId"])
        status = event["response"]["status"]
        if response and status >= 400:
            response.failed = f"HTTP {status}"

    async def _read(self, request_id: str, response: _Response) -> None:
        try:
            answer = await self._channel.send("Network.streamResourceContent", requestId=request_id)
        except ChatError:
            return  # over before the browser could hand out its stream: `_close` reads its body instead
        if response.stream.ended:
            return
        response.take(base64.b64decode(answer.get("bufferedData", "")))
        for chunk in response.early:
            response.take(chunk)
        response.early.clear()
        response.streaming = True
        if response.finished:
            response.wire.end(response.stream, response.failed)

    async def _read_whole(self, request_id: str, response: _Response) -> None:
        try:
            answer = await self._channel.send("Network.getResponseBody", requestId=request_id)
        except ChatError as error:
            answer = {"body": "", "base64Encoded": False}
            response.failed = response.failed or str(error)
        if not response.stream.ended:
            body: str = answer["body"]
            response.take(base64.b64decode(body) if answer["base64Encoded"] else body.encode("utf-8", "replace"))
            response.wire.end(response.stream, response.failed)

    def _received(self, event: dict[str, Any]) -> None:
        response = self._responses.get(event["requestId"])
        data = event.get("data")
        if response is None or not data:
            return
        if response.streaming:
            response.take(base64.b64decode(data))
        else:
            response.early.append(base64.b64decode(data))

    def _finished(self, event: dict[str, Any]) -> None:
        self._close(event["requestId"], "")

    def _failed(self, event: dict[str, Any]) -> None:
        self._close(event["requestId"], "stopped" if event.get("canceled") else event.get("errorText", "failed"))

    def _close(self, request_id: str, failed: str) -> None:
        response = self._responses.get(request_id)
        if response is None:
            return
        response.failed = response.failed or failed
        response.finished = True
        if response.streaming:
            response.wire.end(response.stream, response.failed)
        else:
            self._spawn(self._read_whole(request_id, response))

    def _tee_called(self, event: dict[str, Any]) -> None:
        if event["name"] != TEE_BINDING or self._wire is None:
            return
        try:
            said = json.loads(event["payload"])
            key, url, chunk, end = str(said["id"]), str(said["url"]), str(said["chunk"]), bool(said["end"])
        except (ValueError, LookupError, TypeError):
            return  # the page's own script called the binding: it proves nothing, so it is not listened to
        stream = self._tee_stream(key, url)
        if stream:
            self._wire.feed("tee", stream, chunk)
            if end:
                self._wire.end(stream)

    def _tee_stream(self, key: str, url: str) -> WireStream | None:
        if key not in self._teed and key not in self._tee_seen and self._wire:
            self._tee_seen.add(key)
            wanted = self._wire.match(url, None)
            if wanted:
                self._teed[key] = self._wire.open("tee", wanted)
        return self._teed.get(key)

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
