"""A hostile run beside one that works a real tab: the other is hardly slower, and the host does not grow."""

from __future__ import annotations

import asyncio
import json
import statistics
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from host.app import Host, open_host
from host.commands import run_on
from host.core.limits import Limits
from host.core.settings import Settings
from host.frontends.cli import RunRequest
from tests.apps.flooding import HOSTILE, STEADY, Steady, interrupted_twice, resident_kib
from tests.apps.support import write_app
from tests.live.walls import temporary_folders_in

pytestmark = pytest.mark.asyncio(loop_scope="module")

CALLS, BLOCKS, ROUNDS = 40, 5, 5
FACTOR = 1.5
FLOOR_S = 0.0005 * CALLS
MOST_KIB = 16 * 1024
OPENS = '    session = (await ctx.cap.call("browser.openSession", {"url": "about:blank"}))["sessionId"]\n'
EVALUATES = '"browser.cdp", {"sessionId": session, "method": "Runtime.evaluate", "params": {"expression": "1 + 1"}}'
TABBED = STEADY.replace("    while True:", OPENS + "    while True:", 1).replace('"host.info"', EVALUATES)
WORKS_A_TAB = HOSTILE.replace("    known = ", OPENS + "    known = ", 1).replace(
    "    data = memoryview(",
    """    large = way != "small-results"
    params = {"expression": "'x'.repeat(900000)" if large else "1", "returnByValue": True}
    args = {"sessionId": session, "method": "Runtime.evaluate", "params": params}
    WAYS[way] = lambda: many("browser.cdp", args, count=150)
    reads = way != "large-results-unread"
    data = memoryview(WAYS[way]() if not reads else """,
)


@dataclass
class Beside:
    """A host, the run that works steadily in its tab, and the app of the hostile one."""

    host: Host
    steady: Steady
    hostile: Path


def start(host: Host, app: Path, given: dict[str, Any], tell: Callable[[str, dict[str, Any]], None]) -> Any:
    """A run that may use tabs."""

    async def this_host() -> Host:
        return host

    request = RunRequest(str(app), json.dumps(given), False, ("browser.debug=allow",), (), False)
    return run_on(this_host, request, tell, host.places)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def beside(folder: Path) -> AsyncIterator[Beside]:
    apps = {
        name: write_app(folder / name, id=name, main=main)
        for name, main in (("steady", TABBED), ("hostile", WORKS_A_TAB))
    }
    settings = Settings(
        state_dir=f"{folder}/state", cache_dir=f"{folder}/cache", limits=Limits(run_wall_s=900.0, run_cpu_s=900)
    )
    steady = Steady()
    with temporary_folders_in(folder):
        async with (
            open_host(settings, own_profile=True) as host,
            interrupted_twice(start(host, apps["steady"], {"calls": CALLS}, steady.tell)),
        ):
            await steady.blocks(1)
            yield Beside(host, steady, apps["hostile"])


WAYS = (
    pytest.param("small-results", marks=pytest.mark.long),
    pytest.param("large-results", marks=pytest.mark.long),
    "large-results-unread",
)


@pytest.mark.parametrize("way", WAYS)
async def test_a_run_that_floods_its_tab_slows_no_other_by_more_than_half_and_the_host_does_not_grow(
    beside: Beside, way: str, record_property: Callable[[str, object], None]
) -> None:
    ratios: list[float] = []
    grown = 0
    while not ratios or (ratios[-1] > FACTOR and len(ratios) < ROUNDS):
        quiet = await beside.steady.blocks(BLOCKS)
        before = resident_kib()
        begun = asyncio.Event()
        async with interrupted_twice(start(beside.host, beside.hostile, {"way": way}, _ear(begun))) as run:
            async with asyncio.timeout(20):
                await begun.wait()
            await asyncio.sleep(0.3)
            noisy = []
            for _ in range(BLOCKS):
                noisy += await beside.steady.blocks(1)
                grown = max(grown, resident_kib() - before)
            assert not run.done(), run.result()
        quiet += await beside.steady.blocks(BLOCKS)
        ratios.append(statistics.median(noisy) / max(statistics.median(quiet), FLOOR_S))
        record_property(f"{way}_{len(ratios)}", (round(ratios[-1], 2), grown))
    assert ratios[-1] <= FACTOR, ratios
    assert grown < MOST_KIB
    async with asyncio.timeout(5):
        while len(beside.host.sessions) > 1:  # noqa: ASYNC110 - the steady one's stays, and no event tells of the other
            await asyncio.sleep(0.02)


def _ear(begun: asyncio.Event) -> Callable[[str, dict[str, Any]], None]:
    def tell(kind: str, data: dict[str, Any]) -> None:
        if kind == "progress":
            begun.set()

    return tell
