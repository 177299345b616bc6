"""The site that is loaded, in a process of its own so that it is nobody's bottleneck: `python -m bench.loading.site`.

It listens on many ports of 127.0.0.1, tells them in one line of JSON, and ends with its standard input.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bench.loading.pages import BLANK, END_OF_LARGE, RESOURCES, head, page, whole

HOST = "127.0.0.1"
BACKLOG = 512
PIECE_BYTES = 4 * 1024 * 1024
END_S = 5.0
ANSWERS = {kind.encode(): whole(kind, body) for kind, body in RESOURCES.items()}
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Site:
    """Where the site is: its ports, each an origin of its own."""

    ports: tuple[int, ...]

    @property
    def origins(self) -> tuple[str, ...]:
        """As in URLs."""
        return tuple(f"http://{HOST}:{port}" for port in self.ports)

    def places(self, count: int | None = None) -> frozenset[str]:
        """The first so many as they are opened, else all."""
        return frozenset(f"{HOST}:{port}" for port in self.ports[:count])


@contextlib.contextmanager
def site_served(count: int) -> Iterator[Site]:
    """A site with so many origins, for the time of a `with`. Raises OSError or ValueError when it does not start."""
    words = [sys.executable, "-m", "bench.loading.site", str(count)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Site(tuple(json.loads(process.stdout.readline())))
        finally:
            process.stdin.close()
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()


class Padding:
    """A file of nothing but one byte, for bodies of any size without the memory for them."""

    def __init__(self, filling: bytes) -> None:
        self._file = os.fdopen(os.memfd_create("padding"), "w+b")
        self._file.write(filling * PIECE_BYTES)
        self._file.flush()

    async def send(self, transport: asyncio.Transport, size: int) -> None:
        """Write so many bytes, as fast as they are taken."""
        loop = asyncio.get_running_loop()
        while size > 0:
            size -= await loop.sendfile(transport, self._file, 0, min(size, PIECE_BYTES))


class Connection(asyncio.Protocol):
    """Answers requests as they come; their heads are Chromium's or the proxy's, and are taken as right."""

    def __init__(self, paddings: dict[bytes, Padding], tasks: set[asyncio.Task[None]]) -> None:
        self._paddings = paddings
        self._tasks = tasks
        self._rest = b""
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *heads, self._rest = (self._rest + data).split(b"\r\n\r\n")
        for one in heads:
            self._answer(one.split(b" ", 2)[1].split(b"/"))

    def _answer(self, parts: list[bytes]) -> None:
        """`/KIND/DELAY_MS/TOKEN`, `/page/COUNT/DELAY_MS/PORTS/TOKEN`, `/body/BYTES/TOKEN`, `/html/BYTES/TOKEN`, `/`."""
        kind = parts[1]
        answer = ANSWERS.get(kind)
        if answer is not None:
            delay_ms = int(parts[2])
            if delay_ms:
                asyncio.get_running_loop().call_later(delay_ms / 1000, self._write, answer)
            else:
                self._write(answer)
        elif kind == b"page":
            origins = [f"http://{HOST}:{int(port)}" for port in parts[4].split(b",")]
            made = page(int(parts[2]), origins, delay_ms=int(parts[3]), token=parts[5].decode())
            self._write(whole("page", made))
        elif kind in self._paddings:
            task = asyncio.ensure_future(self._large(kind, int(parts[2])))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            self._write(NOT_FOUND if kind else whole("page", BLANK))

    def _write(self, data: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(data)

    async def _large(self, kind: bytes, size: int) -> None:
        end = END_OF_LARGE if kind == b"html" else b""
        self._write(head(kind.decode(), size))
        with contextlib.suppress(ConnectionError, RuntimeError):  # whoever asked is gone
            await self._paddings[kind].send(self._transport, size - len(end))
            self._write(end)


async def serve(count: int) -> None:
    """Serve until standard input ends."""
    loop = asyncio.get_running_loop()
    paddings = {b"body": Padding(b"\0"), b"html": Padding(b" ")}
    tasks: set[asyncio.Task[None]] = set()
    servers = [
        await loop.create_server(lambda: Connection(paddings, tasks), HOST, 0, backlog=BACKLOG) for _ in range(count)
    ]
    print(json.dumps([server.sockets[0].getsockname()[1] for server in servers]), flush=True)
    ended = asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), ended.set)
    await ended.wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(int(sys.argv[1])))
