"""The door of a sandboxed script: its socket speaks the wire, plus a first line in and a last line out."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from capsdk.errors import BY_CODE, AbortedError, CapError, ExhaustedError, InternalError, from_wire
from host.core.grants import Caller
from host.core.limits import KIB, MIB, Limits
from host.core.run_limits import Bound, RunLimits
from host.core.wire import dumps
from host.dispatch.dispatcher import Dispatcher
from host.frontends.wire_connection import WireConnection

CANCEL_GRACE_S = 2.0
WARNED_FROM_S = 10.0
WARNING_S = 2.0
DYING_S = 0.5
MAX_DETAILS_BYTES = 16 * KIB
MAX_HINT = 500  # characters, as the next four
MAX_LINES = 10_000_000
MAX_NAME = 200
MAX_TRACE = 10_000  # capsdk cuts at 8,000, in the middle
MAX_WORDS = 2000
READ_BYTES = 64 * KIB
MAX_UNHEARD_BYTES = 4 * MIB
CRASHES = frozenset(("SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV", "SIGSYS", "SIGTRAP"))
RESULT_HINT = "let `main` end with `return Result.ok(rows)`; sys.exit and os._exit tell no result"
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
    """What a worker is given to run: sources by relative path, the entry among them, and its input.

    `limits` are `memory_mb` and `cpu_s`: it lowers its own to these before it looks at the sources.
    """

    entry: str
    files: Mapping[str, str]
    input: Mapping[str, Any]
    limits: Mapping[str, int] = field(default_factory=dict)


async def run_program(
    dispatcher: Dispatcher,
    caller: Caller,
    worker: RunningWorker,
    program: Program,
    limits: Limits,
    run: RunLimits,
) -> dict[str, Any]:
    """Give the worker its program and serve its calls until it tells its result, `{state, complete, rowsJson}`.

    A run of more than 10 s hears `cancel` 2 s before its time is over: a result that it tells until then counts. A
    shorter one ends without a word. When the awaiting task is cancelled, the script hears of it and has 2 s. The
    worker is dead afterwards, its sessions gone.

    Raises the script's own CapError, InternalError SCRIPT_FAILED, ExhaustedError RUN_LIMIT after `run.wall_s`.
    """
    door = ScriptDoor(dispatcher, caller, limits, run)
    try:
        await door.open(worker)
        door.start(program, caller)
        return await _in_time(door, run.wall_s)
    except asyncio.CancelledError:
        with contextlib.suppress(CapError, TimeoutError):
            door.connection.notify("cancel", {"reason": "the owner interrupted the run"})
            async with asyncio.timeout(CANCEL_GRACE_S):
                await asyncio.shield(door.ended.wait())
        raise
    except ScriptVanished:
        raise vanished(await _how_it_ended(worker), run) from None
    finally:
        worker.kill()
        await door.close()
        await worker.wait(1.0)


async def _in_time(door: ScriptDoor, wall: Bound) -> dict[str, Any]:
    began_s = asyncio.get_running_loop().time()
    warning_s = WARNING_S if wall.value > WARNED_FROM_S else 0.0
    warned = False
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wall.value - warning_s):
                return await door.outcome()
        if warning_s:
            warned = True
            door.connection.notify("cancel", {"reason": f"the run has used up its wall_s of {wall.value:g} s"})
            async with asyncio.timeout(warning_s):
                return await door.outcome()
    except TimeoutError:
        pass
    except AbortedError:
        if not warned:
            raise
    raise out_of_time(wall, asyncio.get_running_loop().time() - began_s)


async def _how_it_ended(worker: RunningWorker) -> str:
    """A process that dies closes its socket first; one that only closed the socket is still there."""
    try:
        return await worker.wait(DYING_S)
    except TimeoutError:
        return "it closed its connection to the host"


def out_of_time(wall: Bound, took_s: float) -> ExhaustedError:
    """The run is longer than it may be."""
    said = f"the run took longer than {wall.value:g} s and was ended; do less in a run"
    return wall.over(said, max(wall.value, round(took_s, 2)))


class ScriptVanished(Exception):
    """The worker's socket closed before it told a result."""


class ScriptDoor(asyncio.BufferedProtocol):
    """Joins a worker's socket to the dispatcher."""

    def __init__(self, dispatcher: Dispatcher, caller: Caller, limits: Limits, run: RunLimits) -> None:
        self._run = run
        self._transport: asyncio.Transport | None = None
        self._outcome: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.ended = asyncio.Event()
        self._buffer = memoryview(bytearray(READ_BYTES))
        self.connection = WireConnection(
            dispatcher,
            caller,
            self._write,
            limits,
            self._notice,
            run=run,
            on_backlog=self._backlog,
            unread_bytes=self._unread_bytes,
        )

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
        data["limits"] = dict(program.limits)
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
        if not self._outcome.done():
            self.connection.hear_last(self._unheard())
        self._end(ScriptVanished())

    def _unheard(self) -> bytes:
        """What a script left behind that was gone before the answer to an earlier line."""
        data = b""
        with contextlib.suppress(OSError):
            fd = self._transport.get_extra_info("socket").fileno() if self._transport is not None else -1
            while fd >= 0 and len(data) < MAX_UNHEARD_BYTES and (read := os.read(fd, READ_BYTES)):
                data += read
        return data

    def pause_writing(self) -> None:
        """A script that does not read its answers is not heard either."""
        self.connection.hold(True)

    def resume_writing(self) -> None:
        self.connection.hold(False)

    def _backlog(self, waits: bool) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        if waits:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def _unread_bytes(self) -> int:
        return self._transport.get_write_buffer_size() if self._transport is not None else 0

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
            self._end(self._under_ceiling(script_error(data)))

    def _under_ceiling(self, problem: CapError) -> CapError:
        """A worker knows its memory's limit, and not that it is the owner's: app.toml cannot raise it then."""
        memory = self._run.memory_mb
        if problem.code == "RUN_LIMIT" and problem.details.get("what") == memory.key and memory.owners:
            problem.hint = f"keep less at once, {memory.advice}"
        return problem

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
    told = data if isinstance(data, dict) else {}
    state, complete, rows, reason = (told.get(key) for key in ("state", "complete", "rowsJson", "reason"))
    if not isinstance(state, str) or state not in STATES:
        raise _misshapen(f"its state is none of {', '.join(sorted(STATES))}")
    if not isinstance(complete, bool):
        raise _misshapen("its `complete` is neither True nor False")
    if not isinstance(rows, str):
        raise _misshapen("its rows_json is no text")
    result = {"state": state, "complete": complete, "rowsJson": rows}
    if isinstance(reason, str) and reason:
        result["reason"] = reason[:MAX_WORDS]
    return result


def _misshapen(why: str) -> InternalError:
    return InternalError("SCRIPT_FAILED", f"the Result has the wrong shape: {why}", hint=RESULT_HINT)


def script_error(data: Any) -> CapError:
    """What a script says of its own failure, as an error; its words are bounded, and no more is believed than that.

    SCRIPT_FAILED is `main.py:12: KeyError: 'price'`, what and where; what to do, where it is known, is the hint.
    `details` hold `file` and `line` (of the author's innermost frame), `type` and `trace`.
    """
    known = data if isinstance(data, dict) else {}
    kind, place = _words(known.get("type"), MAX_NAME) or "Error", _place(known)
    details = {**place, "type": kind, "trace": _words(known.get("trace"), MAX_TRACE)}
    wire = known.get("error")
    if isinstance(wire, dict) and isinstance(wire.get("code"), str) and wire["code"] in BY_CODE:
        told = bounded_error(from_wire(wire))
        told.details = {**details, **told.details}
        return told
    said = [":".join(str(part) for part in place.values()), "" if kind == "ScriptError" else kind]
    message = ": ".join(part for part in (*said, _words(known.get("message"), MAX_WORDS)) if part)
    return InternalError("SCRIPT_FAILED", message or kind, hint=_words(known.get("hint"), MAX_HINT) or None, **details)


def _place(known: dict[str, Any]) -> dict[str, Any]:
    file, line = _words(known.get("file"), MAX_NAME), known.get("line")
    if not file:
        return {}
    return {"file": file, "line": line} if type(line) is int and 0 < line < MAX_LINES else {"file": file}


def _words(value: Any, most: int) -> str:
    return value[:most] if isinstance(value, str) else ""


def bounded_error(told: CapError) -> CapError:
    """An error that came from a script, with no more words than one of ours would have."""
    told.message = told.message[:MAX_WORDS]
    told.hint = _words(told.hint, MAX_HINT) or None
    if len(dumps(told.details)) > MAX_DETAILS_BYTES:
        told.details = {}
    return told


def vanished(how: str, run: RunLimits | None = None) -> CapError:
    """The worker ended before it told a result; `how` is the worker's word for it.

    Nothing in a sandbox can send a signal, so SIGXCPU is the CPU limit. SIGKILL is the same for a script that does not
    heed SIGXCPU, or the kernel that is out of memory.
    """
    if how in ("SIGXCPU", "SIGKILL"):
        return _used_up(how, run)
    if how in CRASHES:
        hint = "it crashed in machine code: endless recursion past sys.setrecursionlimit, or ctypes; do without them"
        return InternalError("SCRIPT_FAILED", f"the script's process was ended by {how}", hint=hint, how=how)
    return InternalError(
        "SCRIPT_FAILED", f"the script's process ended without a result ({how})", hint=RESULT_HINT, how=how
    )


def _used_up(how: str, run: RunLimits | None) -> ExhaustedError:
    unsure = " or the machine had no memory left" if how == "SIGKILL" else ""
    if run is None:
        return ExhaustedError(
            "RUN_LIMIT", f"the script was ended: its CPU time was used up{unsure}; do less in a run", how=how
        )
    limit_s = run.cpu_s.value
    said = f"the script was ended: its CPU time of {limit_s:g} s was used up{unsure} ({how}); do less, await more"
    return run.cpu_s.over(said, limit_s, how=how)


def interrupted() -> AbortedError:
    """The owner ended the run."""
    return AbortedError("CANCELLED", "the run was interrupted; what it began may have happened")
