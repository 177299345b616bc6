"""A page that floods beside others gets less of the processor; alone it may."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from host.app import Host, open_host
from host.browser.pace import SLOW_S
from host.core.settings import Settings
from tests.live.walls import temporary_folders_in
from tests.support.inprocess import Talker, caller

FLOOD = "for (let i = 0; i < 3000; i++) console.log(i); 1"
# Work that takes 20 ms of the processor, however long that is: how many ms went by.
STRETCH = (
    "(() => { const began = performance.now(); let sum = 0; for (let i = 0; i < 2e7; i++) sum += i;"
    " return performance.now() - began })()"
)


@pytest_asyncio.fixture
async def shared(place: Path) -> AsyncIterator[Host]:
    with temporary_folders_in(place):
        async with open_host(Settings(), ephemeral=True) as made:
            yield made


@contextlib.asynccontextmanager
async def at_work(one: Talker) -> AsyncIterator[None]:
    """Another app makes small calls all the time."""
    session = await one.open()

    async def work() -> None:
        while True:
            await one.js(session, "1")
            await asyncio.sleep(0.02)

    working = asyncio.create_task(work())
    try:
        yield
    finally:
        working.cancel()


async def test_a_flood_is_slowed_down_beside_others_only_and_not_for_good(shared: Host) -> None:
    floods = Talker(shared, caller("floods"))
    session = await floods.open()
    await floods.js(session, STRETCH)  # compiled
    usual_ms = min([await floods.js(session, STRETCH) for _ in range(3)])
    await floods.js(session, FLOOD)
    alone_ms = min([await floods.js(session, STRETCH) for _ in range(3)])
    assert alone_ms < 3 * usual_ms
    async with at_work(Talker(shared, caller("works"))):
        await asyncio.sleep(0.1)
        await floods.js(session, FLOOD)
        assert await floods.js(session, STRETCH) > 3 * usual_ms
        await asyncio.sleep(SLOW_S + 0.5)
        assert min([await floods.js(session, STRETCH) for _ in range(3)]) < 3 * usual_ms
