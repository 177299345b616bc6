"""One conversation with Chromium: commands out, replies matched by id, events to the session they belong to."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from host.cdp.envelope import decode, encode, loads, read_edges
from host.cdp.framing import FrameSplitter
from host.core.limits import MIB

log = logging.getLogger("capsdk.cdp")

ENVELOPE_BYTES = 4096  # what surrounds a result: id, session, keys
EventSink = Callable[[str, msgspec.Raw], None]


class Waiting(Protocol):
    """Somebody who waits for a reply. Exactly one of the methods is called, once, from the read callback."""

    max_bytes: int

    def answered(self, result: bytes) -> None:
        """Chromium's `result`, at most `max_bytes` long."""

    def refused(self, error: bytes) -> None:
        """Chromium's `error` object."""

    def too_large(self, size_bytes: int) -> None:
        """The result had this size and was thrown away."""

    def gone(self) -> None:
        """The connection ended before the reply."""


class CdpFailure(Exception):
    """Chromium's own refusal of one of the host's commands."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message


class ConnectionGone(Exception):
    """The connection ended; Chromium is gone or going."""


class Connection:
    """Commands and events over a byte transport; transports call `feed` and `lost`, and offer `write`.

    `on_event` gets events of sessions without a sink, the browser's own under the session "".
    `on_held(session, seconds)` tells how long a discarded message held the pipe.
    """

    def __init__(self, write: Callable[[bytes], None], *, limit_bytes: int = MIB) -> None:
        self._write = write
        self._limit_bytes = limit_bytes
        self._number = 0
        self._waiting: dict[int, Waiting] = {}
        self._discard_since = 0.0
        self.sinks: dict[str, EventSink] = {}
        self.on_event: Callable[[str, str, msgspec.Raw], None] = lambda session, method, params: None
        self.on_oversize_event: Callable[[str, str, int], None] = lambda session, method, size_bytes: None
        self.on_held: Callable[[str, float], None] = lambda session, seconds: None
        self.on_lost: Callable[[], None] = lambda: None
        self.closed = False
        self._splitter = FrameSplitter(
            self._frame,
            self._oversize,
            limit_bytes=limit_bytes + ENVELOPE_BYTES,
            limit_of=self._limit_of,
            on_discard=self._discard,
        )
        self.feed = self._splitter.feed

    def post(self, method: str, params: bytes, session: str, waiting: Waiting) -> int:
        """Send one command; `waiting` hears the outcome. Raises ConnectionGone when nothing can be sent."""
        if self.closed:
            raise ConnectionGone
        self._number = number = self._number + 1
        self._waiting[number] = waiting
        self._write(encode(number, method, params, session))
        return number

    def forget(self, number: int) -> None:
        """Nobody waits for this reply any more; it is dropped when it comes."""
        self._waiting.pop(number, None)

    async def call(
        self, method: str, params: dict[str, Any] | None = None, session: str = "", *, timeout_s: float
    ) -> dict[str, Any]:
        """One command of the host's own, its result decoded. Raises CdpFailure, ConnectionGone or TimeoutError."""
        future = self.start(method, params, session)
        async with asyncio.timeout(timeout_s):
            return await future

    def start(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        session: str = "",
        *,
        limit_bytes: int | None = None,
    ) -> asyncio.Future[dict[str, Any]]:
        """Send now, and give a future of the decoded result: for commands that go out together.

        `limit_bytes` lets the reply be longer than usual.
        """
        waiting = FutureReply(limit_bytes or self._limit_bytes)
        try:
            self.post(method, msgspec.json.encode(params or {}), session, waiting)
        except ConnectionGone:
            waiting.gone()
        return waiting.future

    def lost(self) -> None:
        """The transport ended: everybody who waits is told, once."""
        if self.closed:
            return
        self.closed = True
        waiting, self._waiting = list(self._waiting.values()), {}
        for one in waiting:
            one.gone()
        self.sinks.clear()
        self.on_lost()

    def _frame(self, frame: bytes) -> None:
        try:
            self._message(frame)
        except Exception:
            # A receiver's fault costs one message: the pipe carries all tabs, and a page may have chosen the bytes.
            log.exception("a message of %d bytes could not be handled", len(frame))

    def _message(self, frame: bytes) -> None:
        message = decode(frame)
        if message is None:
            log.warning("a frame of %d bytes could not be read", len(frame))
        elif message.id:
            # A reply to a CDP session that has just died carries no sessionId: the id alone decides.
            waiting = self._waiting.pop(message.id, None)
            if waiting is not None:
                self._reply(waiting, bytes(message.result), bytes(message.error))
        elif message.method:
            sink = self.sinks.get(message.sessionId)
            if sink is not None:
                sink(message.method, message.params)
            else:
                self.on_event(message.sessionId, message.method, message.params)
        else:
            log.warning("Chromium complained without an id: %s", bytes(message.error)[:200])

    @staticmethod
    def _reply(waiting: Waiting, result: bytes, error: bytes) -> None:
        if error:
            waiting.refused(error)
        elif len(result) > waiting.max_bytes:
            waiting.too_large(len(result))
        else:
            waiting.answered(result)

    def _limit_of(self, head: bytes) -> int:
        edges = read_edges(head, b"}", 1 << 62)
        waiting = self._waiting.get(edges.id) if edges else None
        return waiting.max_bytes + ENVELOPE_BYTES if waiting else 0

    def _discard(self, head: bytes) -> None:
        self._discard_since = time.monotonic()

    def _oversize(self, head: bytes, tail: bytes, size_bytes: int) -> None:
        held_s = time.monotonic() - self._discard_since
        edges = read_edges(head, tail, size_bytes)
        if edges is None:
            log.warning("an unreadable frame of %d bytes was thrown away", size_bytes)
            return
        if edges.id:
            waiting = self._waiting.pop(edges.id, None)
            if waiting is not None:
                waiting.too_large(edges.payload_bytes)
        else:
            self.on_oversize_event(edges.session, edges.method, edges.payload_bytes)
        if edges.session:
            self.on_held(edges.session, held_s)


class FutureReply:
    """A reply as a future of the decoded result."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

    def answered(self, result: bytes) -> None:
        if not self.future.done():
            self.future.set_result(loads(result))

    def refused(self, error: bytes) -> None:
        self._fail(failure(error))

    def too_large(self, size_bytes: int) -> None:
        self._fail(CdpFailure(0, f"a reply of {size_bytes} bytes is over the limit"))

    def gone(self) -> None:
        self._fail(ConnectionGone())

    def _fail(self, problem: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(problem)
            self.future.exception()  # a reply nobody awaits any more is no fault of the loop


class CdpError(msgspec.Struct):
    """Chromium's error object, tolerant of what else it holds."""

    code: int = 0
    message: str = ""


def failure(error: bytes) -> CdpFailure:
    """The exception for Chromium's `error` bytes."""
    try:
        known = msgspec.json.decode(error, type=CdpError)
    except msgspec.DecodeError:
        return CdpFailure(0, "an error that cannot be read")
    return CdpFailure(known.code, known.message)
