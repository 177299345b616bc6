"""Two wires joined after a CONNECT: bytes go through unread, each way stopped by a slow reader and ended by itself."""

from __future__ import annotations

from collections.abc import Callable

from host.egress.limits import Limits
from host.egress.wire import Wire

KERNEL_ASKS_S = 60


class Tunnel:
    """Carries bytes both ways until both sides have ended; `done` hears of it once."""

    def __init__(self, client: Wire, upstream: Wire, limits: Limits, done: Callable[[], None]) -> None:
        self._client = client
        self._upstream = upstream
        self._limits = limits
        self._done: Callable[[], None] | None = done
        self._ended: set[Wire] = set()
        client.owner = upstream.owner = self
        upstream.keep_alive(KERNEL_ASKS_S)

    def _other(self, wire: Wire) -> Wire:
        return self._upstream if wire is self._client else self._client

    def received(self, wire: Wire, data: memoryview) -> None:
        """Pass it on."""
        if not self._other(wire).write(data):
            wire.pause()

    def ended(self, wire: Wire) -> None:
        """One way is over; the other may go on."""
        self._ended.add(wire)
        self._other(wire).finish()
        self._close_when_over()

    def drained(self, wire: Wire) -> None:
        """A reader caught up."""
        source = self._other(wire)
        if source not in self._ended:
            source.resume()
        self._close_when_over()

    def lost(self, wire: Wire) -> None:
        """Broken on one side is broken on the other."""
        self._other(wire).abort()
        self._finish()

    def expired(self, now_s: float) -> bool:
        """Was there silence for too long? The tunnel has then been ended."""
        if now_s - max(self._client.last_s, self._upstream.last_s) < self._limits.tunnel_s:
            return False
        self._finish()
        return True

    def _close_when_over(self) -> None:
        if len(self._ended) == 2 and not self._client.held and not self._upstream.held:
            self._finish()

    def _finish(self) -> None:
        done, self._done = self._done, None
        self._client.close()
        self._upstream.close()
        if done is not None:
            done()
