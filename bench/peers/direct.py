"""Clients with nothing between them and Chromium: `pipe` (msgspec, raw results) and `websocket` (websockets, json)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from bench.app.main import CONSOLE, LARGE_CHARS, LARGE_PARAMS, LOADED, METHOD, PARAMS, check, check_large
from bench.clients import CdpClient, PipeClient
from bench.peers.worker import DOMAINS, Counter, work

BLANK = "about:blank"
ONE = b'{"result":{"type":"number","value":1,"description":"1"}}'


class Direct:
    """Tabs are (session, target)."""

    def __init__(self, client: CdpClient) -> None:
        self._client = client
        self._loads: dict[str, asyncio.Future[None]] = {}
        self._counters: dict[str, Counter] = {}
        client.on_event = self._event

    def _event(self, method: str, session: str) -> None:
        if method == CONSOLE and session in self._counters:
            self._counters[session].hit()
        elif method == LOADED and session in self._loads:
            self._loads.pop(session).set_result(None)

    async def open(self, url: str) -> tuple[str, str]:
        """The enables go together and are awaited before navigating: else the load event is lost in some opens."""
        call = self._client.call
        target = (await call("Target.createTarget", {"url": BLANK, "newWindow": True}))["targetId"]
        session = (await call("Target.attachToTarget", {"targetId": target, "flatten": True}))["sessionId"]
        loaded = self._loads[session] = asyncio.get_running_loop().create_future()
        await asyncio.gather(*(call(f"{domain}.enable", {}, session) for domain in DOMAINS))
        await call("Page.navigate", {"url": url}, session)
        await loaded
        return session, target

    async def close(self, tab: tuple[str, str]) -> None:
        """Close the target."""
        await self._client.call("Target.closeTarget", {"targetId": tab[1]})

    async def one(self, tab: tuple[str, str]) -> None:
        """A small call."""
        check(await self._client.call(METHOD, PARAMS, tab[0]))

    async def large(self, tab: tuple[str, str]) -> None:
        """A large result."""
        check_large(await self._client.call(METHOD, LARGE_PARAMS, tab[0]))

    async def flood(self, tab: tuple[str, str], expression: str, count: int) -> tuple[int, int]:
        """Count events as they come."""
        counter = self._counters[tab[0]] = Counter()
        counter.expect(count)
        evaluated = self._client.call(METHOD, {"expression": expression}, tab[0])
        answered = asyncio.ensure_future(evaluated)
        counted = await counter.counted()
        await answered
        return counted


class DirectRaw(Direct):
    """The same with results that stay bytes: the least that a client can do."""

    def __init__(self, client: PipeClient) -> None:
        super().__init__(client)
        self._post = client.post

    async def one(self, tab: tuple[str, str]) -> None:
        result = bytes(await self._post(METHOD, PARAMS, tab[0]))
        if result != ONE:
            raise ValueError(f"the page answered {result!r}")

    async def large(self, tab: tuple[str, str]) -> None:
        if len(await self._post(METHOD, LARGE_PARAMS, tab[0])) < LARGE_CHARS:
            raise ValueError("the large result is not whole")


@contextlib.asynccontextmanager
async def direct(task: dict[str, Any]) -> AsyncIterator[Direct]:
    """Over a WebSocket when the task has an address, else over the pipe that was handed down."""
    if task["address"]:
        from bench.websocket import websocket_client  # only here: its memory is not the pipe's

        async with websocket_client(task["address"]) as socket:
            yield Direct(socket)
        return
    client = PipeClient()
    await client.pipe.open(task["read_fd"], task["write_fd"])
    try:
        yield DirectRaw(client)
    finally:
        client.pipe.close()


if __name__ == "__main__":
    work(direct)
