"""The door on standard input and output: one caller, the line wire, nothing else on standard output."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import socket
import stat
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from host.core.grants import Caller
from host.core.limits import Limits
from host.dispatch.dispatcher import Dispatcher
from host.frontends.wire_connection import WireConnection

SETTLE_S = 5.0  # input may end right after the last call, as with `printf … | capsdk stdio`
DRAIN_S = 5.0
BUFFERED_BYTES = 4 * 1024 * 1024  # answers a slow reader may leave lying before no more calls are read


async def serve_stdio(
    dispatcher: Dispatcher, caller: Caller, limits: Limits, *, read_fd: int = 0, write_fd: int = 1
) -> None:
    """Serve one caller until standard input closes or standard output breaks; both descriptors are taken over."""
    output = await Output.open(write_fd)
    source = Input(lambda data: connection.feed(data))
    connection = WireConnection(dispatcher, caller, output.write, limits, on_backlog=source.wait)
    output.on_pause, output.on_resume = partial(connection.hold, True), partial(connection.hold, False)
    try:
        await source.start(read_fd)
        await first(source.ended, output.broken)
        if not output.broken.is_set():
            connection.feed_rest()
            await first_of(connection.settle(SETTLE_S), output.broken.wait())
    finally:
        source.close()
        await connection.end()
        await output.close()


async def first(*events: asyncio.Event) -> None:
    """Wait until one of the events is set."""
    await first_of(*(event.wait() for event in events))


async def first_of(*works: Coroutine[Any, Any, object]) -> None:
    """Run coroutines until one has ended; the others are cancelled and collected."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Input(asyncio.Protocol):
    """Bytes of a descriptor, whatever it is: pipes, sockets and terminals by the loop, files by a thread."""

    def __init__(self, feed: Callable[[bytes], None]) -> None:
        self._feed = feed
        self._transport: asyncio.ReadTransport | None = None
        self._may_read = threading.Event()
        self._may_read.set()
        self._taken = threading.Event()
        self.ended = asyncio.Event()

    @classmethod
    async def open(cls, fd: int, feed: Callable[[bytes], None]) -> Input:
        """A new one that reads."""
        self = cls(feed)
        await self.start(fd)
        return self

    async def start(self, fd: int) -> None:
        """Start reading."""
        loop = asyncio.get_running_loop()
        mode = os.fstat(fd).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd):  # /dev/null and the like cannot be polled
            await loop.connect_read_pipe(lambda: self, os.fdopen(os.dup(fd), "rb", 0))
        else:
            threading.Thread(target=self._read_all, args=(fd, loop), daemon=True).start()

    def _read_all(self, fd: int, loop: asyncio.AbstractEventLoop) -> None:
        with contextlib.suppress(OSError, RuntimeError):
            while data := os.read(fd, 65536):
                self._may_read.wait()
                self._taken.clear()
                loop.call_soon_threadsafe(self.data_received, data)
                self._taken.wait()  # a file is read faster than its lines are served
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self.ended.set)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.ReadTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._feed(data)
        self._taken.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set()

    def wait(self, waits: bool) -> None:
        """Read no more for now, or go on."""
        if waits:
            self.pause()
        else:
            self.resume()

    def pause(self) -> None:
        """Read no more for now."""
        self._may_read.clear()
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()

    def resume(self) -> None:
        """Go on reading."""
        self._may_read.set()
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def close(self) -> None:
        """Stop reading; closing twice is fine."""
        self._may_read.set()
        self._taken.set()
        if self._transport is not None:
            self._transport.close()


def _pause_again(transport: asyncio.Transport) -> None:
    """Python 3.11.2 begins to read after `connection_made` though it was paused there; what comes is the input's."""
    if not transport.is_closing():
        transport.resume_reading()
        transport.pause_reading()


class Output(asyncio.Protocol):
    """Lines out, in order. Pipes and sockets by the loop; files and terminals, which do not block long, directly."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._transport: asyncio.WriteTransport | None = None
        self._lost = asyncio.Event()
        self.broken = asyncio.Event()
        self.on_pause: Callable[[], None] = lambda: None
        self.on_resume: Callable[[], None] = lambda: None

    @classmethod
    async def open(cls, fd: int) -> Output:
        """Make a descriptor ready to be written to."""
        self = cls(fd)
        mode, loop = os.fstat(fd).st_mode, asyncio.get_running_loop()
        if stat.S_ISSOCK(mode):
            # As a pipe it would be closed by the first byte that comes in: it may be standard input, too.
            self._transport, _ = await loop.create_connection(lambda: self, sock=socket.socket(fileno=os.dup(fd)))
        elif stat.S_ISFIFO(mode):
            self._transport, _ = await loop.connect_write_pipe(lambda: self, os.fdopen(os.dup(fd), "wb", 0))
        if self._transport is not None:
            self._transport.set_write_buffer_limits(high=BUFFERED_BYTES)
        return self

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            with contextlib.suppress(NotImplementedError):  # a pipe's transport says that it is one, and only writes
                transport.pause_reading()
                asyncio.get_running_loop().call_soon(_pause_again, transport)

    def write(self, line: bytes) -> None:
        """Queue one line; after the reader is gone it is dropped."""
        if self.broken.is_set():
            return
        if self._transport is not None:
            self._transport.write(line)
            return
        try:
            while line:
                line = line[self._write_some(line) :]
        except OSError:
            self.broken.set()

    def _write_some(self, data: bytes) -> int:
        try:
            return os.write(self._fd, data)
        except BlockingIOError:  # a terminal is one with standard input, which the loop made non-blocking
            if not select.select([], [self._fd], [], DRAIN_S)[1]:
                raise
            return 0

    def pause_writing(self) -> None:
        self.on_pause()

    def resume_writing(self) -> None:
        self.on_resume()

    def connection_lost(self, exc: Exception | None) -> None:
        self.broken.set()
        self._lost.set()

    async def close(self) -> None:
        """Write what is queued, for a bounded time. Closing twice is fine."""
        if self._transport is None or self._lost.is_set():
            return
        self._transport.close()
        try:
            async with asyncio.timeout(DRAIN_S):
                await self._lost.wait()
        except TimeoutError:
            self._transport.abort()
