"""What one app's tabs may take of Chromium while others are at work in it: new pages wait, floods are slowed down.

All tabs share Chromium's one browser thread. To make a page takes it some 90 ms, an event 30 µs (observed with Chromium
156 on two cores); whoever takes too much of either makes all others wait. An app that is alone is never held up.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any

from host.cdp.connection import ConnectionGone
from host.core.bucket import Bucket, Crowd
from host.core.grants import Caller, Kind

if TYPE_CHECKING:
    from host.browser.channel import Channel

PAGES_PER_S = 4.0  # of an app: as many at once, and so many a second after that
LOOK_S = 0.25
FLOOD_EVENTS, FLOOD_S = 512, 0.125  # so many within the time, of one page or frame
EVENT_BYTES = 4096  # a larger one counts as several
SLOW_RATE = 10  # its scripts get a tenth of their time
SLOW_S = 2.0  # after its last flood
MANY_APPS = 256


class Pace:
    """The turns of all apps of a host."""

    def __init__(self) -> None:
        self._crowd = Crowd()
        self._pages: dict[tuple[str, Kind], Bucket] = {}

    def served(self, owner: Caller, now_s: float) -> None:
        """The app's session was just used."""
        self._crowd.served(hash((owner.app, owner.kind)), now_s)

    def crowded(self, owner: Caller) -> bool:
        """Is another app at work?"""
        return self._crowd.others(hash((owner.app, owner.kind)), time.monotonic())

    async def new_page(self, owner: Caller) -> None:
        """Wait until it is the app's turn to have another page made."""
        while self.crowded(owner):
            wait_s = self._bucket(owner).take(time.monotonic())
            if not wait_s:
                return
            await asyncio.sleep(min(wait_s, LOOK_S))

    def _bucket(self, owner: Caller) -> Bucket:
        key = (owner.app, owner.kind)
        if key not in self._pages:
            if len(self._pages) >= MANY_APPS:
                self._pages.clear()
            self._pages[key] = Bucket(PAGES_PER_S, time.monotonic())
        return self._pages[key]


class Flood:
    """Counts the events of one page or frame, and slows its scripts down when they are a flood and others wait.

    Chromium takes the page's own thread its time away, so that its events come a tenth as fast. What its app set there
    itself is lost.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._count = 0
        self._since_s = 0.0
        self._slow: asyncio.TimerHandle | None = None

    def event(self, size_bytes: int) -> None:
        """One more; on the path of every event."""
        self._count += 1 + size_bytes // EVENT_BYTES
        if self._count >= FLOOD_EVENTS:
            now_s = time.monotonic()
            if now_s - self._since_s < FLOOD_S and self._channel.session.crowded():
                self._slow_down()
            self._count, self._since_s = 0, now_s

    def end(self) -> None:
        """Nothing comes any more. Twice is fine."""
        if self._slow is not None:
            self._slow.cancel()
            self._slow = None

    def _slow_down(self) -> None:
        if self._slow is not None:
            self._slow.cancel()
        self._set(SLOW_RATE)
        self._slow = asyncio.get_running_loop().call_later(SLOW_S, self._let_go)

    def _let_go(self) -> None:
        self._slow = None
        self._set(1)

    def _set(self, rate: int) -> None:
        with contextlib.suppress(ConnectionGone):
            asked = self._channel.session.connection.start(
                "Emulation.setCPUThrottlingRate", {"rate": rate}, self._channel.guard
            )
            asked.add_done_callback(_look_away)


def _look_away(asked: asyncio.Future[dict[str, Any]]) -> None:
    """A frame has no such setting, and a page that is gone needs none."""
    if not asked.cancelled():
        asked.exception()
