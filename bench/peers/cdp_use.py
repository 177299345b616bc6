"""The `cdp-use` package as a client: generated typed calls over websockets."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from collections.abc import AsyncIterator
from typing import Any

from bench.app.main import LARGE_PARAMS, PARAMS, check, check_large
from bench.peers.worker import DOMAINS, Counter, work

BLANK = "about:blank"


class CdpUse:
    """Tabs are (session, target)."""

    def __init__(self, client: Any) -> None:
        self._send = client.send
        self._loads: dict[str, asyncio.Future[None]] = {}
        self._counters: dict[str, Counter] = {}
        client.register.Page.loadEventFired(self._loaded)
        client.register.Runtime.consoleAPICalled(self._logged)

    def _loaded(self, params: Any, session: str | None) -> None:
        if session in self._loads:
            self._loads.pop(session).set_result(None)

    def _logged(self, params: Any, session: str | None) -> None:
        if session in self._counters:
            self._counters[session].hit()

    async def open(self, url: str) -> tuple[str, str]:
        """As the direct clients do it."""
        send = self._send
        target = (await send.Target.createTarget({"url": BLANK, "newWindow": True}))["targetId"]
        session = (await send.Target.attachToTarget({"targetId": target, "flatten": True}))["sessionId"]
        loaded = self._loads[session] = asyncio.get_running_loop().create_future()
        await asyncio.gather(*(getattr(send, domain).enable(session_id=session) for domain in DOMAINS))
        await send.Page.navigate({"url": url}, session_id=session)
        await loaded
        return session, target

    async def close(self, tab: tuple[str, str]) -> None:
        """Close the target."""
        await self._send.Target.closeTarget({"targetId": tab[1]})

    async def one(self, tab: tuple[str, str]) -> None:
        """A small call."""
        check(await self._send.Runtime.evaluate(PARAMS, session_id=tab[0]))

    async def large(self, tab: tuple[str, str]) -> None:
        """A large result."""
        check_large(await self._send.Runtime.evaluate(LARGE_PARAMS, session_id=tab[0]))

    async def flood(self, tab: tuple[str, str], expression: str, count: int) -> tuple[int, int]:
        """Count events as they come."""
        counter = self._counters[tab[0]] = Counter()
        counter.expect(count)
        evaluated = self._send.Runtime.evaluate({"expression": expression}, session_id=tab[0])
        _, counted = await asyncio.gather(evaluated, counter.counted())
        return counted


@contextlib.asynccontextmanager
async def connected(task: dict[str, Any]) -> AsyncIterator[CdpUse]:
    """Connected to the address of the task."""
    client = importlib.import_module("cdp_use.client").CDPClient(task["address"])
    await client.start()
    try:
        yield CdpUse(client)
    finally:
        await client.stop()


if __name__ == "__main__":
    work(connected)
