"""What the Python peers share: the task from the command line, counting events, figures on standard output."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from bench.app.main import QUIET_MS, Client, measure_works
from bench.marks import Marks
from bench.memory import children_of

DOMAINS = ("Page", "DOM", "Runtime", "Network", "Log")
Start = Callable[[dict[str, Any]], AbstractAsyncContextManager[Client]]
__all__ = ["DOMAINS", "AsyncIterator", "Client", "Counter", "Start", "work"]


class Counter:
    """Counts console events of a tab, one flood after another."""

    def __init__(self) -> None:
        self._seen = self._wanted = 0
        self._all: asyncio.Event = asyncio.Event()

    def hit(self, *_: object) -> None:
        """One more."""
        self._seen += 1
        if self._seen == self._wanted:
            self._all.set()

    def expect(self, count: int) -> None:
        """A flood of so many begins."""
        self._seen, self._wanted = 0, count
        self._all.clear()

    async def counted(self) -> tuple[int, int]:
        """How many came, and how many of them are known to be lost: a direct client is never told."""
        try:
            async with asyncio.timeout(QUIET_MS / 1000):
                await self._all.wait()
        except TimeoutError:
            pass
        return self._seen, 0


def work(start: Start, *, driver: bool = False) -> None:
    """Measure the client that `start` gives. With `driver`, the client's child is between it and Chromium."""
    task = json.loads(sys.argv[1])
    figures = asyncio.run(_work(start, task, driver))
    print(json.dumps(figures), flush=True)


async def _work(start: Start, task: dict[str, Any], driver: bool) -> dict[str, dict[str, float]]:
    async with start(task) as client:
        between = children_of(os.getpid()) if driver else []
        marks = Marks(between[0] if between else None, [os.getpid(), *between])

        async def mark(name: str) -> None:
            marks.read(name)

        return marks.added_to(await measure_works(client, mark, task["plan"]))
