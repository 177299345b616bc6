"""Turns of apps at Chromium's one thread: who is alone never waits, who is not waits for the next page."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from host.browser import pace
from host.browser.pace import PAGES_PER_S, Pace
from tests.support.inprocess import caller

ONE, OTHER = caller("one"), caller("other")


class Clock:
    """Time passes when somebody sleeps; `while_asleep` happens meanwhile."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 1000.0
        self.while_asleep: Callable[[], None] = lambda: None
        monkeypatch.setattr(time, "monotonic", lambda: self.now_s)
        monkeypatch.setattr(asyncio, "sleep", self._sleep)

    async def _sleep(self, delay_s: float) -> None:
        assert delay_s > 0
        self.now_s += delay_s
        self.while_asleep()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


async def opened(turns: Pace, pages: int) -> None:
    for _ in range(pages):
        await turns.new_page(ONE)


async def test_an_app_that_is_alone_never_waits(clock: Clock) -> None:
    turns, began_s = Pace(), clock.now_s
    turns.served(ONE, clock.now_s)
    await opened(turns, 100)
    assert clock.now_s == began_s


async def test_beside_others_pages_come_at_their_pace_after_the_first_few(clock: Clock) -> None:
    turns, began_s = Pace(), clock.now_s

    def both_work() -> None:
        turns.served(ONE, clock.now_s)
        turns.served(OTHER, clock.now_s)

    clock.while_asleep = both_work
    both_work()
    await opened(turns, int(PAGES_PER_S))
    assert clock.now_s == began_s
    await opened(turns, 12)
    assert clock.now_s - began_s == pytest.approx(12 / PAGES_PER_S, rel=0.01)
    await turns.new_page(OTHER)  # who waits is who took much
    assert clock.now_s - began_s == pytest.approx(12 / PAGES_PER_S, rel=0.01)


async def test_who_waits_goes_on_when_the_others_are_done(clock: Clock) -> None:
    turns, began_s = Pace(), clock.now_s
    turns.served(ONE, clock.now_s)
    turns.served(OTHER, clock.now_s)
    await opened(turns, 100)
    assert clock.now_s - began_s < 1.0
    assert not turns.crowded(ONE)


async def test_many_apps_leave_no_memory(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "MANY_APPS", 4)
    turns = Pace()
    for number in range(20):
        turns.served(OTHER, clock.now_s)
        await turns.new_page(caller(f"app-{number}"))
    assert len(turns._pages) <= 4


async def test_a_wait_can_be_given_up() -> None:
    turns = Pace()
    loop = asyncio.get_running_loop()

    def others() -> None:
        turns.served(ONE, loop.time())
        turns.served(OTHER, loop.time())

    others()
    ticking = asyncio.ensure_future(_keep(others))
    try:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await opened(turns, 100)
    finally:
        ticking.cancel()


async def _keep(doing: Callable[[], None]) -> None:
    while True:
        doing()
        await asyncio.sleep(0.01)
