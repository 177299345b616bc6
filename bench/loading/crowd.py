"""A small call of one session while others load: through the product, and directly to see what Chromium itself does."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any, Protocol

from bench.clients import PipeClient, StdioClient
from bench.cpu import process_cpu_ns
from bench.loading.memory import memory_of, proxy_of
from bench.loading.pages import WHOLE
from bench.loading.site import Site
from bench.loading.tabs import Tab, browser, loaded
from bench.loading.works import ORIGINS, Plan
from bench.product import GRANT
from bench.subjects import END_S, open_tab

RESOURCES = 60  # of each page
DELAY_MS = 40  # of each answer: a site in the net, not one whose packets never leave the memory
WARM_UP_CALLS = 100
LEAST_S = 5.0  # of the time under load: a page takes a second or two when 16 load
EVALUATE = {"expression": "1", "returnByValue": True}
AWAITED = {"expression": WHOLE, "awaitPromise": True, "returnByValue": True}


class Lent(Protocol):
    """What a tab of either client does."""

    async def one(self) -> None:
        """The small call."""

    async def load(self, url: str, least: int = 0) -> float:
        """Navigate until all is there."""


class SessionTab:
    """A session of the product."""

    def __init__(self, client: StdioClient, session: str) -> None:
        self._client = client
        self._session = session

    async def _cdp(self, method: str, params: dict[str, Any]) -> Any:
        args = {"sessionId": self._session, "method": method, "params": params}
        return (await self._client.call("browser.cdp", args))["result"]

    async def one(self) -> None:
        """The least that can be asked."""
        await self._cdp("Runtime.evaluate", EVALUATE)

    async def load(self, url: str, least: int = 0) -> float:
        """Navigate, until all is there: milliseconds by the page's clock. Raises RuntimeError when something is not."""
        told = await self._cdp("Page.navigate", {"url": url})
        if told.get("errorText"):
            raise RuntimeError(f"{url}: {told['errorText']}")
        return loaded(url, (await self._cdp("Runtime.evaluate", AWAITED))["result"]["value"], least)


async def crowd(site: Site, plan: Plan) -> dict[str, dict[str, float]]:
    """Both clients: `quiet_us`, `loaded_us` and `loaded_p90_us` of the call, and `pages` that were loaded meanwhile.

    The product's also has what its proxy held, `private`, `rss` and `peak`, bytes; and `host_share` and `proxy_share`,
    how much of one core these used under load.
    """
    async with host(site, plan.crowd + 1) as (client, pid):
        opened = [
            await client.call("browser.openSession", {"url": f"{site.origins[0]}/"}) for _ in range(plan.crowd + 1)
        ]
        tabs: list[Lent] = [SessionTab(client, one["sessionId"]) for one in opened]
        pids = {"host": pid, "proxy": proxy_of(pid)}
        product = {**await measured(tabs, site, plan.calls, pids), **memory_of(pids["proxy"])}
    async with browser() as plain:
        tabs = [await direct_tab(plain.client, site) for _ in range(plan.crowd + 1)]
        return {"product": product, "direct": await measured(tabs, site, plan.calls, {})}


async def direct_tab(client: PipeClient, site: Site) -> Lent:
    """With the domains enabled that the host enables: their events are a part of the load."""
    tab = Tab(client, await open_tab(client))
    await tab.load(f"{site.origins[0]}/")
    return tab


@contextlib.asynccontextmanager
async def host(site: Site, sessions: int) -> AsyncIterator[tuple[StdioClient, int]]:
    """`capsdk stdio` in a process of its own, and its pid."""
    words = [sys.executable, "-m", "host.main", "stdio", "--ephemeral", "--grant", GRANT]
    words += [word for place in sorted(site.places(ORIGINS)) for word in ("--allow-loopback", place)]
    more = {f"CAPSDK_LIMIT_SESSIONS_PER_{whose}": str(sessions) for whose in ("CLIENT", "HOST")}
    with subprocess.Popen(  # noqa: ASYNC220 - nothing else is under way while it starts
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env={**os.environ, **more}
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        client = StdioClient()
        try:
            await client.pipe.open(os.dup(process.stdout.fileno()), os.dup(process.stdin.fileno()))
            process.stdin.close()
            yield client, process.pid
        finally:
            client.pipe.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(END_S)  # its standard input has ended
            process.kill()


async def measured(tabs: list[Lent], site: Site, calls: int, pids: Mapping[str, int]) -> dict[str, float]:
    """Quiet, loaded, quiet: the last tab calls, the others load page after page. For `pids` also their shares."""
    *others, caller = tabs
    await timed(caller.one, WARM_UP_CALLS, 0.0)
    before_us, _ = await timed(caller.one, calls, 0.0)
    urls = addresses(site)
    took_ms: list[float] = []
    loading = [asyncio.ensure_future(load_on(tab, urls, took_ms)) for tab in others]
    try:
        await asyncio.sleep(0.2)  # until all have begun
        began_ns, used_ns = time.perf_counter_ns(), {name: process_cpu_ns(pid) for name, pid in pids.items()}
        loaded_us, loaded_p90_us = await timed(caller.one, calls, LEAST_S)
        pages, took_ns = len(took_ms), time.perf_counter_ns() - began_ns
        shares = {f"{name}_share": (process_cpu_ns(pid) - used_ns[name]) / took_ns for name, pid in pids.items()}
    finally:
        for one in loading:
            one.cancel()
        ended = await asyncio.gather(*loading, return_exceptions=True)
    for problem in ended:
        if not isinstance(problem, asyncio.CancelledError):
            raise RuntimeError(f"a page was not loaded: {problem}")
    await settled(others)
    after_us, _ = await timed(caller.one, calls, 0.0)
    quiet_us = (before_us + after_us) / 2
    return {"quiet_us": quiet_us, "loaded_us": loaded_us, "loaded_p90_us": loaded_p90_us, "pages": pages, **shares}


def addresses(site: Site) -> Iterator[str]:
    """Those of pages that nobody has loaded yet, without end."""
    ports = ",".join(str(port) for port in site.ports[:ORIGINS])
    for number in itertools.count():
        yield f"{site.origins[0]}/page/{RESOURCES}/{DELAY_MS}/{ports}/crowd-{number}"


async def load_on(tab: Lent, urls: Iterator[str], took_ms: list[float]) -> None:
    """One page after another, until cancelled."""
    for url in urls:
        took_ms.append(await tab.load(url, least=RESOURCES))


async def settled(tabs: list[Lent]) -> None:
    """Wait until nothing loads any more."""
    for tab in tabs:
        await tab.one()
    await asyncio.sleep(1.0)


async def timed(call: Callable[[], Awaitable[None]], least: int, least_s: float) -> tuple[float, float]:
    """p50 and p90 of so many calls, and as many more as fit into the time, one after another; µs."""
    clock = time.perf_counter
    took_us: list[float] = []
    ends = clock() + least_s
    while len(took_us) < least or clock() < ends:
        began = clock()
        await call()
        took_us.append((clock() - began) * 1e6)
    took_us.sort()
    return took_us[len(took_us) // 2], took_us[len(took_us) * 9 // 10]
