"""One timer for many deadlines of one length: nobody rings early, nobody is forgotten."""

from __future__ import annotations

import asyncio

from host.browser.deadlines import Deadlines


class Bell:
    """Remembers when it rang."""

    def __init__(self) -> None:
        self.due_s = 0.0
        self.rang_s: float | None = None

    def expire(self) -> None:
        self.rang_s = asyncio.get_running_loop().time()


async def test_each_rings_at_its_own_time_and_not_before() -> None:
    deadlines = Deadlines(0.1)
    bells = [Bell() for _ in range(3)]
    for bell in bells:
        deadlines.add(bell)
        await asyncio.sleep(0.03)
    await asyncio.sleep(0.15)
    assert all(bell.rang_s is not None and bell.rang_s >= bell.due_s - 0.002 for bell in bells)


async def test_what_was_removed_does_not_ring_and_holds_nobody_up() -> None:
    deadlines = Deadlines(0.05)
    first, second = Bell(), Bell()
    deadlines.add(first)
    deadlines.add(second)
    deadlines.remove(first)
    deadlines.remove(first)
    await asyncio.sleep(0.12)
    assert first.rang_s is None
    assert second.rang_s is not None


async def test_a_new_one_rings_after_the_timer_found_nobody() -> None:
    deadlines = Deadlines(0.03)
    gone, late = Bell(), Bell()
    deadlines.add(gone)
    deadlines.remove(gone)
    await asyncio.sleep(0.06)
    deadlines.add(late)
    await asyncio.sleep(0.06)
    assert late.rang_s is not None


async def test_nothing_rings_after_close() -> None:
    deadlines = Deadlines(0.02)
    bell = Bell()
    deadlines.add(bell)
    deadlines.close()
    deadlines.close()
    await asyncio.sleep(0.05)
    assert bell.rang_s is None
