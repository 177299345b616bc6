"""What a caller is told without asking: by the doors that are its own, and only while they are open."""

from __future__ import annotations

import json

from host.core.limits import Limits
from host.frontends.wire_connection import WireConnection
from tests.dispatch.support import World, caller, entry


def notices(written: list[bytes]) -> list[object]:
    return [json.loads(line) for line in written]


async def test_every_door_of_the_caller_hears_and_no_other() -> None:
    world = World(entry(capability=None))
    mine, also_mine, others = [], [], []  # type: list[bytes], list[bytes], list[bytes]
    for written, run in ((mine, "r1"), (also_mine, "r1"), (others, "r2")):
        WireConnection(world.dispatcher, caller(run=run), written.append, Limits())
    world.dispatcher.tell(caller(run="r1"), "session.closed", {"sessionId": "s"})
    assert notices(mine) == notices(also_mine) == [{"notice": "session.closed", "data": {"sessionId": "s"}}]
    assert others == []


async def test_a_door_that_ended_is_told_nothing() -> None:
    world = World(entry(capability=None))
    written: list[bytes] = []
    connection = WireConnection(world.dispatcher, caller(), written.append, Limits())
    await connection.end()
    world.dispatcher.tell(caller(), "session.closed", {"sessionId": "s"})
    assert written == []
