"""The four ways to Chromium that are compared: each runs once, in this process, and gives its figures."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Mapping

from bench.app.main import METHOD, PAGE, PARAMS, check, measure
from bench.chromium import chromium
from bench.clients import CdpClient, PipeClient, StdioClient
from bench.cpu import CpuMarks, with_host_cpu
from bench.product import GRANT, run_app
from bench.websocket import websocket_client
from host.browser.enables import APP_ENABLES

ONE = b'{"result":{"type":"number","value":1,"description":"1"}}'
STDIO = ("-m", "host.main", "stdio", "--ephemeral", "--grant", GRANT)
END_S = 10.0

Figures = dict[str, dict[str, float]]


def run_subject(name: str, *, calls: int, burst_calls: int) -> Figures:
    """Start what the subject needs, measure, end it. Raises KeyError for an unknown name."""
    return SUBJECTS[name](calls, burst_calls)


def script(calls: int, burst_calls: int) -> Figures:
    """`capsdk run` with the sandboxed app, in this process: so the host's CPU is this process's."""
    marks = CpuMarks(os.getpid())
    return with_host_cpu(run_app({"calls": calls, "burst_calls": burst_calls}, marks.read), marks)


def stdio(calls: int, burst_calls: int) -> Figures:
    """`capsdk stdio` in a process of its own, spoken to over its standard input and output."""
    # The host writes nothing to standard error unless something is wrong, and then it is for whoever started this.
    with subprocess.Popen([sys.executable, *STDIO], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as host:
        assert host.stdin is not None
        assert host.stdout is not None
        try:
            read_fd, write_fd = os.dup(host.stdout.fileno()), os.dup(host.stdin.fileno())
            host.stdin.close()
            figures = asyncio.run(_stdio(CpuMarks(host.pid), read_fd, write_fd, calls, burst_calls))
            host.wait(END_S)
        finally:
            host.kill()  # nothing happens when it has ended
    return figures


async def _stdio(marks: CpuMarks, read_fd: int, write_fd: int, calls: int, burst_calls: int) -> Figures:
    client = StdioClient()
    await client.pipe.open(read_fd, write_fd)
    try:
        opened = await client.call("browser.openSession", {"url": PAGE})
        args = {"sessionId": opened["sessionId"], "method": METHOD, "params": PARAMS}

        async def evaluate() -> None:
            check((await client.call("browser.cdp", args))["result"])

        async def mark(name: str) -> None:
            marks.read(name)

        figures = await measure(evaluate, mark, calls=calls, burst_calls=burst_calls)
    finally:
        client.pipe.close()
    return with_host_cpu(figures, marks)


def websocket(calls: int, burst_calls: int) -> Figures:
    """Straight to Chromium's port with websockets and json."""
    with chromium(port=True) as peer:
        try:
            return asyncio.run(_websocket(peer.address, calls, burst_calls))
        finally:
            os.close(peer.read_fd)
            os.close(peer.write_fd)


async def _websocket(address: str, calls: int, burst_calls: int) -> Figures:
    async with websocket_client(address) as client:
        session = await open_tab(client)

        async def evaluate() -> None:
            check(await client.call(METHOD, PARAMS, session))

        return with_host_cpu(await measure(evaluate, _no_mark, calls=calls, burst_calls=burst_calls), None)


def pipe(calls: int, burst_calls: int) -> Figures:
    """Straight to Chromium's pipe with msgspec, results as raw bytes: about the least that Python can do."""
    with chromium(port=False) as peer:
        return asyncio.run(_pipe(peer.read_fd, peer.write_fd, calls, burst_calls))


async def _pipe(read_fd: int, write_fd: int, calls: int, burst_calls: int) -> Figures:
    client = PipeClient()
    await client.pipe.open(read_fd, write_fd)
    try:
        session = await open_tab(client)

        async def evaluate() -> None:
            result = bytes(await client.post(METHOD, PARAMS, session))
            if result != ONE:
                raise ValueError(f"the page answered {result!r}")

        return with_host_cpu(await measure(evaluate, _no_mark, calls=calls, burst_calls=burst_calls), None)
    finally:
        client.pipe.close()


async def open_tab(client: CdpClient) -> str:
    """A window of its own with one session and the domains that the host enables; the session's id."""
    target = await client.call("Target.createTarget", {"url": PAGE, "newWindow": True})
    attached = await client.call("Target.attachToTarget", {"targetId": target["targetId"], "flatten": True})
    session = str(attached["sessionId"])
    for method, params in APP_ENABLES:
        await client.call(method, params, session)
    return session


async def _no_mark(name: str) -> None:
    """No other process's CPU to read."""


SUBJECTS: Mapping[str, Callable[[int, int], Figures]] = {
    "script": script,
    "stdio": stdio,
    "websocket": websocket,
    "pipe": pipe,
}
