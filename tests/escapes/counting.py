"""Counts the probes: which tests stand for which of them in which setting, and what became of each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from tests.escapes.probes import PROBES
from tests.escapes.settings import CONTROL, SETTINGS

COLUMNS = (*(setting.name for setting in SETTINGS), CONTROL.name)
WIDTH = max(map(len, PROBES.values())) + 2
HELD = {16: "ended", 17: "ended", 28: "passes", 29: "as said", 30: "works"}  # in a word; else it is blocked
KERNEL_LACKS = "not on this kernel"
NO_CONTROL = KERNEL_LACKS if os.geteuid() == 0 else "no control here, not all of it by an ordinary user"
BEYOND = ("a real Docker engine", "Ubuntu 24.04")  # places of probe 30 that have to be gone to
WENT = "run"


def probe(number: int, column: str) -> pytest.MarkDecorator:
    """Marks a test of the probe with this number in one setting, or of its control."""
    return pytest.mark.probe(number, column)


@dataclass(slots=True)
class Cell:
    """One probe in one setting: all its tests that can be run here have to pass."""

    tests: set[str] = field(default_factory=set)
    passed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def held(self) -> bool:
        """Was everything tried that there is here, and did nothing get through?"""
        return bool(self.passed) and not self.failed and self.tests == self.passed | set(self.missing)

    @property
    def has_outcome(self) -> bool:
        """Did all of its tests come to something?"""
        return bool(self.tests) and self.tests == self.passed | self.failed | set(self.missing)

    def word(self, held: str) -> str:
        """What became of it."""
        if self.failed:
            return "FAILED"
        return held if self.held else "not here" if self.missing and self.has_outcome else "did not run"


class Grid:
    """What became of all of them."""

    def __init__(self) -> None:
        self._cells = {(number, column): Cell() for number in PROBES for column in COLUMNS}
        self.beyond: dict[str, str] = dict.fromkeys(BEYOND, "did not run")

    def expect(self, item: pytest.Item) -> None:
        """A test was chosen."""
        for mark in item.iter_markers("probe"):
            self._cells[mark.args].tests.add(item.nodeid)

    def hear(self, item: pytest.Item, report: pytest.TestReport) -> None:
        """A phase of a test is over: a clean-up that fails has failed, too."""
        for mark in item.iter_markers("probe"):
            cell = self._cells[mark.args]
            if report.failed:
                cell.failed.add(item.nodeid)
            elif report.skipped:
                cell.missing[item.nodeid] = reason_of(report)
            elif report.when == "call":
                cell.passed.add(item.nodeid)

    @property
    def has_run(self) -> bool:
        """Was there any?"""
        return any(cell.passed or cell.failed for cell in self._cells.values())

    @property
    def without_outcome(self) -> list[str]:
        """Probes and settings that came to nothing."""
        return [f"{number} {column}" for (number, column), cell in self._cells.items() if not cell.has_outcome]

    def lines(self) -> Iterator[str]:
        """One a probe, what could not be had here, and how many held."""
        yield f"{'':{WIDTH + 4}}" + "".join(f"{column:13}" for column in COLUMNS)
        for number, what in PROBES.items():
            words = [self._cells[number, column].word(HELD.get(number, "blocked")) for column in COLUMNS[:-1]]
            yield f"{number:2}  {what:{WIDTH}}" + "".join(f"{word:13}" for word in (*words, self._control(number)))
        for setting in (CONTROL, *SETTINGS):
            cells = (self._cells[number, setting.name] for number in PROBES)
            reasons = {why for cell in cells for why in cell.missing.values()} - {KERNEL_LACKS}
            name = NO_CONTROL if setting is CONTROL else setting.name
            yield from (f"    {name}: {reason}" for reason in sorted(reasons))
        yield from (f"    30  {place}: {outcome}" for place, outcome in self.beyond.items())
        yield self._sum()

    def _control(self, number: int) -> str:
        cell = self._cells[number, CONTROL.name]
        return cell.word(f"{len(cell.passed)} of {len(cell.tests)}")

    def _sum(self) -> str:
        rows = {number: [self._cells[number, column] for column in COLUMNS] for number in PROBES}
        failed = {number for number, row in rows.items() if any(cell.failed for cell in row)}
        held = {number for number, row in rows.items() if all(cell.held for cell in row)}
        if any(outcome != WENT for outcome in self.beyond.values()):
            held.discard(30)
        counts = {f"held in {len(SETTINGS)} settings beside their controls": held, "FAILED": failed}
        counts["not in all of them, or not everywhere"] = set(rows) - held - failed
        told = ", ".join(f"{len(numbers)} {what}" for what, numbers in counts.items() if numbers)
        return f"{len(rows)} probes: {told} ({sum(len(c.passed) for row in rows.values() for c in row[:-1])} trials)"


def reason_of(report: pytest.TestReport) -> str:
    """Why a test was skipped."""
    return str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr).removeprefix("Skipped: ")
