"""The owner's Unix socket: commands of the same user join the one host of a profile through it."""

from __future__ import annotations

import asyncio
import os
import select
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from capsdk.errors import CapError, InvalidArgumentError
from capsdk.wire import LineSplitter, TooLong
from host.core.grants import Caller, Kind
from host.core.limits import MIB, Limits
from host.core.wire import Cancel, Request, dumps, error_line, notice_line, ok_line, read_line
from host.dispatch.dispatcher import Dispatcher, internal
from host.frontends.script_door import interrupted
from host.frontends.stdio import first_of
from host.frontends.wire_connection import WireConnection

SETTLE_S = 5.0
LOOK_S = 0.1
UNREAD_BYTES = 4 * MIB  # what a job has said and its command has not read
LEFT_OUT = ("log", "progress")  # what is not kept beyond that
CLEAR_UP_S = 0.05  # between the two interrupts of a job whose command died
ATTACH, RUN, LOGIN = "host.attach", "host.run", "host.login"
OWNER = Caller("owner", "-", Kind.OWNER, "owner", "owner")

Tell = Callable[[str, dict[str, Any]], None]
Job = Callable[[dict[str, Any], Tell], Awaitable[dict[str, Any]]]


class OwnerServer:
    """What every connection of the socket shares.

    `attach(args)` makes the caller that a joining command speaks for; `jobs` are what takes a connection of its own,
    by method, such as a whole run: `job(args, tell)` gives the reply. All raise CapError. A connection whose first line
    is neither is the owner's own.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        limits: Limits,
        attach: Callable[[dict[str, Any]], Caller],
        jobs: Mapping[str, Job],
    ) -> None:
        self.dispatcher = dispatcher
        self.limits = limits
        self.attach = attach
        self.jobs = jobs
        self.doors: set[OwnerDoor] = set()
        self.served = 0
        self.changed = asyncio.Event()

    async def close(self) -> None:
        """End every connection. Closing twice is fine."""
        await asyncio.gather(*(door.close() for door in list(self.doors)))


class OwnerDoor(asyncio.Protocol):
    """One connection."""

    def __init__(self, server: OwnerServer) -> None:
        self._server = server
        self._transport: asyncio.Transport | None = None
        self._first = LineSplitter(server.limits.line_bytes)
        self._wire: WireConnection | None = None
        self._job: asyncio.Task[None] | None = None
        self._interrupts = 0
        self._stalled = False
        self._left_out = 0
        self._ending: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if peer_uid(transport.get_extra_info("socket")) != os.geteuid():
            transport.abort()
            return
        self._server.doors.add(self)

    def data_received(self, data: bytes) -> None:
        if self._wire is not None:
            self._wire.feed(data)
        elif self._job is not None:
            self._hear(data)
        else:
            newline = data.find(b"\n") + 1 or len(data)
            lines = self._first.feed(data[:newline])
            if lines:
                self._begin(lines[0], data[newline:])

    def _hear(self, data: bytes) -> None:
        """During a job there is nothing to say but its cancellation."""
        if any(isinstance(line, bytes) and isinstance(read_line(line), Cancel) for line in self._first.feed(data)):
            self._interrupt(1)

    def _interrupt(self, times: int) -> None:
        """Interrupt the job: the first time it has its time to end, the second time it has not, a third would break it.

        A script hears of the first one, and nobody waits for it after the second.
        """
        if self._job is not None and self._interrupts < times:
            self._interrupts += 1
            self._job.cancel()

    def _begin(self, line: bytes | TooLong, rest: bytes) -> None:
        self._server.served += 1
        request = read_line(line) if isinstance(line, bytes) else None
        try:
            if isinstance(request, Request) and request.method in self._server.jobs:
                loop = asyncio.get_running_loop()
                self._job = loop.create_task(self._do(self._server.jobs[request.method], request))
                loop.call_soon(self._hear, rest)  # a task that is cancelled before it began would not answer
                return
            if isinstance(request, Request) and request.method == ATTACH:
                caller = self._server.attach(request.args)
                self._wire = self._wire_for(caller)
                self._write(ok_line(request.id, dumps({"pid": os.getpid(), "run": caller.run})))
            else:
                self._wire = self._wire_for(replace(OWNER))  # an object of its own: what ends is this one's calls
                rest = (line if isinstance(line, bytes) else b"") + b"\n" + rest
        except CapError as problem:
            self._write(error_line(request.id if isinstance(request, Request) else None, problem))
            self._end_soon()
            return
        self._wire.feed(rest)

    def _wire_for(self, caller: Caller) -> WireConnection:
        server = self._server
        return WireConnection(server.dispatcher, caller, self._write, server.limits, on_backlog=self._backlog)

    async def _do(self, job: Job, request: Request) -> None:
        if self._transport is not None:
            self._transport.set_write_buffer_limits(high=UNREAD_BYTES)
        try:
            result = await job(request.args, self._tell)
            self._write(ok_line(request.id, dumps(result)))
        except CapError as problem:
            self._write(error_line(request.id, problem))
        except Exception as problem:
            self._write(error_line(request.id, internal(problem)))
        except asyncio.CancelledError:
            self._write(error_line(request.id, interrupted()))
            raise
        finally:
            if self._transport is not None:
                self._transport.close()

    def eof_received(self) -> bool:
        if self._job is not None:
            return False  # its command has died
        if self._wire is None and self._first.held_bytes:
            self.data_received(b"\n")
        self._end_soon()
        return True  # answers under way still go out

    def _end_soon(self) -> None:
        if self._ending is None:
            self._ending = asyncio.get_running_loop().create_task(self._settle_and_close())

    async def _settle_and_close(self) -> None:
        if self._wire is not None:
            self._wire.feed_rest()
            await first_of(self._wire.settle(SETTLE_S), self._peer_left())
            await self._wire.end()
        if self._transport is not None:
            self._transport.close()

    async def _peer_left(self) -> None:
        """Wait until nobody is there to be answered: after the end of input only POLLHUP tells (poll(2))."""
        poll = select.poll()
        assert self._transport is not None
        while not self._transport.is_closing():
            fd = self._transport.get_extra_info("socket").fileno()
            poll.register(fd, 0)
            if poll.poll(0):
                return
            await asyncio.sleep(LOOK_S)

    def _tell(self, kind: str, data: dict[str, Any]) -> None:
        """What a job says meanwhile; a script may say more than its owner's terminal takes."""
        if self._stalled and kind in LEFT_OUT:
            self._left_out += kind == "log"
        else:
            self._write(notice_line(kind, data))

    def pause_writing(self) -> None:
        """A client that does not read its answers is not heard either."""
        self._stalled = True
        if self._wire is not None:
            self._wire.hold(True)

    def resume_writing(self) -> None:
        self._stalled = False
        count, self._left_out = self._left_out, 0
        if count:
            message = f"{count} lines of the log were left out: nobody read them in time"
            self._write(notice_line("log", {"level": "warning", "message": message}))
        if self._wire is not None:
            self._wire.hold(False)

    def _backlog(self, waits: bool) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        if waits:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._job is not None:  # the command died: nobody waits for the script to clear up
            self._interrupt(1)
            asyncio.get_running_loop().call_later(CLEAR_UP_S, self._interrupt, 2)
        if self in self._server.doors and self._ending is None:
            self._ending = asyncio.get_running_loop().create_task(self._finish())
        elif self._ending is not None:
            self._ending.add_done_callback(lambda task: self._gone())
        else:
            self._gone()

    async def _finish(self) -> None:
        try:
            if self._wire is not None:
                await self._wire.end()
            if self._job is not None:
                await asyncio.gather(self._job, return_exceptions=True)
        finally:
            self._gone()

    def _gone(self) -> None:
        self._server.doors.discard(self)
        self._server.changed.set()

    def _write(self, line: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(line)

    async def close(self) -> None:
        """End the connection and what runs in it. Closing twice is fine."""
        if self._job is not None:
            self._interrupt(1)
            await asyncio.gather(self._job, return_exceptions=True)
        if self._wire is not None:
            await self._wire.end()
        if self._transport is not None:
            self._transport.close()


def peer_uid(sock: Any) -> int:
    """The uid of who connected, as the kernel knows it (SO_PEERCRED, unix(7)); -1 when it does not."""
    try:
        raw = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    except OSError:
        return -1
    uid: int = struct.unpack("3i", raw)[1]
    return uid


def text_list(args: dict[str, Any], name: str) -> tuple[str, ...]:
    """A list of texts among a joining command's words. Raises InvalidArgumentError BAD_ARGUMENTS."""
    value = args.get(name, [])
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise InvalidArgumentError("BAD_ARGUMENTS", f"{name} is a list of texts; start the command anew")
    return tuple(value)
