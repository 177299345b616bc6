"""A Chromium and one tab of it, driven over the pipe by the smallest client: with and without the proxy between."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from bench.chromium import chromium
from bench.clients import PipeClient
from bench.cpu import process_cpu_ns
from bench.loading.pages import FETCH_ALL, FIRST_BYTES, RESOURCE_BYTES, WHOLE
from bench.memory import descendants_of
from host.browser.process import PROXY_FLAGS

WORK_S = 120.0
READY_S = 20.0


def proxy_flags(port: int) -> list[str]:
    """What sends a Chromium's traffic to the proxy, as the host says it."""
    return [flag.format(port=port) for flag in PROXY_FLAGS]


@dataclass(frozen=True, slots=True)
class Browser:
    """A running Chromium."""

    client: PipeClient
    keeper: int

    def cpu_ms(self) -> float:
        """The CPU that the processes it has now have used so far, milliseconds."""
        total_ns = 0
        for pid in descendants_of(self.keeper):
            with contextlib.suppress(OSError):
                total_ns += process_cpu_ns(pid)
        return total_ns / 1e6


@contextlib.asynccontextmanager
async def browser(flags: Sequence[str] = ()) -> AsyncIterator[Browser]:
    """A Chromium of its own with the host's flags and these, for the time of a `with`."""
    with chromium(port=False, flags=flags) as peer:
        client = PipeClient()
        try:
            await client.pipe.open(peer.read_fd, peer.write_fd)
        except BaseException:
            os.close(peer.read_fd)
            raise
        try:
            async with asyncio.timeout(READY_S):
                await client.call("Browser.getVersion", {})
            yield Browser(client, peer.keeper)
        finally:
            client.pipe.close()


class Tab:
    """One tab; no domain is enabled in it, so that nothing is told of what it loads."""

    def __init__(self, client: PipeClient, session: str) -> None:
        self._client = client
        self._session = session

    @classmethod
    async def open(cls, client: PipeClient) -> Tab:
        """In a window of its own, as sessions have."""
        target = await client.call("Target.createTarget", {"url": "about:blank", "newWindow": True})
        attached = await client.call("Target.attachToTarget", {"targetId": target["targetId"], "flatten": True})
        return cls(client, str(attached["sessionId"]))

    async def value(self, expression: str) -> Any:
        """What the page says, its promise awaited. Raises RuntimeError when it throws."""
        params = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        async with asyncio.timeout(WORK_S):
            answer = await self._client.call("Runtime.evaluate", params, self._session)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"the page threw {answer['result'].get('description', answer['result'])}")
        return answer["result"].get("value")

    async def one(self) -> None:
        """The least that can be asked."""
        await self._client.post("Runtime.evaluate", {"expression": "1", "returnByValue": True}, self._session)

    async def load(self, url: str, least: int = 0) -> float:
        """Navigate, until all is there: milliseconds by the page's clock. Raises RuntimeError when something is not."""
        async with asyncio.timeout(WORK_S):
            told = await self._client.call("Page.navigate", {"url": url}, self._session)
        if told.get("errorText"):
            raise RuntimeError(f"{url}: {told['errorText']}")
        return loaded(url, await self.value(WHOLE), least)

    async def fetch(self, url: str, size: int) -> float:
        """Read a body to its end in the page: milliseconds. Raises RuntimeError when it is not whole."""
        took_ms, read = await self.value(FETCH_ALL % json.dumps(url))
        if read != size:
            raise RuntimeError(f"{url}: {read} bytes instead of {size}")
        return float(took_ms)

    async def first_bytes(self, urls: Sequence[str]) -> list[float]:
        """Fetch one after another: milliseconds until each answer began."""
        found = await self.value(FIRST_BYTES % (RESOURCE_BYTES, json.dumps(list(urls))))
        return [float(took_ms) for took_ms in found]


def loaded(url: str, told: Any, least: int) -> float:
    """What a page said of its loading: milliseconds. Raises RuntimeError when a resource is missing."""
    took_ms, count = told
    if count < least:
        raise RuntimeError(f"{url}: {count} of {least} resources were loaded")
    return float(took_ms)
