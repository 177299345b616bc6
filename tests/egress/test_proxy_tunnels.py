"""Tunnels through the proxy's process: nothing lost, each way stopped and ended by itself, a thousand at once."""

from __future__ import annotations

import asyncio
import os
import resource
from collections.abc import Iterator
from contextlib import AsyncExitStack

import pytest
import websockets

from host.egress.egress import Egress
from tests.support.egress import Server, Talk, ok, proxied, talking
from tests.support.processes import memory_kib

MIB = 1024 * 1024
MOST_KIB = 40 * 1024


async def echo(server: Server, talk: Talk) -> None:
    """Sends back what comes, and ends when the other side does."""
    while data := await talk.reader.read(65536):
        await talk.send(data)


async def tunnelled(talk: Talk, place: str, early: bytes = b"") -> None:
    """Make a fresh connection to the proxy a tunnel."""
    await talk.send(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode() + early)
    assert (await talk.head()).status == 200


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    """As many as the system lets us have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_bytes_that_come_with_the_request_or_with_the_connection_are_not_lost() -> None:
    async def greets(server: Server, talk: Talk) -> None:
        await talk.send(b"hello\x00\xff")
        await echo(server, talk)

    async with Server(greets) as server, proxied((), server.place) as egress, talking(egress.port) as talk:
        await tunnelled(talk, server.place, b"GET /\r\n\r\nearly\x00\xfe")
        assert await talk.reader.readexactly(7) == b"hello\x00\xff"
        assert await talk.reader.readexactly(16) == b"GET /\r\n\r\nearly\x00\xfe"
        block = os.urandom(3 * MIB)
        talk.writer.write(block)
        assert await talk.reader.readexactly(len(block)) == block


async def test_each_way_ends_by_itself() -> None:
    async def last_word(server: Server, talk: Talk) -> None:
        got = await talk.rest() or b""
        await talk.send(b"after %d bytes: " % len(got) + b"x" * MIB)

    async def first_word(server: Server, talk: Talk) -> None:
        await talk.send(b"done")
        talk.writer.write_eof()
        server.heads.append((await talk.rest() or b"").decode())

    async with Server(last_word) as last, Server(first_word) as first, proxied((), last.place, first.place) as egress:
        async with talking(egress.port) as talk:
            await tunnelled(talk, last.place)
            await talk.send(b"y" * MIB)
            talk.writer.write_eof()
            assert await talk.rest() == b"after 1048576 bytes: " + b"x" * MIB
        async with talking(egress.port) as talk:
            await tunnelled(talk, first.place)
            assert await talk.rest() == b"done"
            await talk.send(b"still heard")
            talk.close()
            await asyncio.wait_for(first.gone.wait(), 2.0)
            assert first.heads == ["still heard"]


async def test_a_reset_on_one_side_is_a_reset_on_the_other() -> None:
    seen: list[bytes | None] = []

    async def watches(server: Server, talk: Talk) -> None:
        seen.append(await talk.rest())

    async def breaks(server: Server, talk: Talk) -> None:
        await talk.reader.readexactly(1)
        talk.reset()

    async with Server(watches) as watching, Server(breaks) as breaking:  # noqa: SIM117 - their places are known inside
        async with proxied((), watching.place, breaking.place) as egress:
            async with talking(egress.port) as talk:
                await tunnelled(talk, watching.place)
                talk.reset()
                await asyncio.wait_for(watching.gone.wait(), 2.0)
                assert seen == [None]
            async with talking(egress.port) as talk:
                await tunnelled(talk, breaking.place)
                await talk.send(b"x")
                assert await talk.rest() is None


async def test_a_reader_that_stopped_stops_its_sender_and_nobody_else() -> None:
    async def pours(server: Server, talk: Talk) -> None:
        while True:
            await talk.send(bytes(65536))

    async with Server(pours) as pouring, Server(echo) as echoing:  # noqa: SIM117 - their places are known inside
        async with proxied((), pouring.place, echoing.place) as egress, AsyncExitStack() as stack:
            for _ in range(30):
                talk = await stack.enter_async_context(talking(egress.port))
                talk.writer.transport.pause_reading()  # type: ignore[attr-defined] # a selector's transport can
                await talk.send(f"CONNECT {pouring.place} HTTP/1.1\r\nHost: x\r\n\r\n")
            other = await stack.enter_async_context(talking(egress.port))
            await tunnelled(other, echoing.place)
            for _ in range(20):
                await other.send(b"x" * 10_000)
                assert await asyncio.wait_for(other.reader.readexactly(10_000), 2.0)
                await asyncio.sleep(0.01)
            assert egress.pid is not None
            assert memory_kib(egress.pid, "VmHWM") < MOST_KIB


async def one_thousand(egress: Egress, stack: AsyncExitStack, raw: str, socket_place: str) -> list[Talk]:
    """1,000 open tunnels, 100 of them WebSockets that have said something."""
    talks = []
    for _ in range(900):
        talk = await stack.enter_async_context(talking(egress.port))
        await tunnelled(talk, raw)
        talks.append(talk)
    for number in range(100):
        connected = await stack.enter_async_context(
            websockets.connect(f"ws://{socket_place}/", proxy=f"http://127.0.0.1:{egress.port}", max_queue=2)
        )
        await connected.send(str(number))
        assert await connected.recv() == str(number)
    return talks


@pytest.mark.usefixtures("many_descriptors")
async def test_a_thousand_tunnels_and_websockets_are_open_at_once_in_little_memory() -> None:
    async def says_it_again(connection: websockets.ServerConnection) -> None:
        async for message in connection:
            await connection.send(message)

    async with Server(echo) as raw, websockets.serve(says_it_again, "127.0.0.1", 0, compression=None) as serving:
        socket_place = f"127.0.0.1:{next(iter(serving.sockets)).getsockname()[1]}"
        async with proxied((), raw.place, socket_place) as egress:
            pid = egress.pid
            assert pid is not None
            before = len(os.listdir(f"/proc/{pid}/fd"))
            async with AsyncExitStack() as stack:
                talks = await one_thousand(egress, stack, raw.place, socket_place)
                assert len(os.listdir(f"/proc/{pid}/fd")) == before + 2000
                for talk in talks:
                    talk.writer.write(b"z" * 20_000)
                for talk in talks:
                    assert await talk.reader.readexactly(20_000)
                assert memory_kib(pid, "VmHWM") < MOST_KIB
            async with asyncio.timeout(5.0):
                while len(os.listdir(f"/proc/{pid}/fd")) > before:  # noqa: ASYNC110 - another process closes them
                    await asyncio.sleep(0.05)
            print(f"{memory_kib(pid, 'VmHWM')} KiB at most, {memory_kib(pid)} KiB at the end")
            assert memory_kib(pid) < MOST_KIB


@pytest.mark.usefixtures("many_descriptors")
async def test_five_hundred_small_things_at_once_all_arrive() -> None:
    async def once(port: int | None, url: str) -> bytes:
        async with talking(port) as talk:
            return (await talk.ask(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n")).body

    async with Server(ok) as server, proxied((), server.place) as egress:
        got = await asyncio.gather(*(once(egress.port, f"{server.url}/{number}") for number in range(500)))
        assert got == [f"GET /{number} HTTP/1.1".encode() for number in range(500)]
        assert server.connections == 500
