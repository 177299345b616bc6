"""The pipe transport on real pipes: the end of either is the end of both."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator

import pytest

from host.cdp.connection import ConnectionGone
from host.cdp.pipe import PipeTransport


class Pipes:
    """The browser's ends of two pipes and the transport on the others."""

    def __init__(self, says: int, hears: int, transport: PipeTransport) -> None:
        self.says, self.hears, self.transport = says, hears, transport
        assert transport.connection is not None
        self.connection = transport.connection

    def close(self, fd: int) -> None:
        if fd == self.says:
            self.says = -1
        else:
            self.hears = -1
        os.close(fd)


@pytest.fixture
async def pipes() -> AsyncIterator[Pipes]:
    from_browser, says = os.pipe()
    hears, to_browser = os.pipe()
    pipes = Pipes(says, hears, await PipeTransport.open(from_browser, to_browser))
    yield pipes
    pipes.transport.close()
    for fd in (pipes.says, pipes.hears):
        if fd >= 0:
            os.close(fd)


async def test_commands_go_out_and_replies_come_in(pipes: Pipes) -> None:
    future = pipes.connection.start("Browser.getVersion")
    sent = await asyncio.to_thread(os.read, pipes.hears, 4096)
    assert json.loads(sent.rstrip(b"\0")) == {"id": 1, "method": "Browser.getVersion", "params": {}}
    os.write(pipes.says, b'{"id":1,"result":{"product":"x"}}\0')
    assert await asyncio.wait_for(future, 5) == {"product": "x"}


@pytest.mark.parametrize("which", ["says", "hears"])
async def test_the_end_of_either_pipe_ends_everything(pipes: Pipes, which: str) -> None:
    future = pipes.connection.start("Browser.getVersion")
    pipes.close(getattr(pipes, which))
    with pytest.raises(ConnectionGone):
        await asyncio.wait_for(future, 5)
    assert pipes.connection.closed


async def test_closing_twice_tells_once(pipes: Pipes) -> None:
    lost: list[bool] = []
    pipes.connection.on_lost = lambda: lost.append(True)
    pipes.transport.close()
    pipes.transport.close()
    assert lost == [True]
