"""The host's end of a worker's socket, scripted: answers calls, records them, starts an unsandboxed worker."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from capsdk.errors import CapError

REPOSITORY = Path(__file__).resolve().parents[2]
BOOT = """
import os, sys
sys.path.insert(0, {root!r})
from capsdk import runtime
runtime.CANCEL_GRACE_S = 0.2
{before}
sys.path.clear()
runtime.serve({fd}, {{"tier": "none"}})
os._exit(0)
"""
DEADLINE_S = 10.0

Reply = dict[str, Any] | None
Answer = Callable[[str, dict[str, Any]], Reply | Awaitable[Reply]]
"""From an entry and its arguments to a result; None never answers; a CapError is the answer."""


def answer_everything(method: str, args: dict[str, Any]) -> dict[str, Any] | None:
    """The host that has nothing to say and says it."""
    return {}


@dataclass
class Told:
    """How a run ended, and what it said on the way."""

    notice: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    cancelled: list[Any] = field(default_factory=list)
    exit_status: int | None = None

    def args_of(self, method: str) -> list[dict[str, Any]]:
        """The arguments of each call of `method`."""
        return [args for name, args in self.calls if name == method]

    @property
    def logged(self) -> list[tuple[str, str]]:
        """`(level, message)` of each log line."""
        return [(args["level"], args["message"]) for args in self.args_of("run.log")]


class FakeHost:
    """Speaks the worker's wire over `sock`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Answer) -> None:
        self.told = Told()
        self.called = asyncio.Event()
        self._reader = reader
        self._writer = writer
        self._answer = answer

    @classmethod
    async def over(cls, sock: socket.socket, answer: Answer = answer_everything) -> FakeHost:
        """Take the host's end of a socket pair."""
        reader, writer = await asyncio.open_connection(sock=sock, limit=16 * 1024 * 1024)
        return cls(reader, writer, answer)

    def notice(self, notice: str, **data: Any) -> None:
        """Send a notice."""
        self.send({"notice": notice, "data": data})

    def send(self, message: Mapping[str, Any]) -> None:
        """Send any message."""
        self._writer.write(json.dumps(message).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        """Send what is no message."""
        self._writer.write(data)

    async def serve(self) -> Told:
        """Answer until the worker has said how it ended, or left."""
        async with asyncio.timeout(DEADLINE_S):
            while line := await self._reader.readline():
                message = json.loads(line)
                if "notice" in message:
                    self.told.notice, self.told.data = message["notice"], message["data"]
                elif "cancel" in message:
                    self.told.cancelled.append(message["cancel"])
                else:
                    await self._take_call(message)
        return self.told

    def close(self) -> None:
        """Leave."""
        self._writer.close()

    async def _take_call(self, message: dict[str, Any]) -> None:
        self.told.calls.append((message["method"], message["args"]))
        self.called.set()
        try:
            answered = self._answer(message["method"], message["args"])
            result = await answered if isinstance(answered, Awaitable) else answered
        except CapError as error:
            self.send({"id": message["id"], "ok": False, "error": error.to_wire()})
            return
        if result is not None:
            self.send({"id": message["id"], "ok": True, "result": result})


@contextlib.asynccontextmanager
async def worker(
    answer: Answer = answer_everything, *, before: str = ""
) -> AsyncIterator[tuple[FakeHost, subprocess.Popen[bytes]]]:
    """A process that runs `capsdk.runtime.serve` without any sandbox; `before` is run in it first."""
    ours, theirs = socket.socketpair()
    program = BOOT.format(root=str(REPOSITORY), fd=theirs.fileno(), before=before)
    process = _spawn(program, theirs.fileno())
    theirs.close()
    host = await FakeHost.over(ours, answer)
    try:
        yield host, process
    finally:
        host.close()
        process.kill()
        process.wait()


async def run_script(
    files: Mapping[str, str] | str,
    *,
    input: Mapping[str, Any] | None = None,
    answer: Answer = answer_everything,
    before: str = "",
    entry: str = "main.py",
) -> Told:
    """Run one script to its end in a process of its own."""
    sources = {entry: files} if isinstance(files, str) else dict(files)
    async with worker(answer, before=before) as (host, process):
        host.notice(
            "start",
            entry=entry,
            files=sources,
            input=dict(input or {}),
            run={"id": "r1", "app": "x", "revision": "abc"},
        )
        told = await host.serve()
        told.exit_status = await asyncio.to_thread(process.wait, DEADLINE_S)
        return told


def _spawn(program: str, fd: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-I", "-S", "-B", "-c", program], pass_fds=[fd], env={}, cwd="/")
