"""Which calls wait for which: side by side, one at a time in a session, or alone in the whole window."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from host.dispatch.entry import Lane

Start = Callable[[], None]


@dataclass(slots=True, eq=False)
class Ticket:
    """A place in a lane, taken with `Lanes.enter` and given back with `Lanes.leave`."""

    lane: Lane
    session: str
    start: Start


class Lanes:
    """Starts calls when their lane is free, in the order they came. Calls of lane `none` never come here."""

    def __init__(self) -> None:
        self._queue: deque[Ticket] = deque()
        self._running: list[Ticket] = []
        self._advancing = False

    def enter(self, ticket: Ticket) -> None:
        """Queue a call; its `start` is called at once or when those before it have left."""
        self._queue.append(ticket)
        self._advance()

    def leave(self, ticket: Ticket) -> None:
        """The call has ended, or gave up waiting. Leaving twice is fine."""
        if ticket in self._running:
            self._running.remove(ticket)
        elif ticket in self._queue:
            self._queue.remove(ticket)
        self._advance()

    def _advance(self) -> None:
        if self._advancing:
            return  # a call that ended while it was being started: the loop below goes on, not deeper
        self._advancing = True
        try:
            while (ticket := self._next()) is not None:
                self._queue.remove(ticket)
                self._running.append(ticket)
                ticket.start()
        finally:
            self._advancing = False

    def _next(self) -> Ticket | None:
        if any(running.lane is Lane.WINDOW for running in self._running):
            return None
        taken = {running.session for running in self._running}
        for ticket in self._queue:
            if ticket.lane is Lane.WINDOW:
                return None if self._running else ticket  # a barrier: nothing behind it starts before it
            if ticket.session not in taken:
                return ticket
            taken.add(ticket.session)
        return None
