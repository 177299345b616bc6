"""The lines that `./dev test pythons` prints. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.pythons.trying import Counts


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one version fared: not run for a `reason`, or run, and then `trouble` is what was said if it went wrong."""

    wanted: str
    version: str = ""
    counts: Counts = field(default_factory=Counts)
    receipts: str = ""
    reason: str = ""
    trouble: str = ""
    duration_s: float = 0.0

    @property
    def bad(self) -> bool:
        """Was something run, or meant to be, that did not pass?"""
        return not self.reason and bool(self.trouble or self.counts.failed or not self.counts.passed)


def line(outcome: Outcome) -> str:
    """One version."""
    if outcome.reason:
        return f"{outcome.wanted}  not run: {outcome.reason}"
    counts = outcome.counts
    words = [f"{counts.passed} passed", f"{counts.skipped} skipped"]
    if counts.failed:
        words.insert(0, f"{len(counts.failed)} FAILED")
    words.append(outcome.receipts or "receipts: FAILED")
    return f"{outcome.wanted}  {', '.join(words)}  ({outcome.version}, {outcome.duration_s:.0f} s)"


def summary(outcomes: Sequence[Outcome]) -> str:
    """All of them."""
    run = [outcome for outcome in outcomes if not outcome.reason]
    bad = [outcome.wanted for outcome in run if outcome.bad]
    missing = [outcome.wanted for outcome in outcomes if outcome.reason]
    words = [f"{len(run)} of {len(outcomes)} versions run"]
    words.append(f"failed: {', '.join(bad)}" if bad else "all passed" if run else "nothing to pass")
    if missing:
        words.append(f"not run: {', '.join(missing)}")
    return "; ".join(words)
