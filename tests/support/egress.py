"""A world for the proxy under test, and a plain client to talk to it with."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from host.egress.egress import Egress, EgressConfig
from tests.support.processes import alive

PROGRAM = Path(__file__).with_name("egress_program.py")
PUBLIC = "93.184.216.34"  # an address that nothing answers at in a test; a route makes it answer


def world(
    answers: Mapping[str, Sequence[Sequence[str] | float]] | None = None,
    routes: Mapping[str, str] | None = None,
    limits: Mapping[str, float] | None = None,
    assigned: Iterable[str] = (),
    delay_s: float = 0.0,
) -> tuple[str, ...]:
    """`EgressConfig.program` for the real proxy in a world of its own.

    `answers`: what a name resolves to, one list of addresses a lookup (a number: seconds without an answer); names not
    listed do not exist; None: the system's resolver. `routes`: where a connection to ADDRESS or ADDRESS:PORT really
    goes ("nowhere": it hangs). `limits`: fields of `host.egress.limits.Limits`. `assigned`: addresses of this machine,
    besides those it has. `delay_s`: how long each lookup takes.
    """
    given = {
        "answers": None if answers is None else {name: list(lists) for name, lists in answers.items()},
        "routes": dict(routes or {}),
        "limits": dict(limits or {}),
        "assigned": list(assigned),
        "delay_s": delay_s,
    }
    return (sys.executable, "-I", "-B", str(PROGRAM), json.dumps(given))


@contextlib.asynccontextmanager
async def proxied(
    program: tuple[str, ...] = (),
    *places: str,
    uid: int | None = None,
    upstream_proxy: str | None = None,
    own_ports: frozenset[int] = frozenset(),
) -> AsyncIterator[Egress]:
    """A proxy that serves, with these places opened; afterwards its process is gone."""
    egress = Egress(EgressConfig(uid, upstream_proxy, own_ports, program))
    egress.set_places(frozenset(places))
    try:
        await egress.start()
        yield egress
        assert egress.stderr_tail == ""  # faults of its own are written there
    finally:
        pid = egress.pid
        await egress.close()
        assert pid is None or not alive(pid)


@dataclass(slots=True)
class Answer:
    """One answer as it stood on the line; `whole` is False when it was cut short."""

    status: int
    fields: list[tuple[str, str]]
    body: bytes = b""
    whole: bool = True

    def field(self, name: str) -> str | None:
        """The first value of a field, by its name in any case."""
        return next((value for key, value in self.fields if key.lower() == name.lower()), None)


class Talk:
    """One connection to a server, spoken by hand: bytes out, answers in."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def ask(self, data: bytes | str) -> Answer:
        """Send, and read one answer."""
        method = data[:4] if isinstance(data, str) else data[:4].decode("latin-1")
        await self.send(data)
        return await self.answer(head_only=method == "HEAD")

    async def send(self, data: bytes | str) -> None:
        """Send as it is."""
        self.writer.write(data.encode("latin-1") if isinstance(data, str) else data)
        await self.writer.drain()

    async def head(self) -> Answer:
        """The head of the next answer, the body not read. Raises asyncio.IncompleteReadError at the end."""
        text = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = text[:-4].split("\r\n")
        fields = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
        return Answer(int(first.split(" ")[1]), fields)

    async def answer(self, *, head_only: bool = False) -> Answer:
        """The next answer with its body. Raises asyncio.IncompleteReadError when there is no head."""
        answer = await self.head()
        if head_only or answer.status < 200 or answer.status in (204, 304):
            return answer
        try:
            if answer.field("Transfer-Encoding"):
                while size := int(await self.reader.readuntil(b"\r\n"), 16):
                    answer.body += (await self.reader.readexactly(size + 2))[:-2]
                await self.reader.readexactly(2)
            elif length := answer.field("Content-Length"):
                answer.body = await self.reader.readexactly(int(length))
            else:
                answer.body = await self.reader.read()
        except (asyncio.IncompleteReadError, ConnectionError):
            answer.whole = False
        return answer

    async def rest(self) -> bytes | None:
        """All that comes until the end; None when the connection is reset."""
        try:
            return await self.reader.read()
        except ConnectionError:
            return None

    def close(self) -> None:
        """Closing twice is fine."""
        self.writer.close()

    def reset(self) -> None:
        """End it so that the other side sees a reset."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


@contextlib.asynccontextmanager
async def talking(port: int | None) -> AsyncIterator[Talk]:
    """A connection to a port of 127.0.0.1."""
    talk = Talk(*await asyncio.open_connection("127.0.0.1", port, limit=1 << 20))
    try:
        yield talk
    finally:
        talk.close()


class Server:
    """An upstream of the test: `play` is handed each connection; `place` is HOST:PORT; what came is in `heads`."""

    def __init__(self, play: Callable[[Server, Talk], Awaitable[None]]) -> None:
        self.connections = 0
        self.heads: list[str] = []
        self.gone = asyncio.Event()  # a connection has ended
        self._play = play
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        """Where it listens, on 127.0.0.1."""
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def place(self) -> str:
        """HOST:PORT, to open."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """Its origin."""
        return f"http://{self.place}"

    async def request(self, talk: Talk) -> str:
        """The head of the next request; "" when there is none."""
        try:
            head = (await talk.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except (asyncio.IncompleteReadError, ConnectionError):
            return ""
        self.heads.append(head)
        return head

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, backlog=1024)
        return self

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.ensure_future(self._one(reader, writer))  # a task of ours: streams log one that is cancelled
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._play(self, Talk(reader, writer))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the other side is gone
        finally:
            writer.close()
            self.gone.set()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def ok(server: Server, talk: Talk) -> None:
    """Answers each request of a kept-alive connection with its first line."""
    while head := await server.request(talk):
        line = head.partition("\r\n")[0].encode("latin-1")
        await talk.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(line), line))
