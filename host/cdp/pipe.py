"""The pipe transport: two file descriptors of `--remote-debugging-pipe` under a Connection."""

from __future__ import annotations

import asyncio
import os

from host.cdp.connection import Connection
from host.core.limits import MIB


class PipeTransport(asyncio.Protocol):
    """Reads into the connection, writes what it posts; the end of either pipe is the end of the connection."""

    def __init__(self) -> None:
        self._writer: asyncio.WriteTransport | None = None
        self._reader: asyncio.ReadTransport | None = None
        self._closed = False
        self.connection: Connection | None = None

    @classmethod
    async def open(cls, read_fd: int, write_fd: int, *, limit_bytes: int = MIB) -> PipeTransport:
        """Take over both descriptors; they are closed with the transport."""
        loop = asyncio.get_running_loop()
        pipe = cls()
        writer, _ = await loop.connect_write_pipe(lambda: _WriteEnd(pipe), os.fdopen(write_fd, "wb", 0))
        pipe._writer = writer
        pipe.connection = Connection(writer.write, limit_bytes=limit_bytes)
        pipe._reader, _ = await loop.connect_read_pipe(lambda: pipe, os.fdopen(read_fd, "rb", 0))
        return pipe

    def data_received(self, data: bytes) -> None:
        if self.connection is not None:
            self.connection.feed(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.close()

    def close(self) -> None:
        """End both ways; everybody who waits is told. Closing twice is fine."""
        if self._closed:
            return
        self._closed = True
        if self._reader is not None:
            self._reader.close()
        if self._writer is not None and not self._writer.is_closing():
            self._writer.abort()
        if self.connection is not None:
            self.connection.lost()


class _WriteEnd(asyncio.BaseProtocol):
    def __init__(self, pipe: PipeTransport) -> None:
        self._pipe = pipe

    def connection_lost(self, exc: Exception | None) -> None:
        self._pipe.close()
