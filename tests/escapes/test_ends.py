"""Probes 16, 17, 24: workers that do not end by themselves, and calls that end them."""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.escapes.conftest import Stations
from tests.escapes.counting import probe
from tests.escapes.powers import FOREIGN_CALLS, NATIVE_CALL
from tests.escapes.settings import CONTROL, SETTINGS, Setting, Station
from tests.support.processes import alive, stat_fields, wait_until

pytestmark = pytest.mark.slow
GONE_S = 2.0
CPU_S = 1
BROKEN_OFF_MS = (0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 10, 12, 16, 30)  # bubblewrap takes some, then Python
IGNORE_ALL = "[signal.signal(s, lambda *a: None) for s in range(1, 32) if s not in (9, 19)]"
LOOPS = {  # statements, how a worker ends that runs them
    "plain": ("while True: pass", {"noopen": "SIGXCPU", "bwrap": "SIGXCPU"}),
    "ignoring-signals": (f"{IGNORE_ALL}\nwhile True: pass", {"noopen": "SIGKILL", "bwrap": "SIGKILL"}),
}


SOME = ("bwrap/root", "noopen/user")


def in_each(number: int, *, long_but: tuple[str, ...] | None = None) -> pytest.MarkDecorator:
    """Once a setting; but in those `long_but` it takes long in all together."""
    rows = []
    for each in SETTINGS:
        long = [pytest.mark.long] if long_but is not None and each.name not in long_but else []
        rows.append(pytest.param(each, id=each.name.replace("/", "-"), marks=[probe(number, each.name), *long]))
    return pytest.mark.parametrize("setting", rows)


@in_each(16)
def test_a_busy_worker_ends_with_its_host(extra_station: Callable[..., Station], setting: Setting) -> None:
    station = extra_station(setting)
    pids = station.ask("doom")["pids"]
    assert len(pids) >= 2, "the host and a worker"
    time.sleep(0.2)
    assert all(map(alive, pids)), "it is busy while its host lives"
    station.kill()
    wait_until(lambda: not any(map(alive, pids)), GONE_S, "its host was killed")


@pytest.mark.parametrize("way", ["given_up", "killed_starting"])
@in_each(16, long_but=SOME)
def test_nothing_is_left_of_a_worker_whose_start_is_broken_off(stations: Stations, setting: Setting, way: str) -> None:
    assert stations(setting).ask(way, delays_ms=BROKEN_OFF_MS)["left"] == []


@probe(16, CONTROL.name)
def test_a_busy_process_without_the_lock_outlives_its_host() -> None:
    busy = "import signal; [signal.signal(s, lambda *a: None) for s in (1, 2, 15)]\nwhile True: pass"
    host = f"import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', {busy!r}]).pid, flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", host], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as doomed:
        assert doomed.stdout is not None
        pid = int(doomed.stdout.readline())
        try:
            doomed.kill()
            doomed.wait(5.0)
            time.sleep(0.2)
            assert alive(pid)
        finally:
            subprocess.run(["kill", "-9", str(pid)], check=True)


def chosen(request: pytest.FixtureRequest, stations: Stations, number: int) -> list[Station]:
    """The stations that tests of this probe were chosen in."""
    names = {mark.args for item in request.session.items for mark in item.iter_markers("probe")}
    return [each for each in stations.all() if (number, each.setting.name) in names]


@pytest.fixture(scope="module")
def ends(request: pytest.FixtureRequest, stations: Stations) -> dict[str, Any]:
    """How the loops end in each setting; all run at the same time."""
    began = chosen(request, stations, 17)
    for station in began:
        station.begin("fatal", sources=[source for source, _ in LOOPS.values()], cpu_s=CPU_S)
    return {station.setting.name: station.end() for station in began}


@pytest.mark.parametrize("loop", LOOPS)
@in_each(17, long_but=SOME)
def test_a_busy_loop_ends_at_the_cpu_limit(
    stations: Stations, ends: dict[str, Any], setting: Setting, loop: str
) -> None:
    stations(setting)
    found = ends[setting.name]
    assert dict(zip(LOOPS, found["ends"], strict=True))[loop] == LOOPS[loop][1][setting.tier]
    assert found["took_s"] > 1.8 * CPU_S, "the second one had a second more than the first"


@probe(17, CONTROL.name)
def test_busy_loops_go_on_without_the_lock() -> None:
    with contextlib.ExitStack() as stack:
        started = [stack.enter_context(unlocked(source)) for source, _ in LOOPS.values()]
        for process in started:
            wait_until(functools.partial(has_used_s, process.pid, CPU_S + 1.1), 30.0, "it ended at some limit")
        assert [process.poll() for process in started] == [None] * len(started)


@contextlib.contextmanager
def unlocked(source: str) -> Iterator[subprocess.Popen[bytes]]:
    """The same loop in a process that nothing limits; ended at the end."""
    with subprocess.Popen([sys.executable, "-c", f"import signal\n{source}"]) as process:
        try:
            yield process
        finally:
            process.kill()


def has_used_s(pid: int, cpu_s: float) -> bool:
    """Has it used so much CPU time?"""
    fields = stat_fields(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") > cpu_s


@pytest.mark.parametrize("name", FOREIGN_CALLS)
@in_each(24)
def test_a_call_by_a_foreign_abi_kills_the_worker(
    stations: Stations, foreign: dict[str, Any], setting: Setting, name: str
) -> None:
    stations(setting)
    assert foreign[setting.name][name] == "SIGSYS"


@pytest.fixture(scope="module")
def foreign(request: pytest.FixtureRequest, stations: Stations) -> dict[str, Any]:
    """How the calls end in each setting. The same machine code with a native call answers first: that is no crash."""
    began = chosen(request, stations, 24)
    for station in began:
        assert station.ask("attempt", source=NATIVE_CALL, expected=None)["outcome"] == {"value": "True"}
        station.begin("fatal", sources=list(FOREIGN_CALLS.values()), cpu_s=5)
    return {station.setting.name: dict(zip(FOREIGN_CALLS, station.end()["ends"], strict=True)) for station in began}


@pytest.mark.parametrize("name", FOREIGN_CALLS)
@probe(24, CONTROL.name)
def test_a_call_by_a_foreign_abi_is_answered_without_the_lock(stations: Stations, name: str) -> None:
    outcome = stations(CONTROL).ask("attempt", source=FOREIGN_CALLS[name], expected=None)["outcome"]
    if outcome.get("errno") == "ENOSYS" or outcome.get("ended") == "SIGSEGV":
        pytest.skip(f"24-{name}: {outcome}")
    assert "value" in outcome
