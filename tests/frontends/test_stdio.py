"""The door on standard input and output, on pipes, files, sockets and terminals that the test makes itself."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import select
import socket
import tty
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from host.core.limits import Limits
from host.dispatch.call import Call
from host.frontends import stdio
from host.frontends.stdio import Input, Output, serve_stdio
from tests.dispatch.support import World, caller, entry

CALL = b'{"id":1,"method":"t.echo","args":{"text":"x"}}\n'
ANSWER = {"id": 1, "ok": True, "result": {"text": "x"}}


def stay(call: Call) -> None:
    """Leaves its call under way."""


def big(call: Call) -> None:
    """Answers with 100,000 bytes."""
    call.finish(b'"%b"' % (b"x" * 100_000))


@pytest.fixture
def opened() -> Iterator[Callable[[int], int]]:
    """Remembers descriptors and closes those that are still open in the end."""
    fds: list[int] = []

    def remember(fd: int) -> int:
        fds.append(fd)
        return fd

    yield remember
    for fd in fds:
        try:
            os.close(fd)
        except OSError:
            continue


@pytest.fixture
def world() -> World:
    return World(
        entry(capability=None),
        entry("t.stay", handler=stay, capability=None),
        entry("t.big", handler=big, capability=None),
    )


def serve(world: World, read_fd: int, write_fd: int) -> asyncio.Task[None]:
    return asyncio.ensure_future(serve_stdio(world.dispatcher, caller(), Limits(), read_fd=read_fd, write_fd=write_fd))


def read(fd: int, lines: int = 1, within_s: float = 10) -> bytes:
    """What comes until so many lines have, or the end; fails when nothing comes for too long."""
    got: list[bytes] = []
    while lines > 0:
        assert select.select([fd], [], [], within_s)[0], "nothing more came"
        got.append(os.read(fd, 65_536))
        if not got[-1]:
            break
        lines -= got[-1].count(b"\n")
    return b"".join(got)


def messages(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


async def ended(task: asyncio.Task[None], within_s: float = 5) -> None:
    await asyncio.wait_for(task, within_s)


async def test_on_pipes_a_call_is_answered_and_the_caller_ends_when_input_closes(
    world: World, opened: Callable[[int], int]
) -> None:
    stdin, says = os.pipe()
    hears, stdout = os.pipe()
    for fd in (stdin, hears, stdout):
        opened(fd)
    task = serve(world, stdin, stdout)
    os.write(says, CALL)
    assert messages(await asyncio.to_thread(read, hears)) == [ANSWER]
    assert not task.done()
    os.close(says)
    await ended(task)


async def test_a_last_line_without_newline_is_answered_before_the_end(
    world: World, opened: Callable[[int], int]
) -> None:
    stdin, says = os.pipe()
    hears, stdout = os.pipe()
    for fd in (stdin, hears, stdout):
        opened(fd)
    os.write(says, CALL.rstrip())
    os.close(says)
    await ended(serve(world, stdin, stdout))
    assert messages(os.read(hears, 4096)) == [ANSWER]


async def test_input_that_closes_in_mid_call_ends_it_with_an_answer(
    world: World, opened: Callable[[int], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "SETTLE_S", 0.05)
    stdin, says = os.pipe()
    hears, stdout = os.pipe()
    for fd in (stdin, hears, stdout):
        opened(fd)
    os.write(says, b'{"id":1,"method":"t.stay"}\n{"id":2,"met')
    os.close(says)
    await ended(serve(world, stdin, stdout))
    told = messages(os.read(hears, 4096))
    assert sorted((str(one["id"]), one["error"]["code"]) for one in told) == [
        ("1", "CANCELLED"),
        ("None", "BAD_ARGUMENTS"),
    ]


async def test_a_reader_that_is_gone_ends_the_caller(world: World, opened: Callable[[int], int]) -> None:
    stdin, says = os.pipe()
    hears, stdout = os.pipe()
    for fd in (stdin, says, stdout):
        opened(fd)
    task = serve(world, stdin, stdout)
    await asyncio.sleep(0)
    os.close(hears)
    os.write(says, CALL)
    await ended(task)
    await asyncio.sleep(0.01)
    assert await world.answer(args={"text": "y"}) == b'{"text":"y"}'  # the host itself lives on


async def test_regular_files_are_read_to_their_end_and_written(
    world: World, opened: Callable[[int], int], tmp_path: Path
) -> None:
    calls = b"".join(b'{"id":%d,"method":"t.echo","args":{"text":"t%d"}}\n' % (n, n) for n in range(3000))
    (tmp_path / "in").write_bytes(calls)
    stdin = opened(os.open(tmp_path / "in", os.O_RDONLY))
    stdout = opened(os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT, 0o600))
    await ended(serve(world, stdin, stdout), 20)
    answers = messages((tmp_path / "out").read_bytes())
    by_id = {one["id"]: one for one in answers}
    assert len(answers) == len(by_id) == 3000
    assert {one["result"]["text"] for one in answers if one["ok"]} <= {f"t{n}" for n in range(3000)}
    assert {one["error"]["code"] for one in answers if not one["ok"]} <= {"RATE_LIMITED"}


@pytest.mark.parametrize("path", ["/dev/null", "/proc/self/mem"])
async def test_input_that_gives_nothing_ends_at_once(world: World, opened: Callable[[int], int], path: str) -> None:
    stdin = opened(os.open(path, os.O_RDONLY))
    hears, stdout = os.pipe()
    opened(stdout)
    await ended(serve(world, stdin, opened(stdout)))
    os.close(stdout)
    assert os.read(opened(hears), 10) == b""


async def test_a_directory_as_input_ends_at_once(world: World, opened: Callable[[int], int], tmp_path: Path) -> None:
    await ended(serve(world, opened(os.open(tmp_path, os.O_RDONLY)), opened(os.open(os.devnull, os.O_WRONLY))))


async def test_a_socket_is_both(world: World, opened: Callable[[int], int]) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        task = serve(world, theirs.fileno(), theirs.fileno())
        ours.sendall(CALL)
        assert messages(await asyncio.to_thread(read, ours.fileno())) == [ANSWER]
        ours.shutdown(socket.SHUT_WR)
        await ended(task)


async def test_a_terminal_is_both_and_a_slow_one_loses_nothing(world: World, opened: Callable[[int], int]) -> None:
    ours, theirs = pty.openpty()
    opened(ours)
    opened(theirs)
    tty.setraw(theirs)
    task = serve(world, theirs, theirs)
    os.write(ours, b'{"id":1,"method":"t.big"}\n')

    (answer,) = messages(await asyncio.to_thread(read, ours))
    assert len(answer["result"]) == 100_000
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_slow_reader_stops_further_calls_from_being_read(
    world: World, opened: Callable[[int], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "BUFFERED_BYTES", 300_000)
    stdin, says = os.pipe()
    hears, stdout = os.pipe()
    for fd in (stdin, hears, stdout):
        opened(fd)
    task = serve(world, stdin, stdout)
    line = b'{"id":"%05d","method":"t.big"}\n'

    def write_all() -> None:
        for at in range(0, 5000, 100):
            os.write(says, b"".join(line % number for number in range(at, at + 100)))
        os.close(says)

    writing = asyncio.ensure_future(asyncio.to_thread(write_all))
    await asyncio.sleep(0.3)
    begun = len(world.store.rows) // 2
    assert begun < 5000
    assert not writing.done()

    answers = await asyncio.to_thread(read, hears, 5000)
    assert answers.count(b"\n") == 5000
    await writing
    await ended(task)


async def test_closing_either_end_twice_is_fine(opened: Callable[[int], int]) -> None:
    stdin, says = os.pipe()
    hears, stdout = os.pipe()
    for fd in (stdin, says, hears, stdout):
        opened(fd)
    output = await Output.open(stdout)
    source = await Input.open(stdin, lambda data: None)
    output.write(b"one\n")
    for _ in range(2):
        source.close()
        await output.close()
    output.write(b"two\n")
    assert os.read(hears, 100) == b"one\n"
    await asyncio.wait_for(source.ended.wait(), 1)


async def test_a_file_is_read_no_faster_than_it_is_taken(tmp_path: Path, opened: Callable[[int], int]) -> None:
    path = tmp_path / "calls"
    path.write_bytes(b"x" * 1_000_000)
    taken: list[int] = []

    def take(data: bytes) -> None:
        taken.append(len(data))
        if len(taken) == 2:
            source.pause()

    source = Input(take)
    await source.start(opened(os.open(path, os.O_RDONLY)))
    async with asyncio.timeout(5):
        while len(taken) < 2:  # noqa: ASYNC110 - the feed is no coroutine
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    assert len(taken) == 2
    source.resume()
    async with asyncio.timeout(5):
        await source.ended.wait()
    assert sum(taken) == 1_000_000
    source.close()
