"""`./dev test`: all tests but the longest, in two processes side by side; then, alone, those that measure time.

A test that promises a time may miss it for the other process' sake. What failed is run once more with nothing beside
it, and named: what fails then has failed.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from bench.children import end_when_asked
from tests.lanes.plan import SECOND, Lane, is_progress, joined, lanes, verdict

TESTS = Path(__file__).resolve().parents[1]
ENDS_S = 30.0  # what pytest has to close its hosts when it is interrupted
EXIT_FAILED, EXIT_INTERRUPTED = 1, 130
AGAIN = 20  # more than that is no matter of time


class Running:
    """The pytest of one lane. Its rows of dots are shown as they come, all the rest in one piece at its end."""

    _shown = threading.Lock()

    def __init__(self, lane: Lane, more: Sequence[str]) -> None:
        self.lane = lane
        self.took_s = 0.0
        self._began = time.monotonic()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *lane.words(TESTS.name), *more],
            cwd=TESTS.parent,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,  # Ctrl-C is ours to pass on, once: a second one would cut its tidying up short
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        kept = []
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if is_progress(line):
                self._show(f"{self.lane.name:8}{line}")
            else:
                kept.append(line)
        self._process.wait()
        self.took_s = time.monotonic() - self._began
        self._show(f"-- {self.lane.name}, after {self.took_s:.0f} s\n{''.join(kept)}")

    def _show(self, text: str) -> None:
        with self._shown:
            print(text, end="", flush=True)

    def wait(self) -> int:
        """Its exit code, when all that it said was shown."""
        self._reader.join()
        return self._process.wait()

    def end(self) -> None:
        """Interrupt it if it still runs, so that it closes what it has opened."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(ENDS_S)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
        self._reader.join(ENDS_S)


def run(group: Sequence[Lane], more: Sequence[str], reports: Path) -> dict[str, tuple[int, float]]:
    """The lanes of a group side by side: exit code and seconds of each; a report of each in the folder `reports`."""
    with ExitStack() as ends:
        started = []
        for lane in group:
            kept = ["-o", f"cache_dir={cache_of(lane, reports)}", f"--junitxml={reports / lane.name}.xml"]
            started.append(Running(lane, [*more, *kept]))
            ends.callback(started[-1].end)
        return {running.lane.name: (running.wait(), running.took_s) for running in started}


def cache_of(lane: Lane, reports: Path) -> Path:
    """Where pytest writes down what failed; a second run of a lane finds it there."""
    return reports / f"{lane.name.removesuffix(SECOND)}-cache"


def failed_of(lane: Lane, reports: Path) -> list[str]:
    """The names of the tests of a lane that failed."""
    try:
        found = json.loads((cache_of(lane, reports) / "v/cache/lastfailed").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return sorted(found)


def run_again(lane: Lane, more: Sequence[str], reports: Path) -> dict[str, tuple[int, float]]:
    """The failed tests of a lane, with nothing beside them; nothing when none are known, or too many."""
    failed = failed_of(lane, reports)
    if not 0 < len(failed) <= AGAIN:
        return {}
    print("-- run again, alone:\n" + "".join(f"   {name}\n" for name in failed), end="", flush=True)
    second = replace(lane, name=f"{lane.name}{SECOND}")
    return run([second], [*more, "--last-failed", "--last-failed-no-failures=none"], reports)


def groups_here() -> list[tuple[Lane, ...]]:
    """What runs side by side, in order; one after the other on a machine with a single core."""
    present = (path for path in TESTS.iterdir() if path.is_dir() or path.match("test_*.py"))
    beside, alone = lanes(path.name for path in present if not path.name.startswith("_"))
    return [beside, (alone,)] if len(os.sched_getaffinity(0)) > 1 else [(lane,) for lane in (*beside, alone)]


def main(arguments: Sequence[str]) -> int:
    """Exit code 0 when every lane passed. What is not known here goes to pytest."""
    parser = argparse.ArgumentParser(prog="./dev test", description=__doc__)
    parser.add_argument("--junitxml", type=Path, help="where to write one report of all lanes")
    wanted, more = parser.parse_known_args(arguments)
    done: dict[str, tuple[int, float]] = {}
    with tempfile.TemporaryDirectory(prefix="capsdk-lanes-") as folder:
        groups = groups_here()
        for group in groups:
            done |= run(group, more, Path(folder))
        for lane in (lane for group in groups for lane in group if done[lane.name][0] == EXIT_FAILED):
            second = run_again(lane, more, Path(folder))
            done |= second
            if second and not any(code for code, _ in second.values()):
                done[lane.name] = (0, done[lane.name][1])
        if wanted.junitxml is not None:
            reports = [path.read_text(encoding="utf-8") for path in sorted(Path(folder).glob("*.xml"))]
            wanted.junitxml.write_text(joined(reports), encoding="utf-8")
    print(verdict(done), flush=True)
    return EXIT_FAILED if any(code for code, _ in done.values()) else 0


if __name__ == "__main__":
    end_when_asked()
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
