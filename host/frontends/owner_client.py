"""The joining side of the owner's socket: one run, one call, or standard input and output passed through."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from typing import Any

from capsdk.errors import CapError, UnavailableError, from_wire
from capsdk.wire import MAX_HOST_LINE_BYTES, LineSplitter, encode
from host.frontends.owner_door import ATTACH, RUN, peer_uid
from host.frontends.stdio import Input, Output, first

CANCEL_S = 2.5

Tell = Callable[[str, dict[str, Any]], None]


class Link(asyncio.Protocol):
    """One connection to the host. `lines` get whole lines until `passthrough` gets raw bytes."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._splitter = LineSplitter(MAX_HOST_LINE_BYTES)
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.passthrough: Callable[[bytes], None] | None = None
        self.on_pause: Callable[[], None] = lambda: None
        self.on_resume: Callable[[], None] = lambda: None
        self.peer_uid = -1
        self.ended = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.peer_uid = peer_uid(transport.get_extra_info("socket"))

    def data_received(self, data: bytes) -> None:
        if self.passthrough is not None:
            self.passthrough(data)
            return
        for line in self._splitter.feed(data):
            self._lines.put_nowait(line if isinstance(line, bytes) else None)  # no host of ours sends one too long

    def pause_writing(self) -> None:
        self.on_pause()

    def resume_writing(self) -> None:
        self.on_resume()

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set()
        self._lines.put_nowait(None)

    def write(self, data: bytes) -> None:
        """Send bytes."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def write_eof(self) -> None:
        """Nothing more is sent; answers still come."""
        if self._transport is not None and not self._transport.is_closing():
            with contextlib.suppress(OSError):
                self._transport.write_eof()

    def pause(self) -> None:
        """Read no more for now."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()

    def resume(self) -> None:
        """Go on reading."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def close(self) -> None:
        """End the connection; what runs for it in the host ends. Closing twice is fine."""
        if self._transport is not None:
            self._transport.abort()

    async def ask(self, method: str, args: dict[str, Any], tell: Tell | None = None) -> Any:
        """One request and its result; notices meanwhile go to `tell`. Raises CapError, BROWSER_GONE if it ends."""
        self.write(encode({"id": 0, "method": method, "args": args}))
        while (line := await self._lines.get()) is not None:
            message = json.loads(line)
            if "notice" in message:
                if tell is not None:
                    tell(message["notice"], message["data"])
            elif message.get("ok"):
                return message["result"]
            else:
                raise from_wire(message["error"])
        raise host_gone()


async def remote_run(link: Link, words: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """One run in the joined host; its envelope. Raises CapError."""
    return await remote_job(link, RUN, words, tell)


async def remote_job(link: Link, method: str, words: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """One job of the joined host, such as a run; its result. Cancelled, it has `CANCEL_S` to end. Raises CapError."""
    asking = asyncio.ensure_future(link.ask(method, words, tell))
    try:
        result: dict[str, Any] = await asyncio.shield(asking)
    except asyncio.CancelledError:
        link.write(encode({"cancel": 0}))
        with contextlib.suppress(CapError, TimeoutError):
            async with asyncio.timeout(CANCEL_S):
                await asking
        raise
    return result


async def remote_stdio(link: Link, words: dict[str, Any], *, read_fd: int = 0, write_fd: int = 1) -> None:
    """Attach as one caller, then pass standard input and output through.

    Raises CapError when attaching is refused, BROWSER_GONE when the host ends before standard input does.
    """
    await link.ask(ATTACH, words)
    output = await Output.open(write_fd)
    link.passthrough = output.write
    source = await Input.open(read_fd, link.write)
    output.on_pause, output.on_resume = link.pause, link.resume
    link.on_pause, link.on_resume = source.pause, source.resume
    try:
        await first(source.ended, output.broken, link.ended)
        if source.ended.is_set() and not output.broken.is_set():
            link.write_eof()
            await first(output.broken, link.ended)
        elif not output.broken.is_set():
            raise host_gone()
    finally:
        source.close()
        link.close()
        await output.close()


def host_gone() -> CapError:
    """The joined host ended in the middle."""
    return UnavailableError("BROWSER_GONE", "the host ended during the command; repeat it")
