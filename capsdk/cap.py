"""`ctx.cap.call`: requests out, replies in, over one connected socket. Nothing is checked here: the host does that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

from capsdk import errors, wire

HOST_GONE = "the host closed the connection and the outcome of this call is not known; look at the run's ledger"

OPEN_SESSION = "browser.openSession"
CLOSE_SESSION = "browser.closeSession"
_COUNTED = frozenset((OPEN_SESSION, CLOSE_SESSION))

READ_BYTES = 256 * wire.KIB

Notice = Callable[[str, dict[str, Any]], None]


class Caller(Protocol):
    """What the comforts are built on: the real `Cap`, or `capsdk.fake.FakeCap` in an author's tests."""

    async def call(self, name: str, args: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The result object of the entry `name`; raises the `capsdk.errors` exception of a refusal."""
        ...  # pragma: no cover


class Link(asyncio.BufferedProtocol):
    """The connection's end inside the worker: matches replies to calls and passes notices on.

    `lost` is done when the host is gone or the link was closed here; from then on every call fails.
    """

    def __init__(self, on_notice: Notice, *, max_line_bytes: int = wire.MAX_HOST_LINE_BYTES) -> None:
        self.waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._on_notice = on_notice
        self._splitter = wire.LineSplitter(max_line_bytes)
        self._buffer = memoryview(bytearray(READ_BYTES))
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by asyncio once the socket is in its hands."""
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by asyncio once: the host left, the socket broke, or `close` has flushed."""
        self._transport = None
        if not self.lost.done():
            self.lost.set_result(None)
        waiting, self.waiting = self.waiting, {}
        for future in waiting.values():
            if not future.done():
                future.set_exception(errors.AbortedError("OUTCOME_UNKNOWN", HOST_GONE))

    def get_buffer(self, sizehint: int) -> memoryview:
        """Called by asyncio before it reads: one buffer for all reads, as a fresh one costs a mmap and munmap each."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Called by asyncio with what arrived; the hot half of a call, so no task and no copy more than needed."""
        for line in self._splitter.feed(bytes(self._buffer[:nbytes])):
            if isinstance(line, bytes):
                self._take(line)
            else:  # nobody knows whose reply it was, so no call can be trusted to end
                self.abort()

    def write(self, line: bytes) -> None:
        """Send one encoded line. Raises AbortedError when the host is gone."""
        if self._transport is None:
            raise errors.AbortedError("OUTCOME_UNKNOWN", HOST_GONE)
        self._transport.write(line)

    def abort(self) -> None:
        """Drop the connection with whatever is still to be sent; twice is fine."""
        if self._transport is not None:
            self._transport.abort()

    async def close(self, timeout_s: float) -> None:
        """Send what is still to be sent, then close; after `timeout_s` close anyway. Twice is fine."""
        if self._transport is not None:
            self._transport.close()
        await asyncio.wait({self.lost}, timeout=timeout_s)
        self.abort()

    def _take(self, line: bytes) -> None:
        try:
            message = wire.decode(line)
        except (ValueError, RecursionError):
            self.abort()  # the host writes no such line; dropping it would leave its call waiting for ever
            return
        if not isinstance(message, dict):
            return
        future = self.waiting.pop(message["id"], None) if isinstance(message.get("id"), int) else None
        if future is not None:
            _settle(future, message)
        elif isinstance(message.get("notice"), str):
            self._on_notice(message["notice"], _object(message.get("data")))


class Cap:
    """`ctx.cap`: the only thing a script has. Several calls may be under way; replies come in any order."""

    def __init__(self, link: Link, *, max_line_bytes: int = wire.MAX_LINE_BYTES) -> None:
        self._link = link
        self._max_line_bytes = max_line_bytes
        self._new_future = asyncio.get_running_loop().create_future
        self._last_id = 0
        self.opened = 0
        self.closed = 0

    async def call(self, name: str, args: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Call the entry `name` and return its result object.

        Raises the `capsdk.errors` exception that the host answered with, `InvalidArgumentError` for arguments that
        cannot be sent, `AbortedError` when the host is gone. Cancelling the awaiting task cancels the call.
        """
        future = self.post(name, args)
        call_id = self._last_id
        try:
            return await future
        except asyncio.CancelledError:
            link = self._link
            if link.waiting.pop(call_id, None) is not None:
                link.write(wire.encode({"cancel": call_id}))
            raise

    def post(self, name: str, args: Mapping[str, Any] | None = None) -> asyncio.Future[dict[str, Any]]:
        """Send a call off at once, whether or not the event loop has a turn soon; raises and answers as `call` does."""
        self._last_id = call_id = self._last_id + 1
        line = self._line(call_id, name, args)
        link = self._link
        link.write(line)
        if name in _COUNTED:
            self._count(name)
        future: asyncio.Future[dict[str, Any]] = self._new_future()
        link.waiting[call_id] = future
        return future

    def _count(self, name: str) -> None:
        """How many sessions were asked for and given back: at the end of a run it says whether to look for others."""
        if name == OPEN_SESSION:
            self.opened += 1
        else:
            self.closed += 1

    def _line(self, call_id: int, name: str, args: Mapping[str, Any] | None) -> bytes:
        try:
            line = wire.encode({"id": call_id, "method": name, "args": {} if args is None else args})
        except (TypeError, ValueError, RecursionError) as problem:
            message = f"the arguments of {name} are not JSON: {problem}; use str, int, float, bool, None, list and dict"
            raise errors.InvalidArgumentError("BAD_ARGUMENTS", message) from None
        if len(line) > self._max_line_bytes + 1:
            message = f"{name} takes {len(line) - 1} bytes and the limit is {self._max_line_bytes}; send less at once"
            raise errors.InvalidArgumentError(
                "LINE_TOO_LONG", message, limit_bytes=self._max_line_bytes, actual_bytes=len(line) - 1
            )
        return line


def _settle(future: asyncio.Future[dict[str, Any]], reply: dict[str, Any]) -> None:
    if future.done():
        return
    if reply.get("ok") is True:
        future.set_result(_object(reply.get("result")))
    else:
        future.set_exception(errors.from_wire(_object(reply.get("error"))))


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
