"""Which tests run side by side, and which alone. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

MARKS = "not long"
SECOND = " again"  # of the name of a lane whose failed tests are run once more

# What measures the time of this machine itself, a file a line. It runs when nothing else does.
ALONE = (
    "dispatch/test_refusal_cost.py",  # the cost of a call in microseconds
    "live/test_floods.py",  # how much slower a flood makes another run
    "live/test_hostile_neighbour.py",  # how much slower a neighbour becomes
    "live/test_pace.py",  # how much slower a flooding page becomes
    "live/test_run_limits.py",  # how much slower a flooded tab makes another run
    "test_bench_ratchet.py",  # has a call become slower?
)

# What keeps a Chromium busy, and promises times of seconds that a person would notice. All the rest is the other lane.
BROWSER = ("attacks", "cases", "live", "onehost", "scripts")


@dataclass(frozen=True, slots=True)
class Lane:
    """One run of pytest: `places` below the folder of tests, without `left_out`."""

    name: str
    places: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    def words(self, folder: str) -> list[str]:
        """What pytest is asked for."""
        left_out = [f"--ignore={folder}/{place}" for place in self.left_out]
        return ["-m", MARKS, *left_out, *(f"{folder}/{place}" for place in self.places)]


def lanes(present: Iterable[str]) -> tuple[tuple[Lane, Lane], Lane]:
    """The two lanes that run side by side, and the one after them, of what is `present` in the folder of tests.

    `present` are names of folders and files; a new one joins the lane of the rest by existing.
    """
    rest = tuple(sorted(name for name in present if name not in BROWSER and name not in ALONE))
    return (Lane("browser", BROWSER, ALONE), Lane("rest", rest, ALONE)), Lane("alone", ALONE)


def verdict(done: Mapping[str, tuple[int, float]]) -> str:
    """The last line, of each lane's exit code and seconds: how long each took, and which did not pass."""
    times = ", ".join(f"{name} {took_s:.0f} s" for name, (_, took_s) in done.items())
    bad = [f"{name} ({code})" for name, (code, _) in done.items() if code]
    return f"lanes: {times}; {'failed: ' + ', '.join(bad) if bad else 'all passed'}"


def is_progress(line: str) -> bool:
    """Is this one of pytest's rows of dots, which may be shown between those of another lane?"""
    dots, space, percent = line.rstrip().rpartition(" [")
    return bool(space) and percent.endswith("%]") and not dots.strip(".FEsxX ")


def joined(reports: Sequence[str]) -> str:
    """One JUnit report of several."""
    suites = [report[report.index("<testsuite ") : report.rindex("</testsuites>")] for report in reports]
    return f'<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests">{"".join(suites)}</testsuites>'
