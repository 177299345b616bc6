"""Counts the attempts: which tests stand for which, and what became of each. Knows nothing of browsers."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

ATTEMPTS = 45


def attempt(number: int, what: str, outcome: str = "refused") -> pytest.MarkDecorator:
    """Marks a test of the attempt with this number; `outcome` is the verdict when it passes."""
    return pytest.mark.attempt(number, what, outcome)


@dataclass(slots=True)
class Verdict:
    """One attempt, whose tests all have to pass."""

    what: str
    outcome: str
    tests: set[str] = field(default_factory=set)
    passed: set[str] = field(default_factory=set)
    failed: bool = False

    @property
    def held(self) -> bool:
        """Was everything tried, and did nothing get through?"""
        return bool(self.tests) and self.tests == self.passed and not self.failed

    @property
    def text(self) -> str:
        """In a word."""
        return "FAILED" if self.failed else self.outcome if self.held else "did not run"


class Tally:
    """What became of all of them."""

    def __init__(self) -> None:
        self._verdicts: dict[int, Verdict] = {}

    def expect(self, item: pytest.Item) -> None:
        """A test was found; one of no attempt is none of ours."""
        mark = item.get_closest_marker("attempt")
        if mark is not None:
            number, what, outcome = mark.args
            self._verdicts.setdefault(number, Verdict(what, outcome)).tests.add(item.nodeid)

    def hear(self, item: pytest.Item, report: pytest.TestReport) -> None:
        """A phase of a test is over: a clean-up that fails has failed, too."""
        mark = item.get_closest_marker("attempt")
        if mark is not None:
            verdict = self._verdicts[mark.args[0]]
            verdict.failed |= report.failed
            if report.when == "call" and report.passed:
                verdict.passed.add(item.nodeid)

    @property
    def has_run(self) -> bool:
        """Was there any?"""
        return any(one.passed or one.failed for one in self._verdicts.values())

    def lines(self) -> list[str]:
        """One an attempt, and how many held."""
        nothing = Verdict("no test", "")
        found = [(number, self._verdicts.get(number, nothing)) for number in range(1, ATTEMPTS + 1)]
        told = [f"{number:2}  {one.what:78} {one.text}" for number, one in found]
        return [*told, f"{sum(one.held for _, one in found)} of {ATTEMPTS}"]
