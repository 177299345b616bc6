"""Ports that nobody opened, on every address of this machine: they count whatever reaches them, and answer it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import threading
from collections import Counter
from collections.abc import Iterable
from functools import partial
from types import TracebackType
from typing import Self

ANY = ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::"))
HEAD_BYTES = 64 * 1024
MAIN = "main"
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 3\r\nConnection: close\r\n"
    b"Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: *\r\nCache-Control: no-store\r\n\r\nhit"
)


class Forbidden:
    """One port a name; each takes TCP and UDP, by IPv4 and by IPv6 where there is any.

    `connections` counts what was accepted and `datagrams` what came by UDP, both by the port's name; `requests` counts
    by path with query. A connection counts although it brings no request.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.connections: Counter[str] = Counter()
        self.datagrams: Counter[str] = Counter()
        self.requests: Counter[str] = Counter()
        self._sockets = {name: _everywhere() for name in (MAIN, *names)}
        self.ports = {name: int(sockets[0].getsockname()[1]) for name, sockets in self._sockets.items()}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def port(self) -> int:
        """The port for all that can be told apart by its path."""
        return self.ports[MAIN]

    def hits(self, name: str) -> int:
        """Requests whose path is /`name` or below it, and all that came to the port of that name."""
        paths = ((path.partition("?")[0], count) for path, count in list(self.requests.items()))
        asked = sum(count for path, count in paths if path == f"/{name}" or path.startswith(f"/{name}/"))
        return asked + self.connections[name] + self.datagrams[name]

    @property
    def reached(self) -> set[str]:
        """What `hits` knows by: the paths without their query, and the names of ports."""
        return {path.partition("?")[0] for path in list(self.requests)} | {*self.connections} | {*self.datagrams}

    @property
    def total(self) -> int:
        """Everything that came, of whatever kind: zero when nobody got here."""
        return self.connections.total() + self.datagrams.total()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._listen())
        self._loop.run_forever()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    async def _listen(self) -> None:
        for name, sockets in self._sockets.items():
            for one in sockets:
                if one.type is socket.SOCK_STREAM:
                    await self._loop.create_server(partial(_Connection, self, name), sock=one, backlog=512)
                else:
                    await self._loop.create_datagram_endpoint(partial(_Datagrams, self, name), sock=one)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5.0)
        for sockets in self._sockets.values():
            for one in sockets:
                one.close()


class _Connection(asyncio.Protocol):
    """Counts one connection and its requests; closes it after the first answer, so that it holds nobody's place."""

    def __init__(self, counts: Forbidden, name: str) -> None:
        self._counts = counts
        self._name = name
        self._head = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._counts.connections[self._name] += 1
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._head += data
        if not self._head[:1].isalpha() or len(self._head) > HEAD_BYTES:
            self._transport.close()  # no HTTP, such as the hello of TLS: it is counted as a connection
        elif b"\r\n\r\n" in self._head and not self._transport.is_closing():
            words = self._head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
            self._counts.requests[words[1] if len(words) == 3 else words[0]] += 1
            self._transport.write(ANSWER)
            self._transport.close()


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, counts: Forbidden, name: str) -> None:
        self._counts = counts
        self._name = name

    def datagram_received(self, data: bytes, addr: object) -> None:
        self._counts.datagrams[self._name] += 1


def _everywhere() -> list[socket.socket]:
    """Sockets of one port for TCP and UDP on every address."""
    for _ in range(100):
        made: list[socket.socket] = []
        try:
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                for family, address in ANY:
                    one = _bound(family, kind, address, made[0].getsockname()[1] if made else 0)
                    made += [one] if one is not None else []
        except OSError:  # somebody has the port in another family: another one, then
            for one in made:
                one.close()
        else:
            return made
    raise OSError("no port is free for both TCP and UDP")


def _bound(family: socket.AddressFamily, kind: socket.SocketKind, address: str, port: int) -> socket.socket | None:
    """A socket that has the port; None where the machine has no such family. Raises OSError when it is taken."""
    try:
        made = socket.socket(family, kind)
    except OSError:
        return None
    try:
        if family is socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind((address, port))
    except OSError as problem:
        made.close()
        if problem.errno == errno.EADDRNOTAVAIL:
            return None  # IPv6 is there and switched off
        raise
    return made


def has_ipv6() -> bool:
    """Has this machine an IPv6 loopback?"""
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def own_address() -> str | None:
    """This machine's address on its way out, which is no loopback one; None without a network. Sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
        probe.connect(("198.51.100.1", 9))  # RFC 5737: nobody's
        found = str(probe.getsockname()[0])
        return found if not found.startswith("127.") else None
    return None
