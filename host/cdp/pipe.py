"""The pipe transport: two file descriptors of `--remote-debugging-pipe` under a Connection."""

from __future__ import annotations

import asyncio
import os

from host.cdp.connection import Connection
from host.core.limits import MIB

READ_BYTES = 64 * 1024  # what a pipe holds


class PipeTransport:
    """Reads into the connection, writes what it posts; the end of either pipe is the end of the connection.

    It reads into one buffer: asyncio's own pipe transport takes a fresh one of 256 KB for each read.
    """

    def __init__(self, read_fd: int, writer: asyncio.WriteTransport, limit_bytes: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._read_fd = read_fd
        self._writer = writer
        self._buffer = bytearray(READ_BYTES)
        self._view = memoryview(self._buffer)
        self._commands: list[bytes] = []
        self._in_turn = False
        self.connection = Connection(self._write, limit_bytes=limit_bytes)
        os.set_blocking(read_fd, False)
        self._loop.add_reader(read_fd, self._readable)

    @classmethod
    async def open(cls, read_fd: int, write_fd: int, *, limit_bytes: int = MIB) -> PipeTransport:
        """Take over both descriptors; they are closed with the transport."""
        end = _WriteEnd()
        loop = asyncio.get_running_loop()
        writer, _ = await loop.connect_write_pipe(lambda: end, os.fdopen(write_fd, "wb", 0))
        pipe = cls(read_fd, writer, limit_bytes)
        end.pipe = pipe
        return pipe

    def _write(self, command: bytes) -> None:
        """The first command of a turn of the loop goes out at once, the others of the turn go together.

        Each write wakes Chromium, which then takes the core from who has more to say.
        """
        if self._in_turn:
            self._commands.append(command)
            return
        self._in_turn = True
        self._loop.call_soon(self._end_turn)
        self._writer.write(command)

    def _end_turn(self) -> None:
        self._in_turn = False
        if self._commands:
            commands, self._commands = self._commands, []
            if not self._writer.is_closing():
                self._writer.write(b"".join(commands))

    def _readable(self) -> None:
        try:
            size_bytes = os.readv(self._read_fd, (self._buffer,))
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            size_bytes = 0
        if size_bytes:
            self.connection.feed(bytes(self._view[:size_bytes]))
        else:
            self.close()

    def close(self) -> None:
        """End both ways; everybody who waits is told. Closing twice is fine."""
        if self._read_fd < 0:
            return
        self._loop.remove_reader(self._read_fd)
        os.close(self._read_fd)
        self._read_fd = -1
        if not self._writer.is_closing():
            self._writer.abort()
        self.connection.lost()


class _WriteEnd(asyncio.BaseProtocol):
    """Hears when Chromium's reading end is gone."""

    pipe: PipeTransport | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self.pipe is not None:
            self.pipe.close()
