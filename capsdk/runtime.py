"""The script's side of a run: takes one `start`, imports the app from memory, calls `main`, tells how it ended.

Not a sandbox: the process that calls `serve` has locked itself before.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import resource
import socket
import sys
from collections.abc import Mapping
from typing import Any

from capsdk import failure, instead, wire
from capsdk.appimport import AppFinder, module_name
from capsdk.cap import Cap, Link
from capsdk.context import Context, Run
from capsdk.outbox import LogWriter, Outbox, log_warnings
from capsdk.ownlines import trace
from capsdk.result import Result
from capsdk.shortfall import SignedOut
from capsdk.signals import Signal

CANCEL_GRACE_S = 1.0
"""A script that was asked to stop has this long to see it; then its `main` is cancelled. The host kills at 2 s."""

FLUSH_S = 1.0
MIB = 1024 * 1024
STRAGGLERS_S = 0.5
CLOSE_S = 5.0

RESERVE_BYTES = 4 * wire.MIB
"""Kept aside, untouched, so that a script that has used up its memory can still be told where it did."""

LEFT_OPEN_HINT = "closed with its run; use `async with ctx.browser.session(url)`, or call browser.closeSession"


def serve(fd: int, layers: Mapping[str, Any]) -> None:
    """Serve one script over the connected stream socket `fd`, then return; a host that goes away ends it too.

    `layers` is what the sandbox said about itself. Raises nothing on purpose.
    """
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=fd)
    sock.setblocking(False)
    loop = asyncio.new_event_loop()
    try:
        Service(loop, layers).run(sock)
    finally:
        loop.close()


class Service:
    """One run, from `start` to `result` or `failed`."""

    def __init__(self, loop: asyncio.AbstractEventLoop, layers: Mapping[str, Any]) -> None:
        self._layers = layers
        self._loop = loop
        self._signal = Signal()
        self._start: asyncio.Future[dict[str, Any]] = loop.create_future()
        self._main: asyncio.Task[dict[str, Any]] | None = None
        self._paths: frozenset[str] = frozenset()
        self._ended = False
        self._reserve: bytearray | None = bytearray(RESERVE_BYTES)
        self._link: Link
        self._cap: Cap
        self._outbox: Outbox

    def run(self, sock: socket.socket) -> None:
        """Serve until the end was told, or the host is gone."""
        self._loop.set_exception_handler(self._on_stray_error)
        try:
            self._loop.run_until_complete(self._serve(sock))
        except BaseException as error:  # SystemExit in a task of the script breaks out of asyncio's loop
            with contextlib.suppress(BaseException):
                self._loop.run_until_complete(self._end(self._failed(error)))

    async def _serve(self, sock: socket.socket) -> None:
        _, self._link = await self._loop.create_connection(lambda: Link(self._on_notice), sock=sock)
        self._cap = Cap(self._link)
        self._outbox = Outbox(self._cap)
        await _first_of(self._start, self._link.lost)
        if not self._start.done():
            return
        self._main = self._loop.create_task(self._outcome(self._start.result()))
        await _first_of(self._main, self._link.lost)
        if self._main.done():
            await self._end(self._main.result())
        else:  # nobody is left to hear the end, but `finally` blocks get their moment
            self._main.cancel()
            await asyncio.wait({self._main}, timeout=STRAGGLERS_S)

    def _on_notice(self, notice: str, data: dict[str, Any]) -> None:
        if notice == "start" and not self._start.done():
            self._start.set_result(data)
        elif notice == "cancel":
            self._signal.cancel(str(data.get("reason", "no reason given")))
            self._loop.call_later(CANCEL_GRACE_S, self._cancel_main)

    def _cancel_main(self) -> None:
        if self._main is not None:
            self._main.cancel()

    async def _outcome(self, start: Mapping[str, Any]) -> dict[str, Any]:
        """The notice that ends the run, whatever the script does."""
        streams = sys.stdout, sys.stderr
        writers = LogWriter(self._outbox, "info"), LogWriter(self._outbox, "warning")
        sys.stdout, sys.stderr = writers
        restore = log_warnings(self._outbox, lambda: self._paths)
        try:
            return await self._run_app(start)
        except asyncio.CancelledError as error:
            if self._signal.reason is None:
                return _notice("failed", failure.cancelled(error, self._paths))
            stopped = f"the run was stopped: {self._signal.reason}"
            return _notice("failed", failure.failed(stopped, code="CANCELLED"))
        except BaseException as error:
            cause = failure.only_leaf(error)
            if isinstance(cause, SignedOut):  # nothing is wrong with the script; its owner has to sign in
                return _notice("result", Result.blocked(str(cause)).to_wire())
            return self._failed(error)
        finally:
            restore()
            sys.stdout, sys.stderr = streams
            for writer in writers:
                writer.finish()

    async def _run_app(self, start: Mapping[str, Any]) -> dict[str, Any]:
        lower_own_limits(start.get("limits") or {})
        finder = AppFinder(start["files"])
        self._paths = finder.paths
        finder.install()
        instead.refuse_processes()
        entry = str(start["entry"])
        main: Any = getattr(importlib.import_module(module_name(entry)), "main", None)
        complaint = _complaint_about(main)
        if complaint:
            hint, place = "write `async def main(input, ctx):`", _place_of(main, entry)
            return _notice("failed", failure.failed(complaint, hint=hint, **place))
        context = Context(
            self._cap,
            start.get("input"),
            run=_run(start.get("run") or {}, self._layers),
            signal=self._signal,
            outbox=self._outbox,
        )
        self._signal.raise_if_cancelled()
        result = await main(context.input, context)
        if isinstance(result, Result):
            return _notice("result", result.to_wire())
        hint = instead.AWAIT if inspect.iscoroutine(result) else instead.RETURN
        message = f"main returned {_kind_of(result)}"
        return _notice("failed", failure.failed(message, hint=hint, **_place_of(main, entry)))

    def _failed(self, error: BaseException) -> dict[str, Any]:
        self._reserve = None
        return _notice("failed", failure.describe(error, self._paths))

    async def _end(self, outcome: Mapping[str, Any]) -> None:
        if self._ended:
            return
        self._ended = True
        await self._stop_stragglers()
        await self._count_left_open()
        await self._outbox.flush(FLUSH_S)
        self._link.write(_line(outcome))
        await self._link.close(CLOSE_S)

    async def _stop_stragglers(self) -> None:
        tasks = asyncio.all_tasks() - {task for task in (asyncio.current_task(), self._outbox.pump) if task}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=STRAGGLERS_S)

    async def _count_left_open(self) -> None:
        """A session that the script has not closed is released all the same; its author may want to know."""
        if self._cap.opened <= self._cap.closed or self._signal.cancelled:
            return
        with contextlib.suppress(Exception):
            async with asyncio.timeout(FLUSH_S):
                left = (await self._cap.call("browser.sessions"))["sessions"]
            if left:
                count = f"{len(left)} session{'s were' if len(left) > 1 else ' was'}"
                self._outbox.log(f"{count} left open by the script and {LEFT_OPEN_HINT}", "warning")

    def _on_stray_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error, said = context.get("exception"), context.get("message", "an error outside of main")
        if isinstance(error, BaseException):
            said = f"{failure.one_line(error, self._paths)} ({said})\n{trace(error, self._paths)}"
        self._outbox.log(said.rstrip(), "error")


async def _first_of(*futures: asyncio.Future[Any]) -> None:
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)


def _complaint_about(main: object) -> str | None:
    if main is None:
        return "there is no `main`"
    if inspect.isasyncgenfunction(main):
        return "`main` yields; it returns one Result"
    if not inspect.iscoroutinefunction(main):
        return "`main` is not an async function"
    try:
        inspect.signature(main).bind(None, None)
    except TypeError:
        return "`main` does not take the two arguments input and ctx"
    return None


def _place_of(main: object, entry: str) -> dict[str, Any]:
    """Where `main` is written, as `file` and `line`; the entry alone when it has no source of the app's."""
    code = getattr(inspect.unwrap(main) if callable(main) else main, "__code__", None)
    if code is None or code.co_filename.startswith("<"):
        return {"file": entry}
    return {"file": code.co_filename, "line": code.co_firstlineno}


def _kind_of(result: object) -> str:
    if inspect.iscoroutine(result):
        return f"the coroutine {result.__name__}() instead of what it gives"
    return "None" if result is None else f"a {type(result).__name__}, which is no Result"


def lower_own_limits(limits: Mapping[str, int]) -> None:
    """Take less than this process was started with: `memory_mb`, `cpu_s`, as the run's manifest and owner want it.

    A worker is started before anybody knows for which run. Raises OSError when it cannot be had: no run without it.
    """
    wanted = {
        resource.RLIMIT_AS: (limits.get("memory_mb"), MIB, 0),
        resource.RLIMIT_CPU: (limits.get("cpu_s"), 1, 1),  # SIGXCPU, and SIGKILL a second later
    }
    for kind, (number, unit, grace) in wanted.items():
        if number is not None:
            soft, hard = resource.getrlimit(kind)
            resource.setrlimit(kind, (_lower(soft, number * unit), _lower(hard, number * unit + grace)))


def _lower(now: int, wanted: int) -> int:
    return wanted if now == resource.RLIM_INFINITY else min(now, wanted)


def _run(told: Mapping[str, Any], layers: Mapping[str, Any]) -> Run:
    named = {name: str(told.get(name, "-")) for name in ("id", "app", "revision")}
    return Run(**named, tier=str(layers.get("tier", "-")))


def _notice(notice: str, data: Mapping[str, Any]) -> dict[str, Any]:
    return {"notice": notice, "data": data}


def _line(outcome: Mapping[str, Any]) -> bytes:
    try:
        line = wire.encode(outcome)
    except (TypeError, ValueError, RecursionError) as problem:  # a Result that was put together by hand
        told = failure.failed(f"the Result cannot be sent: {problem}", hint=instead.RETURN)
        return wire.encode(_notice("failed", told))
    if len(line) <= wire.MAX_LINE_BYTES + 1:
        return line
    message = (
        f"the rows take {len(line) - 1} bytes on the wire and the limit is {wire.MAX_LINE_BYTES}; "
        "return fewer rows or columns, or Result.partial"
    )
    return wire.encode(_notice("failed", failure.failed(message, code="RESULT_TOO_LARGE")))
