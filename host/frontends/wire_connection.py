"""One caller's line conversation: bytes in, calls to the dispatcher, replies out in any order. No sockets here."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from typing import Any

from capsdk.errors import CapError, ExhaustedError, InvalidArgumentError
from capsdk.wire import LineSplitter, TooLong
from host.core.bucket import Bucket
from host.core.grants import Caller
from host.core.limits import Limits
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


class WireConnection:
    """Used by every door that speaks lines: standard input and output, a script's socket, the owner's socket.

    `write(line)` takes whole lines. `on_notice` hears lines without an id; without it they are refused as unreadable.
    `calls_per_s` is the pace of the app's manifest, None for no pace.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        caller: Caller,
        write: Callable[[bytes], None],
        limits: Limits,
        on_notice: Callable[[str, Any], None] | None = None,
        *,
        calls_per_s: float | None = None,
    ) -> None:
        self.caller = caller
        self._dispatcher = dispatcher
        self._write = write
        self._limits = limits
        self._on_notice = on_notice
        self._pace = Bucket(calls_per_s, time.monotonic()) if calls_per_s else None
        self._splitter = LineSplitter(limits.line_bytes)
        self._calls: dict[CallId, Call | None] = {}
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
        """Take what was read."""
        for line in () if self._ending else self._splitter.feed(data):
            if isinstance(line, TooLong):
                self._refuse(line_too_long(self._limits.line_bytes))
            elif line.strip():
                self._line(line)

    def feed_rest(self) -> None:
        """The stream has ended: what came without a newline is the last line."""
        if self._splitter.held_bytes:
            self.feed(b"\n")

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
        number = request.id
        if number in self._calls:
            self._refuse(Unreadable(number, duplicate_id(number)))
            return
        if len(self._calls) >= self._limits.calls_in_flight:
            self._refuse(Unreadable(number, too_many(self._limits.calls_in_flight)))
            return
        wait_s = self._pace.take(time.monotonic()) if self._pace is not None else 0.0
        if self._pace is not None and wait_s:
            self._refuse(Unreadable(number, too_fast(self._pace.per_s, wait_s)))
            return
        self._calls[number] = None
        self._idle.clear()
        call = self._dispatcher.submit(self.caller, request, lambda result, error: self._reply(number, result, error))
        if number in self._calls:
            self._calls[number] = call

    def _reply(self, number: CallId, result: bytes | None, error: CapError | None) -> None:
        self._calls.pop(number, None)
        if not self._calls:
            self._idle.set()
        if not self._ended:
            self._write(ok_line(number, result or b"{}") if error is None else error_line(number, error))

    def _refuse(self, problem: Unreadable) -> None:
        self._write(error_line(problem.id, problem.error))


def duplicate_id(number: CallId) -> InvalidArgumentError:
    """The id is taken; the first call goes on."""
    return InvalidArgumentError(
        "DUPLICATE_ID", f"a call with the id {str(number)[:70]} is still under way and goes on; use another id"
    )


def too_many(limit: int) -> ExhaustedError:
    """Too many calls without an answer."""
    return ExhaustedError(
        "RATE_LIMITED",
        f"{limit} calls are under way and that is the limit; wait for an answer first",
        limit=limit,
        actual=limit + 1,
    )


def too_fast(per_s: float, wait_s: float) -> ExhaustedError:
    """The calls come faster than the app's manifest said they would."""
    wait_ms = math.ceil(wait_s * 1000)
    return ExhaustedError(
        "RATE_LIMITED",
        f"the manifest's calls_per_s is {per_s:g}; call again in {wait_ms} ms, or raise it in app.toml",
        limit=per_s,
        retryAfterMs=wait_ms,
    )
