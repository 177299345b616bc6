"""A hostile run beside one that does its calls: the other is hardly slower, and the host does not grow.

Some ways are tried in every test run, all of them in the slow one. Other people's load comes and goes, so the best of
some rounds counts, each beside quiet ones.
"""

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
from host.core import turns
from host.core.bucket import Crowd
from host.core.limits import Limits
from host.core.settings import Settings
from host.frontends import wire_connection
from host.frontends.script_door import ScriptDoor
from tests.apps.flooding import HOSTILE, STEADY, Steady, beside, resident_kib, run_it
from tests.apps.support import write_app

pytestmark = pytest.mark.asyncio(loop_scope="module")

CALLS = 100
BLOCKS = 5
ROUNDS = 6
FACTOR = 1.5
MOST_KIB = 16 * 1024
FLOOR_S = 0.0001 * CALLS  # a block that is quicker on a quiet machine: its ratio would be one of noise


@dataclass
class Neighbours:
    """A host in which one run works steadily, and the app that is hostile."""

    host: Host
    steady: Steady
    hostile: Path
    told: dict[str, int]

    def hear(self, begun: asyncio.Event) -> Callable[[str, dict[str, Any]], None]:
        """The ear of the hostile run; its first progress says that it begins."""
        self.told = {}

        def tell(kind: str, data: dict[str, Any]) -> None:
            self.told[kind] = self.told.get(kind, 0) + 1
            if kind == "progress":
                begun.set()

        return tell

    async def flood(self, way: str, blocks: int) -> tuple[list[float], int]:
        """How long the other's blocks take beside one that is hostile in this way, and the host's growth in KiB."""
        begun = asyncio.Event()
        before = resident_kib()
        grown = 0
        async with beside(self.host, self.hostile, json.dumps({"way": way}), self.hear(begun), begun) as run:
            await asyncio.sleep(0.1)
            took_s = []
            for _ in range(blocks):
                took_s += await self.steady.blocks(1)
                grown = max(grown, resident_kib() - before)
            assert not run.done(), run.result()
        return took_s, grown


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def neighbours(folder: Path) -> AsyncIterator[Neighbours]:
    steady = write_app(folder / "steady", id="steady", main=STEADY)
    hostile = write_app(folder / "hostile", id="hostile", main=HOSTILE)
    limits = Limits(run_wall_s=900.0, run_cpu_s=900)
    settings = Settings(state_dir=f"{folder}/state", cache_dir=f"{folder}/cache", limits=limits)
    begun = asyncio.Event()
    async with open_host(settings, own_profile=True, workers_kept=1) as host:
        working = Steady()

        def tell(kind: str, data: dict[str, Any]) -> None:
            working.tell(kind, data)
            if kind == "progress":
                begun.set()

        async with beside(host, steady, json.dumps({"calls": CALLS}), tell, begun):
            made = Neighbours(host, working, hostile, {})
            await made.flood("valid-calls", 1)  # what is loaded at the first of them is not what this is about
            yield made


class Alone(Crowd):
    """Sees nobody else."""

    def others(self, who: int, now_s: float) -> bool:
        return False


SOME = ("valid-calls", "never-reads")
MORE = (
    "listings",
    "lines-of-objects",
    "dear-calls",
    "progress",
    "log",
    "refused-calls",
    "long-names",
    "wrong-arguments",
    "unanswered-questions",
    "forged-replies",
    "forged-notices",
    "cancels",
    "no-json",
    "blank-lines",
    "not-utf8",
    "no-newline",
    "half-lines",
    "long-lines",
    "lines-of-colons",
    "twin-keys",
    "deep",
)


@pytest.mark.parametrize("way", [*SOME, *(pytest.param(way, marks=pytest.mark.long) for way in MORE)])
async def test_a_hostile_run_slows_no_other_by_more_than_half_and_the_host_does_not_grow(
    neighbours: Neighbours, way: str, record_property: Callable[[str, object], None]
) -> None:
    ratios: list[float] = []
    while not ratios or (ratios[-1] > FACTOR and len(ratios) < ROUNDS):
        quiet = await neighbours.steady.blocks(BLOCKS)
        noisy, grown = await neighbours.flood(way, BLOCKS)
        quiet += await neighbours.steady.blocks(BLOCKS)
        assert grown < MOST_KIB
        ratios.append(statistics.median(noisy) / max(statistics.median(quiet), FLOOR_S))
        record_property(f"{way}_{len(ratios)}", (round(ratios[-1], 2), grown))
    assert ratios[-1] <= FACTOR, ratios


async def test_without_slices_the_same_flood_would_have_been_felt(
    neighbours: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = await neighbours.steady.blocks(BLOCKS)
    monkeypatch.setattr(turns, "SLICE_S", 1e9)
    monkeypatch.setattr(wire_connection, "EVERYBODY", Alone())
    noisy, _ = await neighbours.flood("cancels", 1)
    assert statistics.median(noisy) / statistics.median(quiet) > 2 * FACTOR


async def test_answers_that_nobody_reads_would_have_made_the_host_grow(
    neighbours: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ScriptDoor, "pause_writing", lambda door: None)
    monkeypatch.setattr(wire_connection, "EVERYBODY", Alone())
    before = resident_kib()
    begun = asyncio.Event()
    given = json.dumps({"way": "never-reads"})
    async with beside(neighbours.host, neighbours.hostile, given, neighbours.hear(begun), begun):
        async with asyncio.timeout(20):
            while resident_kib() - before < MOST_KIB:  # noqa: ASYNC110 - memory has no events
                await asyncio.sleep(0.02)


async def test_a_script_that_closes_its_side_ends_its_run_though_its_process_goes_on(neighbours: Neighbours) -> None:
    """The control is every other test here: with its side open the same script goes on."""
    source = HOSTILE.replace("    while True:\n", "    sock.close()\n    while True:\n        continue\n")
    app = write_app(neighbours.hostile.parent / "closing", id="closing", main=source)
    async with asyncio.timeout(5):
        envelope = await run_it(neighbours.host, app, '{"way": "cancels"}', lambda kind, data: None)
    assert envelope["error"]["code"] == "SCRIPT_FAILED"


@pytest.mark.long
async def test_a_log_flood_ends_at_the_number_of_lines_that_a_run_may_have(neighbours: Neighbours) -> None:
    begun = asyncio.Event()
    most = neighbours.host.settings.limits.run_log_lines
    given = json.dumps({"way": "log"})
    async with beside(neighbours.host, neighbours.hostile, given, neighbours.hear(begun), begun):
        async with asyncio.timeout(30):
            while neighbours.told.get("log", 0) <= most:  # noqa: ASYNC110 - thousands come
                await asyncio.sleep(0.02)
        await neighbours.steady.blocks(3)
    assert neighbours.told["log"] == most + 1  # and the one that says so
