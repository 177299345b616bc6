"""One caller's line conversation with a dispatcher that has entries of no consequence; holds no assertion on codes."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

from host.core.limits import Limits
from host.dispatch.call import Call
from host.dispatch.entry import Lane
from host.frontends.wire_connection import WireConnection
from tests.dispatch.support import World, caller, entry

Message = dict[str, Any]
SLOW_S = 0.005


def stay(call: Call) -> None:
    """Leaves its call under way."""


def at_once(call: Call) -> None:
    """Answers before the dispatcher has returned."""
    call.finish(b'{"at":"once"}')


def slow(call: Call) -> None:
    """Keeps the loop busy, then answers."""
    time.sleep(SLOW_S)
    call.finish(b"{}")


class Talk:
    """A connection, its world, and what it wrote."""

    def __init__(
        self, *, limits: Limits | None = None, notices: list[tuple[str, Any]] | None = None, **more: Any
    ) -> None:
        self.world = World(
            entry(capability=None),
            entry("t.stay", handler=stay, capability=None),
            entry("t.once", handler=at_once, capability=None),
            entry("t.tab", handler=stay, capability=None, lane=Lane.TAB),
            entry("t.slow", handler=slow, capability=None),
        )
        self.written = b""
        self._news = asyncio.Event()
        on_notice = None if notices is None else lambda name, data: notices.append((name, data))
        self.connection = WireConnection(
            self.world.dispatcher, caller(), self._write, limits or Limits(), on_notice, **more
        )

    def _write(self, line: bytes) -> None:
        assert line.count(b"\n") == 1
        assert line.endswith(b"\n")
        self.written += line
        self._news.set()

    def says(self, *messages: Message | bytes) -> Talk:
        for message in messages:
            self.connection.feed(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        return self

    @property
    def answers(self) -> list[Message]:
        return [json.loads(line) for line in self.written.splitlines()]

    @property
    def told(self) -> list[tuple[Any, str]]:
        """(id, code) of each answer; "ok" for a result."""
        return [(one["id"], "ok" if one["ok"] else one["error"]["code"]) for one in self.answers]

    async def until(self, count: int) -> list[Message]:
        async with asyncio.timeout(5):
            while len(self.answers) < count:
                self._news.clear()
                await self._news.wait()
        return self.answers
