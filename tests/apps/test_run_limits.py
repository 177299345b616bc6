"""What a run may use, whole runs in the real sandbox: each limit ends in an error of its own, with limit and value."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from host.app import Host, open_host
from host.core.limits import Limits
from host.core.settings import Settings
from host.frontends import script_door
from tests.apps.flooding import beside, run_it
from tests.apps.support import write_app
from tests.support.processes import alive, pids, stat_fields

pytestmark = pytest.mark.asyncio(loop_scope="module")

KEPT = 2
HEAD = "import asyncio, time\nfrom capsdk import Result\nfrom capsdk.errors import CapError\n\n"
MAIN = "async def main(input, ctx):\n    "


@dataclass
class Ran:
    """One run: its envelope, what its owner was told, and how long it took."""

    envelope: dict[str, Any]
    told: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    took_s: float = 0.0

    @property
    def error(self) -> dict[str, Any]:
        assert not self.envelope["ok"], self.envelope
        error: dict[str, Any] = self.envelope["error"]
        return error

    @property
    def rows(self) -> list[dict[str, Any]]:
        assert self.envelope["ok"], self.envelope
        rows: list[dict[str, Any]] = json.loads(self.envelope["result"]["rowsJson"])
        return rows

    @property
    def logged(self) -> list[tuple[str, str]]:
        return [(data["level"], data["message"]) for kind, data in self.told if kind == "log"]


class Runs:
    """Runs scripts in one host, each from a folder of its own."""

    def __init__(self, host: Host, folder: Path) -> None:
        self.host = host
        self._folder = folder
        self._count = 0

    def app(self, main: str, limits: str = "") -> Path:
        """An app folder."""
        self._count += 1
        return write_app(self._folder / f"app-{self._count}", main=HEAD + main, more=f"[limits]\n{limits}\n")

    async def run(self, main: str, limits: str = "") -> Ran:
        """One run."""
        told: list[tuple[str, dict[str, Any]]] = []
        began = time.monotonic()
        envelope = await run_it(self.host, self.app(main, limits), "{}", lambda kind, data: told.append((kind, data)))
        return Ran(envelope, told, time.monotonic() - began)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def runs(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> AsyncIterator[Runs]:
    folder = tmp_path_factory.mktemp("runs")
    limits = Limits(run_wall_s=60.0, run_cpu_s=5, run_memory_mb=256, run_log_lines=50, run_output_bytes=100_000)
    settings = Settings(state_dir=f"{folder}/state", cache_dir=str(cache), limits=limits)
    async with open_host(settings, own_profile=True, workers_kept=KEPT) as host:
        yield Runs(host, folder)


ROWS = MAIN + 'return Result.ok([{"a": "x" * 2000}])'
BUSY = MAIN + "end = time.process_time() + 1.6\n    while time.process_time() < end: pass\n    return Result.ok([])"
BIG = MAIN + 'kept = ["x" * (1 << 20) for _ in range(140)]\n    return Result.ok([{"mb": len(kept)}])'
LONG = MAIN + "await asyncio.sleep(0.6)\n    return Result.ok([])"
ENDS: tuple[Any, ...] = (  # source, the limit that ends it, the limit that does not, what, actual value at least
    pytest.param(LONG, "wall_s = 0.3", "wall_s = 30", "wall_s", 0.3, id="wall-time"),
    pytest.param(BUSY, "cpu_s = 1", "cpu_s = 4", "cpu_s", 1, id="cpu-time", marks=pytest.mark.slow),
    pytest.param(BIG, "memory_mb = 128", "memory_mb = 250", "memory_mb", None, id="memory"),
    pytest.param(ROWS, "output_kb = 1", "output_kb = 3", "output_kb", 1.9, id="output"),
)


@pytest.mark.parametrize(("source", "low", "high", "what", "actual"), ENDS)
async def test_a_run_that_is_over_a_limit_ends_with_its_error_and_under_it_with_its_result(
    runs: Runs, source: str, low: str, high: str, what: str, actual: float | None
) -> None:
    over, under = await asyncio.gather(runs.run(source, low), runs.run(source, high))
    assert len(under.rows) <= 1
    assert over.error["code"] == "RUN_LIMIT"
    assert over.error["details"]["what"] == what
    assert over.error["details"]["limit"] == float(low.rpartition(" ")[2])
    assert actual is None or over.error["details"]["actual"] >= actual
    assert what in over.error["message"]


OWNERS: tuple[Any, ...] = (  # manifest, source, what, whose key is named
    pytest.param("", ROWS.replace("2000", "200_000"), "output_kb", "run_output_bytes", id="output"),
    pytest.param("memory_mb = 4000", BIG.replace("140", "400"), "memory_mb", "run_memory_mb", id="memory"),
)


@pytest.mark.parametrize(("limits", "source", "what", "key"), OWNERS)
async def test_where_the_owners_ceiling_holds_the_error_names_its_key(
    runs: Runs, limits: str, source: str, what: str, key: str
) -> None:
    ran = await runs.run(source, limits)
    assert (ran.error["code"], ran.error["details"]["what"]) == ("RUN_LIMIT", what)
    assert key in ran.error["message"] + ran.error.get("hint", "")


TOGETHER = (
    MAIN
    + """async def one():
        try:
            await ctx.cap.call("apps.describe")
            return "ok"
        except CapError as problem:
            return [problem.code, problem.details["what"], problem.details["limit"], problem.details["actual"]]
    return Result.ok([{"codes": await asyncio.gather(*(one() for _ in range(3)))}])"""
)


async def test_a_pace_of_the_owner_holds_a_run_whose_manifest_wants_none(runs: Runs) -> None:
    limited = replace(runs.host.settings, limits=replace(runs.host.settings.limits, run_calls_per_s=2.0))
    source = TOGETHER.replace('problem.details["actual"]', '"run_calls_per_s" in problem.message')
    before = runs.host.settings
    runs.host.settings = limited
    try:
        ran = await runs.run(source)
    finally:
        runs.host.settings = before
    assert ran.rows[0]["codes"] == ["ok", "ok", ["RATE_LIMITED", "calls_per_s", 2.0, True]]
    assert (await runs.run(source)).rows[0]["codes"] == ["ok"] * 3


LOGS = (
    MAIN
    + """codes = []
    for number in range(6):
        try:
            await ctx.cap.call("run.log", {"level": "info", "message": f"line {number}"})
            codes.append("ok")
        except CapError as problem:
            codes.append(problem.code)
            last = problem
    row = {"codes": codes, "details": last.details if "RUN_LIMIT" in codes else None}
    return Result.ok([row])"""
)


async def test_a_log_that_is_full_refuses_lines_tells_the_owner_once_and_lets_the_script_go_on(runs: Runs) -> None:
    full, control = await asyncio.gather(runs.run(LOGS, "log_lines = 4"), runs.run(LOGS, "log_lines = 6"))
    assert control.rows == [{"codes": ["ok"] * 6, "details": None}]
    assert [level for level, _ in control.logged] == ["info"] * 6
    assert full.rows[0]["codes"] == ["ok"] * 4 + ["RUN_LIMIT"] * 2
    assert full.rows[0]["details"] == {"what": "log_lines", "limit": 4, "actual": 6}
    assert [level for level, _ in full.logged] == ["info"] * 4 + ["warning"]


async def test_a_run_that_prints_more_than_its_log_holds_ends_well(runs: Runs) -> None:
    ran = await runs.run(MAIN + "for n in range(80): print(n)\n    return Result.ok([])", "log_lines = 10")
    assert ran.rows == []
    assert [level for level, _ in ran.logged] == ["info"] * 10 + ["warning"]


OBEYS = MAIN + "while not ctx.signal.cancelled: await asyncio.sleep(0.02)\n    "
WARNED: tuple[Any, ...] = (  # source, what it comes to
    pytest.param(OBEYS + "return Result.partial([], 'no time')", "partial", id="returns-what-it-has"),
    pytest.param(OBEYS + "ctx.signal.raise_if_cancelled()", "RUN_LIMIT", id="stops"),
    pytest.param(MAIN + "await asyncio.sleep(30)", "RUN_LIMIT", id="goes-on"),
)


@pytest.mark.parametrize(("source", "outcome"), WARNED)
async def test_a_long_run_hears_that_its_time_is_nearly_over(
    runs: Runs, source: str, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script_door, "WARNED_FROM_S", 0.5)
    monkeypatch.setattr(script_door, "WARNING_S", 0.5)
    ran = await runs.run(source, "wall_s = 0.8")
    told = ran.envelope["result"]["state"] if ran.envelope["ok"] else ran.error["code"]
    assert told == outcome
    if outcome == "RUN_LIMIT":
        assert ran.error["details"]["what"] == "wall_s"


async def test_a_short_run_hears_nothing_before_its_time_is_over(runs: Runs) -> None:
    ran = await runs.run(OBEYS + "return Result.partial([], 'told')", "wall_s = 0.8")
    assert ran.error["details"]["what"] == "wall_s"


GOES_ON = """while True:
        try:
            await asyncio.sleep(30)
        except BaseException:
            pass"""
STOPPED: tuple[Any, ...] = (  # what it does when its run is interrupted, the longest and the shortest that may take, s
    pytest.param(OBEYS + "return Result.partial([], 'stopped')", 0.0, 0.5, id="obeys"),
    pytest.param(MAIN + "await asyncio.sleep(30)", 0.9, 1.9, id="does-not-look"),
    pytest.param(MAIN + GOES_ON, 1.9, 2.5, id="goes-on"),
    pytest.param(MAIN + "while True: pass", 1.9, 2.5, id="busy-loop"),
    pytest.param(MAIN + "time.sleep(30)", 1.9, 2.5, id="asleep"),
    pytest.param(
        MAIN + "while True: await asyncio.gather(*(ctx.cap.call('host.info') for _ in range(100)))",
        0.0,
        2.5,
        id="floods",
    ),
)


async def stop(runs: Runs, source: str) -> float:
    """How long a run takes to be over after it was interrupted."""
    begun = asyncio.Event()
    main = source.replace(MAIN, MAIN + "await ctx.cap.call('run.progress', {'done': 1})\n    ", 1)

    def tell(kind: str, data: dict[str, Any]) -> None:
        if kind == "progress":
            begun.set()

    async with beside(runs.host, runs.app(main), "{}", tell, begun) as task:
        await asyncio.sleep(0.3)
        began = time.monotonic()
        task.cancel()
        await asyncio.wait((task,), timeout=5)
        took_s = time.monotonic() - began
        assert task.cancelled()
    return took_s


def children() -> int:
    """How many processes this one has started that live."""
    return sum(alive(pid) and stat_fields(pid)[1:2] == [str(os.getpid())] for pid in pids())


async def children_at_rest(runs: Runs, *, most: int) -> int:
    """The same, when the workers that wait are all there; as soon as there are no more than `most`."""
    async with asyncio.timeout(10):
        while len(runs.host.workers.warm) < KEPT or children() > most:  # noqa: ASYNC110 - /proc has no events
            await asyncio.sleep(0.05)
    return children()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stops(runs: Runs) -> dict[str, float]:
    """All of them at once, by their source: each takes its two seconds."""
    sources = [row.values[0] for row in STOPPED]
    before = await children_at_rest(runs, most=1000)
    working = [asyncio.create_task(stop(runs, source)) for source in sources]
    most = 0
    while not all(task.done() for task in working):
        most = max(most, children())
        await asyncio.sleep(0.05)
    found = await asyncio.gather(*working)
    assert most > before
    assert await children_at_rest(runs, most=before) == before
    return dict(zip(sources, found, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(("source", "least_s", "most_s"), STOPPED)
async def test_an_interrupted_run_has_two_seconds_and_leaves_nothing(
    stops: dict[str, float], source: str, least_s: float, most_s: float
) -> None:
    assert least_s <= stops[source] < most_s


UNANSWERED = (
    MAIN
    + """for _ in range(150):
        asyncio.ensure_future(ctx.cap.call("apps.describe"))
    await asyncio.sleep(0)
    return Result.ok([{"told": True}])"""
)


async def test_a_result_that_stands_behind_calls_without_an_answer_counts(runs: Runs) -> None:
    for ran in await asyncio.gather(*(runs.run(UNANSWERED) for _ in range(3))):
        assert ran.rows == [{"told": True}]


TWICE = (
    MAIN
    + """for told in ("first", "second"):
        data = {"state": "ok", "complete": True, "rowsJson": '[{"told": "%s"}]' % told}
        ctx.cap._link.write(json.dumps({"notice": "result", "data": data}).encode() + b"\\n")
    return Result.ok([{"told": "third"}])"""
)


async def test_of_several_results_the_first_counts(runs: Runs) -> None:
    assert (await runs.run("import json\n" + TWICE)).rows == [{"told": "first"}]
