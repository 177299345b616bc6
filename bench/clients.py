"""The smallest fair clients to compare with: CDP over the pipe, the wire over pipes. No WebSocket in here."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar, cast

import msgspec

T = TypeVar("T")
OnEvent = Callable[[str, str], None]  # method and session of each event
encode_json = json.JSONEncoder(separators=(",", ":")).encode


class Replied(Exception):
    """The other side answered with an error."""


class Waiting(dict[int, "asyncio.Future[T]"]):
    """Calls without an answer yet, by id."""

    def __init__(self) -> None:
        super().__init__()
        self.last_id = 0

    def add(self) -> tuple[int, asyncio.Future[T]]:
        """The next id and its future."""
        self.last_id = number = self.last_id + 1
        future = self[number] = asyncio.get_running_loop().create_future()
        return number, future

    def settle(self, number: int, result: T | None, error: object) -> None:
        """Answer a call; an id nobody waits for is an event's or nobody's."""
        future = self.pop(number, None)
        if future is None or future.done():
            return
        if error:
            future.set_exception(Replied(error))
        else:
            future.set_result(cast(T, result))

    def fail(self, problem: Exception) -> None:
        """The connection is over: everybody hears it."""
        for number in list(self):
            future = self.pop(number)
            if not future.done():
                future.set_exception(problem)


class FramedPipe(asyncio.Protocol):
    """Messages that end with a separator, over two descriptors; `take` gets each."""

    def __init__(self, separator: bytes, take: Callable[[bytes], None], lost: Callable[[Exception], None]) -> None:
        self._separator = separator
        self._take = take
        self._lost = lost
        self._rest: list[bytes] = []
        self._transports: list[asyncio.BaseTransport] = []
        self.write: Callable[[bytes], None] = lambda data: None

    async def open(self, read_fd: int, write_fd: int) -> None:
        """Take both descriptors over."""
        loop = asyncio.get_running_loop()
        writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(write_fd, "wb", 0))
        self._transports.append(writer)
        self.write = writer.write
        reader, _ = await loop.connect_read_pipe(lambda: self, os.fdopen(read_fd, "rb", 0))
        self._transports.append(reader)

    def data_received(self, data: bytes) -> None:
        self._rest.append(data)
        if self._separator not in data:
            return  # a large message comes in many pieces: they are joined once
        *messages, rest = b"".join(self._rest).split(self._separator)
        self._rest = [rest]
        for message in messages:
            self._take(message)

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost(exc or ConnectionError("the other side closed the pipe"))

    def close(self) -> None:
        """Let both go; closing twice is fine."""
        for transport in self._transports:
            transport.close()


class _Message(msgspec.Struct, gc=False):
    id: int = 0
    method: str = ""
    sessionId: str = ""
    result: msgspec.Raw = msgspec.Raw(b"")
    error: msgspec.Raw = msgspec.Raw(b"")


class _Command(msgspec.Struct, omit_defaults=True, gc=False):
    id: int
    method: str
    params: dict[str, Any]
    sessionId: str = ""


_encode_command = msgspec.json.Encoder().encode
_decode_message = msgspec.json.Decoder(_Message).decode


class PipeClient:
    """CDP over the pipe; results stay the bytes that Chromium sent."""

    def __init__(self) -> None:
        self._waiting: Waiting[msgspec.Raw] = Waiting()
        self.on_event: OnEvent = lambda method, session: None
        self.pipe = FramedPipe(b"\0", self._frame, self._waiting.fail)

    def post(self, method: str, params: dict[str, Any], session: str = "") -> asyncio.Future[msgspec.Raw]:
        """Send one command; a future of its raw result."""
        number, future = self._waiting.add()
        self.pipe.write(_encode_command(_Command(number, method, params, session)) + b"\0")
        return future

    async def call(self, method: str, params: dict[str, Any], session: str = "") -> dict[str, Any]:
        """One command with its result decoded."""
        result: dict[str, Any] = msgspec.json.decode(await self.post(method, params, session))
        return result

    def _frame(self, frame: bytes) -> None:
        message = _decode_message(frame)
        if message.id:
            self._waiting.settle(message.id, message.result, bytes(message.error))
        else:
            self.on_event(message.method, message.sessionId)


class StdioClient:
    """The line wire of `capsdk stdio`."""

    def __init__(self) -> None:
        self._waiting: Waiting[dict[str, Any]] = Waiting()
        self.pipe = FramedPipe(b"\n", self._line, self._waiting.fail)

    def call(self, entry: str, args: dict[str, Any]) -> asyncio.Future[dict[str, Any]]:
        """Call an entry; a future of its result."""
        number, future = self._waiting.add()
        self.pipe.write(encode_json({"id": number, "method": entry, "args": args}).encode() + b"\n")
        return future

    def _line(self, line: bytes) -> None:
        message = json.loads(line)
        if "id" in message:
            self._waiting.settle(message["id"], message.get("result"), message.get("error"))


class CdpClient(Protocol):
    """What both direct clients can do."""

    on_event: OnEvent

    def call(self, method: str, params: dict[str, Any], session: str = "") -> Awaitable[dict[str, Any]]: ...
