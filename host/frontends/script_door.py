"""The door of a sandboxed script: its socket speaks the wire, plus a first line in and a last line out."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from capsdk.errors import BY_CODE, AbortedError, CapError, ExhaustedError, InternalError, from_wire
from host.core.grants import Caller
from host.core.limits import KIB, Limits
from host.core.wire import dumps
from host.dispatch.dispatcher import Dispatcher
from host.frontends.wire_connection import WireConnection

CANCEL_GRACE_S = 2.0
MAX_DETAILS_BYTES = 16 * KIB
READ_BYTES = 64 * KIB
STATES = frozenset(("ok", "partial", "empty", "blocked", "failed"))


class RunningWorker(Protocol):
    """A locked worker that waits for its program."""

    sock: socket.socket
    pending: bytes
    layers: dict[str, Any]

    def kill(self) -> None:
        """End it at once; twice is fine."""

    async def wait(self, timeout_s: float) -> str:
        """How it ended, in words."""


@dataclass(frozen=True, slots=True)
class Program:
    """What a worker is given to run: sources by relative path, the entry among them, and its input."""

    entry: str
    files: Mapping[str, str]
    input: Mapping[str, Any]


async def run_program(
    dispatcher: Dispatcher,
    caller: Caller,
    worker: RunningWorker,
    program: Program,
    limits: Limits,
    *,
    wall_s: float,
    calls_per_s: float | None = None,
) -> dict[str, Any]:
    """Give the worker its program and serve its calls until it tells its result, `{state, complete, rowsJson}`.

    Raises the script's own CapError, InternalError SCRIPT_FAILED, ExhaustedError RUN_LIMIT after `wall_s`. When the
    awaiting task is cancelled, the script hears of it and has 2 s. The worker is dead afterwards, its sessions gone.
    """
    door = ScriptDoor(dispatcher, caller, limits, calls_per_s)
    try:
        await door.open(worker)
        door.start(program, caller)
        async with asyncio.timeout(wall_s):
            return await door.outcome()
    except TimeoutError:
        raise ExhaustedError(
            "RUN_LIMIT", f"the run took longer than {wall_s:g} s and was ended; do less, or raise wall_s", limit=wall_s
        ) from None
    except asyncio.CancelledError:
        with contextlib.suppress(CapError, TimeoutError):
            door.connection.notify("cancel", {"reason": "the owner interrupted the run"})
            async with asyncio.timeout(CANCEL_GRACE_S):
                await asyncio.shield(door.ended.wait())
        raise
    except ScriptVanished:
        worker.kill()
        raise vanished(await worker.wait(1.0)) from None
    finally:
        worker.kill()
        await door.close()
        await worker.wait(1.0)


class ScriptVanished(Exception):
    """The worker's socket closed before it told a result."""


class ScriptDoor(asyncio.BufferedProtocol):
    """Joins a worker's socket to the dispatcher."""

    def __init__(
        self, dispatcher: Dispatcher, caller: Caller, limits: Limits, calls_per_s: float | None = None
    ) -> None:
        self._transport: asyncio.WriteTransport | None = None
        self._outcome: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.ended = asyncio.Event()
        self._buffer = memoryview(bytearray(READ_BYTES))
        self.connection = WireConnection(dispatcher, caller, self._write, limits, self._notice, calls_per_s=calls_per_s)

    async def open(self, worker: RunningWorker) -> None:
        """Take the worker's socket over."""
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: self, sock=worker.sock)
        if worker.pending:
            self.connection.feed(worker.pending)

    def start(self, program: Program, caller: Caller) -> None:
        """Send the first line."""
        run = {"id": caller.run, "app": caller.app, "revision": caller.revision}
        data = {"entry": program.entry, "files": dict(program.files), "input": dict(program.input), "run": run}
        self.connection.notify("start", data)

    async def outcome(self) -> dict[str, Any]:
        """The script's result. Raises its error, or ScriptVanished."""
        return await asyncio.shield(self._outcome)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer  # one for all reads: asyncio's own is 256 KB, allocated and given back each time

    def buffer_updated(self, nbytes: int) -> None:
        self.connection.feed(bytes(self._buffer[:nbytes]))

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(ScriptVanished())

    def pause_writing(self) -> None:
        """A script that does not read its answers is not read from either."""
        if isinstance(self._transport, asyncio.Transport):
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        if isinstance(self._transport, asyncio.Transport) and not self._transport.is_closing():
            self._transport.resume_reading()

    def _write(self, line: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(line)

    def _notice(self, name: str, data: Any) -> None:
        if name == "result":
            try:
                result = checked_result(data)
            except CapError as problem:
                self._end(problem)
            else:
                self._end(None, result)
        elif name == "failed":
            self._end(script_error(data))

    def _end(self, problem: Exception | None, result: dict[str, Any] | None = None) -> None:
        self.ended.set()
        if self._outcome.done():
            return
        if problem is not None:
            self._outcome.set_exception(problem)
            self._outcome.exception()  # nobody may be waiting any more
        else:
            self._outcome.set_result(result or {})

    async def close(self) -> None:
        """End the caller and its socket. Closing twice is fine."""
        self._end(ScriptVanished())
        if self._transport is not None:
            self._transport.abort()
        await self.connection.end()


def checked_result(data: Any) -> dict[str, Any]:
    """The worker's result in its fixed shape: what a worker says is not trusted to have it. Raises SCRIPT_FAILED."""
    if isinstance(data, dict):
        state, complete, rows = data.get("state"), data.get("complete"), data.get("rowsJson")
        if state in STATES and isinstance(complete, bool) and isinstance(rows, str):
            result = {"state": state, "complete": complete, "rowsJson": rows}
            if isinstance(data.get("reason"), str) and data["reason"]:
                result["reason"] = data["reason"][:2000]
            return result
    raise InternalError("SCRIPT_FAILED", "the script's result has the wrong shape; return a capsdk.Result")


def script_error(data: Any) -> CapError:
    """What a script says of its own failure, as an error; its words are bounded."""
    known = data if isinstance(data, dict) else {}
    wire = known.get("error")
    if isinstance(wire, dict) and wire.get("code") in BY_CODE:
        return bounded_error(from_wire(wire))
    kind, message = str(known.get("type", "Error"))[:100], str(known.get("message", ""))[:2000]
    details = {"type": kind, "trace": str(known.get("trace", ""))[:8000]}
    hint = known.get("hint")
    return InternalError(
        "SCRIPT_FAILED",
        f"{kind}: {message}" if message else kind,
        hint=hint[:500] if isinstance(hint, str) else None,
        **details,
    )


def bounded_error(told: CapError) -> CapError:
    """An error that came from a script, with no more words than one of ours would have."""
    told.message = told.message[:2000]
    told.hint = told.hint[:500] if isinstance(told.hint, str) else None
    if len(dumps(told.details)) > MAX_DETAILS_BYTES:
        told.details = {}
    return told


def vanished(how: str) -> CapError:
    """The worker died before it told a result."""
    if how == "SIGXCPU" or how == "SIGKILL":
        return ExhaustedError(
            "RUN_LIMIT",
            f"the script's process was ended ({how}), most likely at its CPU or memory limit; do less in a run",
        )
    return InternalError("SCRIPT_FAILED", f"the script's process ended without a result ({how}); return a Result")


def interrupted() -> AbortedError:
    """The owner ended the run."""
    return AbortedError("CANCELLED", "the run was interrupted; what it began may have happened")
