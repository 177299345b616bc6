"""One caller's line conversation: bytes in, calls to the dispatcher, replies out in any order. No sockets here."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from capsdk.errors import CapError, ExhaustedError, InvalidArgumentError
from capsdk.wire import LineSplitter, TooLong
from host.core import turns
from host.core.bucket import Bucket, Crowd
from host.core.grants import Caller
from host.core.limits import Limits
from host.core.run_limits import NONE, Bound, RunLimits, door_in_flight
from host.core.turns import Turns
from host.core.wire import (
    CallId,
    Cancel,
    Notice,
    Request,
    Unreadable,
    error_line,
    line_too_long,
    notice_line,
    ok_line,
    read_line,
)
from host.dispatch.call import Call
from host.dispatch.dispatcher import Dispatcher

LAST_LINES = 9
"""A script sends at most eight lines of its log before it has the answer to the first, and then its result."""

EVERYBODY = Crowd()
"""All connections of a process share its loop, so there is one."""


class WireConnection:
    """Used by every door that speaks lines: standard input and output, a script's socket, the owner's socket.

    `write(line)` takes whole lines. `on_notice` hears lines without an id; without it they are refused as unreadable.
    `run` are the bounds of a run, None for a caller that is none. `on_backlog(waits)` tells the door to read no more
    for now, or to go on; `unread_bytes()` how much it has written that its peer has not taken.

    Lines are taken in slices, so that one caller's thousand lines in one read hold nobody up. Their order is kept.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        caller: Caller,
        write: Callable[[bytes], None],
        limits: Limits,
        on_notice: Callable[[str, Any], None] | None = None,
        *,
        run: RunLimits | None = None,
        on_backlog: Callable[[bool], None] = lambda waits: None,
        unread_bytes: Callable[[], int] | None = None,
    ) -> None:
        self.caller = caller
        self._dispatcher = dispatcher
        self._write = write
        self._limits = limits
        self._on_notice = on_notice
        self._on_backlog = on_backlog
        self._unread_bytes = unread_bytes
        self._calls_in_flight = run.calls_in_flight if run is not None else door_in_flight(limits)
        self._bytes_in_flight = limits.run_bytes_in_flight if run is not None else math.inf
        self._calls_per_s = run.calls_per_s if run is not None and run.calls_per_s.value != NONE else None
        self._pace = Bucket(self._calls_per_s.value, time.monotonic()) if self._calls_per_s is not None else None
        self._turns = Turns(EVERYBODY)
        self._later_s = 0.0
        self._waiting: deque[bytes | TooLong] = deque()
        self._turn: asyncio.Handle | None = None  # the next slice, when it is to come
        self._held = False
        self._told_backlog = False
        self._splitter = LineSplitter(limits.line_bytes)
        self._calls: dict[CallId, Call | None] = {}
        self._bytes_under_way = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._ending: asyncio.Task[None] | None = None
        self._ended = False
        dispatcher.hear(caller, self.notify)

    @property
    def in_flight(self) -> int:
        """How many calls have no answer yet."""
        return len(self._calls)

    def feed(self, data: bytes) -> None:
        """Take what was read: as much as fits one slice at once, the rest in later turns of the loop."""
        if self._ending:
            return
        began_s = time.monotonic()
        self._waiting.extend(self._splitter.feed(data))
        if self._turn is None:
            self._slice(began_s, len(data))

    def feed_rest(self) -> None:
        """The stream has ended: what came without a newline is the last line."""
        if self._splitter.held_bytes:
            self.feed(b"\n")

    def hold(self, waits: bool) -> None:
        """The peer does not take its answers, or does again: until then nothing more of it is begun."""
        self._held = waits
        if waits and self._turn is not None:
            self._turn.cancel()
            self._turn = None
        elif not waits and self._waiting and self._turn is None and not self._ending:
            self._turn = asyncio.get_running_loop().call_soon(self._next_slice)
        self._tell_backlog()

    def _next_slice(self) -> None:
        self._turn = None
        now_s = time.monotonic()
        if not self._rests(now_s):
            self._slice(now_s)

    def _slice(self, began_s: float, read_bytes: int = 0) -> None:
        """Some of the waiting lines; what is left comes behind everybody else's callbacks."""
        waiting, now_s, lines, large = self._waiting, began_s, 0, read_bytes > turns.LARGE_BYTES
        self._later_s = spent_s = read_bytes * turns.READ_S_PER_BYTE
        while waiting and spent_s < turns.SLICE_S and not self._held and not self._ending:
            line = waiting.popleft()
            lines += 1
            large = large or isinstance(line, TooLong) or len(line) > turns.LARGE_BYTES
            self._take(line)
            now_s = time.monotonic()
            spent_s = now_s - began_s + self._later_s
        heavy = self._turns.took(spent_s, now_s, lines, large=large, more=bool(waiting))
        if self._held or self._ending:
            return
        rests = (heavy or waiting or self._queued_rows() > turns.MOST_QUEUED_ROWS) and self._rests(now_s)
        if waiting and not rests:
            self._turn = asyncio.get_running_loop().call_soon(self._next_slice)
        if self._told_backlog or self._turn is not None:
            self._tell_backlog()

    def _rests(self, now_s: float) -> bool:
        """Whether it has to, for the others' sake; the next slice comes later then."""
        wait_s = self._turns.wait_s(now_s, len(self._calls), self._queued_rows())
        if wait_s:
            self._turn = asyncio.get_running_loop().call_later(wait_s, self._next_slice)
        return wait_s > 0

    def _queued_rows(self) -> int:
        return self._dispatcher.queued_rows

    def _tell_backlog(self) -> None:
        waits = self._held or bool(self._waiting) or self._turn is not None
        if waits:
            self._idle.clear()
        elif not self._calls:
            self._idle.set()
        if waits is not self._told_backlog:
            self._told_backlog = waits
            self._on_backlog(waits)

    def _take(self, line: bytes | TooLong) -> None:
        if isinstance(line, TooLong):
            self._refuse(line_too_long(self._limits.line_bytes))
        elif line.strip():
            self._line(line)

    def hear_last(self, data: bytes) -> None:
        """The peer is gone, with `data` still unread: its last notice counts, and what it said for the log.

        Nothing else is begun any more.
        """
        lines = (*self._waiting, *self._splitter.feed(data))
        self._waiting.clear()
        if self._turn is not None:
            self._turn.cancel()
            self._turn = None
        for line in () if self._ending else lines[-LAST_LINES:]:
            message = read_line(line) if isinstance(line, bytes) else None
            if isinstance(message, Request) and message.method == "run.log":
                self._request(message)
            elif isinstance(message, Notice) and self._on_notice is not None and line is lines[-1]:
                self._on_notice(message.name, message.data)

    def notify(self, name: str, data: Any) -> None:
        """Send a line that nobody asked for."""
        if not self._ended:
            self._write(notice_line(name, data))

    async def settle(self, grace_s: float) -> None:
        """Give calls under way so long to be answered."""
        try:
            async with asyncio.timeout(grace_s):
                await self._idle.wait()
        except TimeoutError:
            return

    async def end(self) -> None:
        """The caller is gone: its calls end, each answered once, and what it held is released. Twice is fine.

        It is finished even when who waits for it is cancelled: a tab that is not released would stay for ever.
        """
        if self._ending is None:
            self._ending = asyncio.get_running_loop().create_task(self._end())
        await asyncio.shield(self._ending)

    async def _end(self) -> None:
        self._waiting.clear()
        if self._turn is not None:
            self._turn.cancel()
        self._dispatcher.stop_hearing(self.caller, self.notify)
        await self._dispatcher.caller_ended(self.caller)
        self._ended = True

    def _line(self, line: bytes) -> None:
        message = read_line(line)
        if isinstance(message, Request):
            self._request(message)
        elif isinstance(message, Cancel):
            call = self._calls.get(message.id)
            if call is not None:
                self._dispatcher.cancel(call)
        elif isinstance(message, Notice) and self._on_notice is not None:
            self._on_notice(message.name, message.data)
        elif isinstance(message, Notice):
            self._refuse(Unreadable(None, InvalidArgumentError("BAD_ARGUMENTS", "a call needs an `id`; add one")))
        else:
            self._refuse(message)

    def _request(self, request: Request) -> None:
        number, size = request.id, len(request.raw_args)
        problem = self._too_much(number, size)
        if problem is not None:
            self._refuse(Unreadable(number, problem))
            return
        self._calls[number] = None
        self._later_s += turns.RECORD_S
        self._bytes_under_way += size
        self._idle.clear()

        def reply(result: bytes | None, error: CapError | None) -> None:
            self._bytes_under_way -= size
            self._reply(number, result, error)

        call = self._dispatcher.submit(self.caller, request, reply)
        if number in self._calls:
            self._calls[number] = call
            self._later_s += turns.LATER_S if call.session is not None and call.task is None else turns.TASK_S

    def _too_much(self, number: CallId, size: int) -> CapError | None:
        """Why this call may not begin now; None when it may."""
        if number in self._calls:
            return duplicate_id(number)
        if len(self._calls) >= self._calls_in_flight.value:
            return too_many(self._calls_in_flight)
        if self._bytes_under_way + size > self._bytes_in_flight and self._calls:
            return too_much_under_way(int(self._bytes_in_flight), self._bytes_under_way + size)
        if self._pace is not None and self._calls_per_s is not None:
            wait_s = self._pace.take(time.monotonic())
            return too_fast(self._calls_per_s, wait_s) if wait_s else None
        return None

    def _reply(self, number: CallId, result: bytes | None, error: CapError | None) -> None:
        call = self._calls.pop(number, None)
        if not self._calls and not self._told_backlog:
            self._idle.set()
        if self._ended:
            return
        if result is not None:
            self._turns.answered(len(result), time.monotonic())
        if self._held and result is not None and self._unread_bytes is not None:
            unread = self._unread_bytes() + len(result)
            if unread > self._limits.run_unread_bytes:
                result, error = None, not_read(self._limits.run_unread_bytes, unread)
        untrusted = call.untrusted if call is not None else None
        self._write(ok_line(number, result or b"{}", untrusted) if error is None else error_line(number, error))

    def _refuse(self, problem: Unreadable) -> None:
        self._write(error_line(problem.id, problem.error))


def duplicate_id(number: CallId) -> InvalidArgumentError:
    """The id is taken; the first call goes on."""
    return InvalidArgumentError(
        "DUPLICATE_ID", f"a call with the id {str(number)[:70]} is still under way and goes on; use another id"
    )


def too_many(bound: Bound) -> ExhaustedError:
    """Too many calls without an answer."""
    return bound.error(
        "RATE_LIMITED",
        f"{bound.value:g} calls are under way and that is the limit; wait for an answer first",
        actual=int(bound.value) + 1,
    )


def too_much_under_way(limit: int, actual: int) -> ExhaustedError:
    """The arguments of the calls without an answer take too much memory."""
    return ExhaustedError(
        "RATE_LIMITED",
        f"the calls under way hold {actual} bytes of arguments with this one and may hold {limit}; "
        "wait for an answer first, or send less in a call",
        what="run_bytes_in_flight",
        limit=limit,
        actual=actual,
    )


def too_fast(bound: Bound, wait_s: float) -> ExhaustedError:
    """The calls come faster than the app's manifest said they would, or its owner lets them."""
    wait_ms = math.ceil(wait_s * 1000)
    return bound.error(
        "RATE_LIMITED",
        f"the run may begin {bound.value:g} calls a second; call again in {wait_ms} ms",
        retryAfterMs=wait_ms,
    )


def not_read(limit: int, actual: int) -> ExhaustedError:
    """The call was done, but its peer leaves its answers lying."""
    return ExhaustedError(
        "RESULT_TOO_LARGE",
        f"the call was done, but {actual} bytes of answers wait to be read with this one and {limit} may; "
        "read the answers before calling on",
        what="run_unread_bytes",
        limit=limit,
        actual=actual,
    )
