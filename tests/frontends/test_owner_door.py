"""What a job says to a command that does not read: it is bounded, and what is left out is told."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

from host.core.grants import Caller
from host.core.limits import KIB, Limits
from host.frontends import owner_door
from host.frontends.owner_door import OwnerDoor, OwnerServer, Tell
from tests.dispatch.support import World, caller

LINES = 2000
MESSAGE = "x" * (8 * KIB)


def attach(args: dict[str, Any]) -> Caller:
    return caller()


async def talkative(args: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """A run that floods its log: 16 MB."""
    for number in range(LINES):
        tell("progress", {"done": number})
        tell("log", {"level": "info", "message": MESSAGE})
        if number % 5 == 0:
            await asyncio.sleep(0)
    args["said"].set()
    await args["go"].wait()
    return {"done": True}


async def conversation(*, reads: bool) -> tuple[int, list[dict[str, Any]]]:
    """How many bytes waited to be read when all was said, and what was read in the end."""
    said, go = asyncio.Event(), asyncio.Event()

    async def job(args: dict[str, Any], tell: Tell) -> dict[str, Any]:
        return await talkative({"said": said, "go": go}, tell)

    ours, theirs = socket.socketpair()
    server = OwnerServer(World().dispatcher, Limits(), attach, {"host.run": job})
    door = OwnerDoor(server)
    transport, _ = await asyncio.get_running_loop().create_connection(lambda: door, sock=ours)
    reader, writer = await asyncio.open_connection(sock=theirs, limit=1 << 20)
    read: list[dict[str, Any]] = []

    async def read_all() -> None:
        while line := await reader.readline():
            read.append(json.loads(line))

    if not reads:
        reader._transport.pause_reading()  # type: ignore[attr-defined] # typeshed leaves it out
    reading = asyncio.create_task(read_all())
    writer.write(b'{"id":1,"method":"host.run"}\n')
    async with asyncio.timeout(10):
        await said.wait()
        waited = transport.get_write_buffer_size()
        if not reads:
            reader._transport.resume_reading()  # type: ignore[attr-defined]
            while transport.get_write_buffer_size():  # noqa: ASYNC110 - the door is told, and nobody else
                await asyncio.sleep(0.01)
        go.set()
        await reading
    writer.close()
    await server.close()
    return waited, read


async def test_a_command_that_does_not_read_a_runs_log_is_told_later_how_much_was_left_out() -> None:
    waited, read = await conversation(reads=False)
    assert waited < owner_door.UNREAD_BYTES + 64 * KIB
    logged = [one["data"] for one in read if one.get("notice") == "log"]
    assert len(logged) < LINES
    assert [one["level"] for one in logged[-2:]] == ["info", "warning"]
    assert f"{LINES - len(logged) + 1} lines" in logged[-1]["message"]
    assert read[-1] == {"id": 1, "ok": True, "result": {"done": True}}


async def test_a_command_that_reads_gets_every_line() -> None:
    _, read = await conversation(reads=True)
    levels = [one["data"]["level"] for one in read if one.get("notice") == "log"]
    assert levels == ["info"] * LINES
    assert read[-1] == {"id": 1, "ok": True, "result": {"done": True}}
