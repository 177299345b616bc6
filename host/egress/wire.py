"""One TCP connection with back-pressure: bytes in, bytes out, half-close; what they mean is its owner's business.

Not asyncio's transports: one buffer serves all reads, and nothing is held but what a slow reader did not take.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from typing import Protocol

from host.egress.limits import Limits

SMALLEST_READ = 4096
RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER on, 0 s: socket(7)


class Owner(Protocol):
    """Who hears of a wire. `data` is only good until the call returns."""

    def received(self, wire: Wire, data: memoryview) -> None:
        """Bytes came."""

    def ended(self, wire: Wire) -> None:
        """The other side will send no more."""

    def lost(self, wire: Wire) -> None:
        """Reading or writing failed: the connection is broken."""

    def drained(self, wire: Wire) -> None:
        """What was held has been written."""


class Memory:
    """The buffer of all reads, and how much is held for slow readers by all wires together."""

    def __init__(self, limits: Limits) -> None:
        self.view = memoryview(bytearray(limits.read_bytes))
        self.held_bytes = 0
        self._most_held = limits.held_bytes
        self._most_read = limits.read_bytes

    @property
    def read_bytes(self) -> int:
        """The size of the next read: a read is at most what may have to be held."""
        return max(SMALLEST_READ, min(self._most_read, (self._most_held - self.held_bytes) // 32))


class Wire:
    """One connected socket. It reads from the start; `write` tells whether the other side keeps up."""

    __slots__ = (
        "_closed",
        "_fd",
        "_finishing",
        "_loop",
        "_memory",
        "_mute",
        "_out",
        "_reading",
        "_sock",
        "last_s",
        "owner",
    )

    def __init__(self, loop: asyncio.AbstractEventLoop, memory: Memory, sock: socket.socket, owner: Owner) -> None:
        self.owner = owner
        self.last_s = loop.time()  # when a byte last went through
        self._loop = loop
        self._memory = memory
        self._sock = sock
        self._fd = sock.fileno()  # the loop is slow with a socket itself: it spells it out for an error it then drops
        self._out = bytearray()
        self._reading = False
        self._finishing = False
        self._mute = False
        self._closed = False
        self.resume()

    @property
    def closed(self) -> bool:
        """Nothing is read or written any more."""
        return self._closed

    @property
    def held(self) -> bool:
        """Is something not written yet?"""
        return bool(self._out)

    def pause(self) -> None:
        """Read no more for now."""
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self._fd)

    def resume(self) -> None:
        """Read on."""
        if not self._reading and not self._closed:
            self._reading = True
            self._loop.add_reader(self._fd, self._readable)

    def _readable(self) -> None:
        memory = self._memory
        try:
            count = self._sock.recv_into(memory.view, memory.read_bytes)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.owner.lost(self)
            return
        self.last_s = self._loop.time()
        if count:
            self.owner.received(self, memory.view[:count])
            return
        self.pause()
        if self._mute:
            self.owner.lost(self)  # the error was spent on writing, what is left looks like a clean end
        else:
            self.owner.ended(self)

    def write(self, data: bytes | bytearray | memoryview) -> bool:
        """Send; False when some is held: then the source should pause until `drained`."""
        if self._closed or self._mute:
            return True
        if not self._out:
            sent = self._send(data)
            if sent == len(data):
                return True
            data = memoryview(data)[sent:]
            self._loop.add_writer(self._fd, self._writable)
        self._memory.held_bytes += len(data)
        self._out += data
        return False

    def _send(self, data: bytes | bytearray | memoryview) -> int:
        try:
            sent = self._sock.send(data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:
            self._mute = True  # what was sent to us before it broke can still be read, and then the loss is seen
            self.resume()
            return len(data)
        self.last_s = self._loop.time()
        return sent

    def _writable(self) -> None:
        sent = self._send(self._out)
        self._memory.held_bytes -= sent
        del self._out[:sent]
        if self._out:
            return
        self._out = bytearray()  # a large one is given back
        self._loop.remove_writer(self._fd)
        if self._finishing:
            self._shutdown()
        self.owner.drained(self)

    def finish(self) -> None:
        """Say that nothing more is sent, once all that was written is."""
        self._finishing = True
        if not self._out:
            self._shutdown()

    def _shutdown(self) -> None:
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """End it; what is held is dropped. Closing twice is fine."""
        if self._closed:
            return
        self.pause()
        self._closed = True
        if self._out:
            self._loop.remove_writer(self._fd)
            self._memory.held_bytes -= len(self._out)
            self._out = bytearray()
        self._sock.close()

    def abort(self) -> None:
        """End it so that the other side sees a reset, never a clean end."""
        if not self._closed:
            with contextlib.suppress(OSError):
                self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        self.close()

    def keep_alive(self, idle_s: int) -> None:
        """Let the kernel find out that the other side is gone: first asked after `idle_s` of silence."""
        with contextlib.suppress(OSError):
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, idle_s)
            self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 15)
            self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 4)
