"""One client: its messages answered in order, its workspace's events sent in order, its live text coalesced."""

from __future__ import annotations

import asyncio
import logging

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from bridge.errors import TabferryError
from bridge.journal import Subscription
from bridge.relay import frames
from bridge.relay.deltas import LiveTexts, Watcher
from bridge.relay.desk import Desk, Seat
from bridge.relay.errors import FORBIDDEN, INTERNAL_ERROR, INVALID_REQUEST, NOT_INITIALIZED, RelayError, as_relay_error
from bridge.relay.limits import DELTA_INTERVAL_S
from bridge.relay.messages import InitializeParams, Result, ShutdownResult
from bridge.relay.methods import METHODS

log = logging.getLogger(__name__)

TASK_OVER = frozenset({"session.task_done", "session.task_failed", "session.task_cancelled"})
"""Event types that end a task."""

TURN_OVER = TASK_OVER | {"reply.done"}
"""Event types after which a session's live text is settled."""


class Connection:
    """`run()` until the client or the bridge goes. Nothing is queued per client beyond the journal's own bound: who
    does not read holds only itself back, and is cut off after `send_timeout` seconds."""

    def __init__(self, socket: ServerConnection, seat: Seat, desk: Desk, texts: LiveTexts, send_timeout: float) -> None:
        self._socket = socket
        self._seat = seat
        self._desk = desk
        self._texts = texts
        self._send_timeout = send_timeout
        self._subscription: Subscription | None = None
        self._initialized = False
        self._pumps: list[asyncio.Task[None]] = []

    async def run(self) -> None:
        try:
            async for frame in self._socket:
                await self._answer(frame)
        except ConnectionClosed:
            pass
        finally:
            for pump in self._pumps:
                pump.cancel()
            await asyncio.gather(*self._pumps, return_exceptions=True)
            if self._subscription is not None:
                self._subscription.close()

    async def _answer(self, frame: str | bytes) -> None:
        identifier: frames.RequestId = None
        try:
            message = frames.decode(frame)
            identifier = frames.request_id(message)
            result = await self._handle(frames.parse_request(message))
        except TabferryError as error:
            await self._send(frames.error_frame(identifier, as_relay_error(error)))
        except Exception:
            log.exception("a request failed inside")
            inside = RelayError(INTERNAL_ERROR, "The bridge failed inside; its log says where.")
            await self._send(frames.error_frame(identifier, inside))
        else:
            await self._send(frames.result_frame(identifier, result.model_dump(mode="json")))
            self._after(result)

    async def _handle(self, request: frames.Request) -> Result:
        params = frames.parse_params(request)
        if self._seat.role not in METHODS[request.method].roles:
            raise RelayError(FORBIDDEN, f"A {self._seat.role} may not call {request.method}.")
        if isinstance(params, InitializeParams):
            return await self._initialize(params)
        if not self._initialized:
            raise RelayError(NOT_INITIALIZED, "The first message of a connection is initialize.")
        return await self._desk.serve(self._seat, params)

    async def _initialize(self, params: InitializeParams) -> Result:
        if self._initialized:
            raise RelayError(INVALID_REQUEST, "This connection is initialized already.")
        result, self._subscription = await self._desk.initialize(self._seat, params)
        self._initialized = True
        return result

    def _after(self, result: Result) -> None:
        """What must follow an answer, never precede it."""
        if isinstance(result, ShutdownResult):
            self._desk.shutdown.set()
        if self._subscription is not None and not self._pumps and self._seat.workspace is not None:
            wake = asyncio.Event()
            watcher = self._texts.watch(self._seat.workspace, wake.set)
            events = self._pump_events(self._subscription, watcher)
            self._pumps = [asyncio.create_task(events), asyncio.create_task(self._pump_deltas(watcher, wake))]

    async def _pump_events(self, subscription: Subscription, watcher: Watcher) -> None:
        try:
            async for event in subscription:
                if event.type in TURN_OVER:
                    await self._send_deltas(watcher, event.session)
                await self._send(frames.notification_frame("event", event.as_dict()))
        except TabferryError as error:
            log.error("the events of a connection could not be read: %s", error)
            await self._socket.close(1011, "the journal could not be read")
        except ConnectionClosed:
            pass

    async def _pump_deltas(self, watcher: Watcher, wake: asyncio.Event) -> None:
        try:
            while True:
                await wake.wait()
                wake.clear()
                await self._send_deltas(watcher)
                await asyncio.sleep(DELTA_INTERVAL_S)
        except ConnectionClosed:
            pass
        finally:
            watcher.close()

    async def _send_deltas(self, watcher: Watcher, session: str | None = None) -> None:
        for delta in watcher.take(session):
            await self._send(frames.notification_frame("delta", delta))

    async def _send(self, frame: str) -> None:
        """Send, or cut the client off: it takes nothing, and must not hold memory or others."""
        try:
            async with asyncio.timeout(self._send_timeout):
                await self._socket.send(frame)
        except TimeoutError:
            log.info("a client that reads nothing was cut off")
            self._socket.transport.abort()
