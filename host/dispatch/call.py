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


class Call:
    """Made by the dispatcher. `finish` or `fail` ends it, once; what comes later is nobody's."""

    __slots__ = (
        "_end",
        "args",
        "caller",
        "entry",
        "granted",
        "leave_lane",
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
    )

    def __init__(
        self,
        number: int,
        caller: Caller,
        request: Request,
        started_ns: int,
        end: Callable[[Call, bytes | None, CapError | None], None],
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
        self._end: Callable[[Call, bytes | None, CapError | None], None] | None = end

    @property
    def ended(self) -> bool:
        """Has the caller its answer?"""
        return self._end is None

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
