"""Run after run on one host: nothing is left of any, neither memory nor descriptors nor processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GROWTH_KIB = 8 * 1024  # of 140 runs; a leak of the files of one run, 200 KB each, would be 28 MB


@pytest.mark.slow
def test_two_hundred_runs_leave_the_host_as_it_was(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.apps.many_runs", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=True)
    before, after = json.loads(done.stdout)
    assert (after["descriptors"], after["processes"]) == (before["descriptors"], before["processes"])
    assert after["kib"] - before["kib"] < GROWTH_KIB
