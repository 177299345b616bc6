"""One call on its way: who, what, since when, and the one end it has."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from capsdk.errors import CapError
from host.core.grants import Caller
from host.core.wire import Request
from host.dispatch.entry import Entry, Touched

Reply = Callable[[bytes | None, CapError | None], None]
End = Callable[["Call", bytes | None, CapError | None], None]


class Call:
    """Made by the dispatcher. `finish` or `fail` ends it, once; what comes later is nobody's.

    When an AI reads the answer, it is looked through between that end and the reply. `masked` is then how many places
    of it were masked, and `untrusted` the JSON of what doors tell beside the result; None when it holds no page data.
    """

    __slots__ = (
        "_end",
        "_reply",
        "args",
        "caller",
        "entry",
        "granted",
        "leave_lane",
        "masked",
        "number",
        "on_end",
        "prepared",
        "raw_args",
        "reason",
        "request",
        "services",
        "session",
        "started_ns",
        "task",
        "timer",
        "untrusted",
    )

    def __init__(
        self,
        number: int,
        caller: Caller,
        request: Request,
        started_ns: int,
        end: End,
    ) -> None:
        self.number = number
        self.caller = caller
        self.request = request
        self.raw_args = request.raw_args
        self.started_ns = started_ns
        self.entry: Entry | None = None
        self.args: Any = None
        self.services: Any = None
        self.prepared: Any = None
        self.session: Touched | None = None
        self.reason = ""
        self.granted = False
        self.leave_lane: Callable[[], None] | None = None
        self.task: asyncio.Task[None] | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.on_end: Callable[[], object] | None = None
        self.masked = 0
        self.untrusted: bytes | None = None
        self._end: End | None = end
        self._reply: End | None = None

    @property
    def ended(self) -> bool:
        """Has the caller its answer?"""
        return self._end is None and self._reply is None

    def finish(self, result: bytes) -> None:
        """The call was done; `result` is JSON."""
        self.complete(result, None)

    def fail(self, error: CapError) -> None:
        """The call was not done."""
        self.complete(None, error)

    def complete(self, result: bytes | None, error: CapError | None) -> None:
        """Either of the two; the second end of a call is ignored."""
        end, self._end = self._end, None
        if end is not None:
            end(self, result, error)

    def wait_for_reader(self, reply: End, task: asyncio.Task[None]) -> None:
        """The call is done and `task` looks its answer through: then `tell` ends it, or `stop` does before."""
        self._reply, self.task = reply, task

    def tell(self, result: bytes | None, error: CapError | None) -> None:
        """The answer, looked through."""
        reply, self._reply = self._reply, None
        if reply is not None:
            reply(self, result, error)

    def stop(self, error: CapError) -> None:
        """The dispatcher ends it, also while its answer is looked through; `error` holds nothing of a page."""
        if self._reply is not None:
            self.tell(None, error)
        else:
            self.fail(error)

    def stop_work(self) -> None:
        """Nothing goes on for it any more. Twice is fine."""
        if self.timer is not None:
            self.timer.cancel()
        if self.task is not None and self.task is not _current_task():
            self.task.cancel()
        stop, self.on_end = self.on_end, None
        if stop is not None:
            stop()

    def leave(self) -> None:
        """Its place in the lane is free. Twice is fine."""
        leave, self.leave_lane = self.leave_lane, None
        if leave is not None:
            leave()


def _current_task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None
