"""Playwright's Python `CDPSession` as a client: its driver, a process of Node, is between it and Chromium."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from collections.abc import AsyncIterator
from typing import Any

from bench.app.main import CONSOLE, LARGE_PARAMS, METHOD, PARAMS, check, check_large
from bench.peers.worker import DOMAINS, Counter, work


class Playwright:
    """Tabs are (CDP session, page, counter)."""

    def __init__(self, context: Any) -> None:
        self._context = context

    async def open(self, url: str) -> tuple[Any, Any, Counter]:
        """Its own way to open a page, with the same domains enabled; `goto` waits for the load event."""
        page = await self._context.new_page()
        session = await self._context.new_cdp_session(page)
        counter = Counter()
        session.on(CONSOLE, counter.hit)
        await asyncio.gather(*(session.send(f"{domain}.enable") for domain in DOMAINS))
        await page.goto(url)
        return session, page, counter

    async def close(self, tab: tuple[Any, Any, Counter]) -> None:
        """Close the page."""
        await tab[1].close()

    async def one(self, tab: tuple[Any, Any, Counter]) -> None:
        """A small call."""
        check(await tab[0].send(METHOD, PARAMS))

    async def large(self, tab: tuple[Any, Any, Counter]) -> None:
        """A large result."""
        check_large(await tab[0].send(METHOD, LARGE_PARAMS))

    async def flood(self, tab: tuple[Any, Any, Counter], expression: str, count: int) -> tuple[int, int]:
        """Count events as they come."""
        tab[2].expect(count)
        _, counted = await asyncio.gather(tab[0].send(METHOD, {"expression": expression}), tab[2].counted())
        return counted


@contextlib.asynccontextmanager
async def connected(task: dict[str, Any]) -> AsyncIterator[Playwright]:
    """Connected to the address of the task, in Chromium's default context."""
    async with importlib.import_module("playwright.async_api").async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(task["address"])
        try:
            yield Playwright(browser.contexts[0])
        finally:
            await browser.close()


if __name__ == "__main__":
    work(connected, driver=True)
