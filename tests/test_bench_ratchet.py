"""The ratchet: a change that makes a small call of a script slower by a third, to a direct client, does not pass."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from bench import ratchet

ROOT = Path(__file__).resolve().parent.parent
COMMITTED = {"cpu": 4.0, "p50": 1.5}


def parts(p50_us: float, cpu_us: float) -> dict[str, dict[str, float]]:
    """One round of one client."""
    row = {"p50_us": p50_us, "wall_us": p50_us, "client_cpu_us": cpu_us / 4, "host_cpu_us": cpu_us * 3 / 4}
    return dict.fromkeys(ratchet.PARTS, row)


def rounds(p50_us: Sequence[float], cpu_us: Sequence[float]) -> dict[str, Any]:
    """The script's rounds, against a pipe of 100 µs and 50 µs CPU."""
    ours = [parts(p50, cpu) for p50, cpu in zip(p50_us, cpu_us, strict=True)]
    return {"script": ours, "pipe": [parts(100, 50)] * len(ours)}


def test_cpu_is_compared_by_medians_and_time_by_best_rounds() -> None:
    found = ratchet.ratios_of(rounds([150, 900, 160], [200, 210, 900]))
    assert (found["cpu"], found["p50"]) == (4.2, 1.5)


WORSE_CASES = (  # p50 and CPU of the tries, held, how often it was measured
    pytest.param([(150, 200)], True, 1, id="as-committed"),
    pytest.param([(199, 266)], True, 1, id="worse-by-less-than-a-third"),
    pytest.param([(300, 200), (150, 200)], True, 2, id="a-stutter"),
    pytest.param([(201, 200), (210, 200)], False, 2, id="slower-twice"),
    pytest.param([(150, 270), (150, 280)], False, 2, id="more-cpu-twice"),
    pytest.param([(300, 200), (150, 300)], False, 2, id="first-slower-then-more-cpu"),
)


@pytest.mark.parametrize(("tries", "held", "measured"), WORSE_CASES)
def test_it_fails_only_when_it_is_worse_twice(tries: list[tuple[float, float]], held: bool, measured: int) -> None:
    told: list[str] = []
    left: Iterator[dict[str, Any]] = iter([rounds([p50], [cpu]) for p50, cpu in tries])
    outcome = ratchet.hold(lambda: next(left), COMMITTED, told.append)
    assert (outcome["held"], len(outcome["tries"])) == (held, measured)
    assert len(told) == sum(bool(ratchet.worse(one, COMMITTED)) for one in outcome["tries"])


def test_the_committed_ratios_are_there_and_can_be_true() -> None:
    committed = ratchet.read()
    assert {*ratchet.JUDGED, *ratchet.PARTS[1:]} == set(committed)
    assert 1 < committed["cpu"] < 8
    assert 0.8 < committed["p50"] < 3


@pytest.mark.chromium
def test_a_small_call_has_not_become_slower_by_a_third() -> None:
    began = time.monotonic()
    words = [sys.executable, "-m", "bench.all", "--quick", "--json"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["held"] is True
    assert time.monotonic() - began < 60
