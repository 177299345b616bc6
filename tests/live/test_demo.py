"""The demo is what a newcomer sees first: it tells the truth, and it can be interrupted at any moment."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.processes import started_for, wait_until

ROOT = Path(__file__).parents[2]
ENDS_WITHIN_S = 3.0
MOMENTS_S = sorted(random.Random(20).uniform(0.02, 3.0) for _ in range(8))


def demo(place: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "host.demo", *words],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(place)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_it_shows_rows_refusals_the_lines_that_refused_and_the_ledger(place: Path) -> None:
    running = demo(place)
    shown, errors = running.communicate(timeout=60)
    assert (running.returncode, errors) == (0, "")
    for part in ("Desk lamp, brass", "Operation not permitted", "BROWSER_POLICY_DENIED", "All attempts were refused."):
        assert part in shown
    named = [line.split()[0] for line in shown.partition("The lines that stopped it:")[2].splitlines()[1:4]]
    for path, number in (place_named.split(":") for place_named in named):
        assert (ROOT / path).read_text().splitlines()[int(number) - 1].strip()
    assert shown.index("control: compute 6*7") < shown.index("read /etc/passwd and open a socket")


def test_its_last_line_of_json_is_one_envelope(place: Path) -> None:
    running = demo(place, "--json")
    shown, _ = running.communicate(timeout=60)
    envelope = json.loads(shown.splitlines()[-1])
    assert (running.returncode, envelope["ok"]) == (0, True)
    assert (envelope["result"]["state"], envelope["result"]["complete"]) == ("ok", True)
    rows = json.loads(envelope["result"]["rowsJson"])
    assert len(rows) == 3
    assert all(row["title"] and row["price"] for row in rows)
    assert envelope["run"]["tier"] in ("bwrap", "noopen")


@pytest.mark.parametrize("moment_s", MOMENTS_S, ids=lambda moment_s: f"after-{moment_s:.2f}-s")
def test_an_interrupt_at_any_moment_ends_it_and_all_it_started(place: Path, moment_s: float) -> None:
    running = demo(place)
    time.sleep(moment_s)
    began = time.monotonic()
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=20)
    assert time.monotonic() - began < ENDS_WITHIN_S
    assert running.returncode in (0, 130)
    assert "Traceback" not in errors
    wait_until(lambda: not started_for(place), 2.0, "processes were left behind")
    assert list(place.glob("capsdk-*")) == []
