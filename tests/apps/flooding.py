"""A run that does its calls and tells how long they took, and one that is hostile in a way of its choice."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

from host.app import Host
from host.commands import run_on
from host.frontends.cli import RunRequest
from tests.support.processes import memory_kib

STEADY = """
import time

async def main(input, ctx):
    while True:
        began = time.perf_counter()
        for _ in range(input["calls"]):
            await ctx.cap.call("host.info")
        await ctx.cap.call("run.progress", {"done": time.perf_counter() - began})
"""

HOSTILE = '''
import json
import select
import socket

END = b"\\n"


def call(number, method, args=None):
    return json.dumps({"id": number, "method": method, "args": args or {}}).encode() + END


def many(method, args=None, count=500):
    """The same numbers again and again: each is free when its answer is written."""
    return b"".join(call(number, method, args) for number in range(count))


WAYS = {
    "valid-calls": lambda: many("host.info"),
    "dear-calls": lambda: many("apps.describe", count=20),
    "listings": lambda: many("browser.sessions"),
    "progress": lambda: many("run.progress", {"done": 1, "message": "x" * 400}),
    "log": lambda: many("run.log", {"level": "info", "message": "x" * 8000}, count=100),
    "refused-calls": lambda: many("browser.nothing"),
    "long-names": lambda: many("n" * 60_000, count=20),
    "wrong-arguments": lambda: many("browser.cdp", {"a" * 100: 1}),
    "forged-replies": lambda: b'{"id":1,"ok":true,"result":{}}\\n' * 2000,
    "forged-notices": lambda: b'{"notice":"start","data":{"entry":"main.py"}}\\n' * 2000,
    "cancels": lambda: b'{"cancel":1}\\n' * 4000,
    "no-json": lambda: b"x\\n" * 10_000,
    "blank-lines": lambda: END * 60_000,
    "not-utf8": lambda: b"\\xff" * 100 + END,
    "no-newline": lambda: b"x" * 1_000_000,
    "half-lines": lambda: b'{"id":1,"method":"host.info"',
    "long-lines": lambda: call(1, "host.info", {"x": "y" * 1_000_000}),
    "lines-of-colons": lambda: call(1, "host.info", {"x": ":" * 1_000_000}),
    "lines-of-objects": lambda: b'{"id":1,"method":"host.info","args":{"x":[' + b"{}," * 300_000 + b"0]}}" + END,
    "twin-keys": lambda: b'{"id":1,"method":"host.info","args":{"x":[' + b"{}," * 19_000 + b'{}]},"id":1}' + END,
    "deep": lambda: b'{"id":1,"method":"host.info","args":{"x":' + b"[" * 900_000 + END,
    "unanswered-questions": lambda: many("browser.events", {"sessionId": "x", "waitMs": 20_000}),
}


async def main(input, ctx):
    """Never comes back to the loop: it is ended from outside."""
    known = ctx.cap._link._transport.get_extra_info("socket").fileno()
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=known)
    sock.setblocking(False)
    way = input["way"]
    reads = way != "never-reads"
    data = memoryview(many("apps.describe", count=1000) if not reads else WAYS[way]())
    await ctx.progress(1)
    poll = select.poll()
    poll.register(known, select.POLLOUT | (select.POLLIN if reads else 0))
    at = 0
    while True:
        for _, event in poll.poll():
            if event & select.POLLIN:
                sock.recv(1 << 20)
            if event & select.POLLOUT:
                at += sock.send(data[at:])
                if at == len(data):
                    at = 0
'''


class Steady:
    """The run that does its calls; `took_s` is told for each block of them."""

    def __init__(self) -> None:
        self.blocks_s: list[float] = []
        self._news = asyncio.Event()

    def tell(self, kind: str, data: dict[str, Any]) -> None:
        """Hears the run."""
        if kind == "progress":
            self.blocks_s.append(data["done"])
            self._news.set()

    async def blocks(self, count: int) -> list[float]:
        """The next blocks that are wholly done from now on, in seconds."""
        first = len(self.blocks_s) + 1  # the one under way had begun before
        async with asyncio.timeout(60):
            while len(self.blocks_s) < first + count:
                self._news.clear()
                await self._news.wait()
        return self.blocks_s[first : first + count]


async def run_it(host: Host, app: Path, given: str, tell: Callable[[str, dict[str, Any]], None]) -> dict[str, Any]:
    """One whole run; its envelope."""

    async def this_host() -> Host:
        return host

    return await run_on(this_host, RunRequest(str(app), given, False, (), (), False), tell, host.places)


@contextlib.asynccontextmanager
async def interrupted_twice(run: Coroutine[Any, Any, dict[str, Any]]) -> AsyncIterator[asyncio.Task[dict[str, Any]]]:
    """A run under way; in the end it is interrupted twice, so that nobody waits for it to clear up."""
    task = asyncio.create_task(run)
    try:
        yield task
    finally:
        for _ in range(2):
            task.cancel()
            await asyncio.sleep(0.01)
        await asyncio.gather(task, return_exceptions=True)


@contextlib.asynccontextmanager
async def beside(
    host: Host, app: Path, given: str, tell: Callable[[str, dict[str, Any]], None], begun: asyncio.Event
) -> AsyncIterator[asyncio.Task[dict[str, Any]]]:
    """The same, as soon as it has begun."""
    async with interrupted_twice(run_it(host, app, given, tell)) as task:
        waiting = asyncio.create_task(begun.wait())
        await asyncio.wait((task, waiting), timeout=20, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        assert begun.is_set(), task.result() if task.done() else "it did not begin"
        yield task


def resident_kib() -> int:
    """What this process, the host, holds in memory."""
    gc.collect()
    return memory_kib(os.getpid())
