"""One timer for all commands under way: most end long before their deadline, so none gets a timer of its own."""

from __future__ import annotations

import asyncio
from typing import Protocol

EARLY_S = 0.001  # a timer may ring this much early


class Timed(Protocol):
    """What has a deadline, in the loop's seconds."""

    due_s: float

    def expire(self) -> None:
        """The deadline passed."""


class Deadlines:
    """Deadlines of one length, in the order they began: adding and removing cost a dict operation each.

    Made on the loop's thread; `expire` is called there.
    """

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[Timed, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, one: Timed) -> None:
        """`one.expire()` is called in `timeout_s`, unless it is removed before."""
        one.due_s = self._loop.time() + self.timeout_s
        self._waiting[one] = None
        if self._timer is None:
            self._timer = self._loop.call_at(one.due_s, self._look)

    def remove(self, one: Timed) -> None:
        """It has ended; an unknown one is fine."""
        self._waiting.pop(one, None)

    def _look(self) -> None:
        self._timer = None
        now_s = self._loop.time() + EARLY_S
        while self._waiting:
            one = next(iter(self._waiting))
            if one.due_s > now_s:
                self._timer = self._loop.call_at(one.due_s, self._look)
                return
            del self._waiting[one]
            one.expire()

    def close(self) -> None:
        """Forget all. Closing twice is fine."""
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
