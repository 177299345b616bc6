"""What is promised of redaction, and whether a run keeps it. The templates that nobody has worked on decide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from bench.redaction.run import Outcome
from bench.redaction.score import Count, Hit, Verdict, barred, both, everything, fair, recall, structured
from bench.redaction.times import Samples

TEXT = "text of the page, recall"
STRUCTURED = "text of the page, structured types, recall"
PICTURES = "text in pictures, recall"
BARRED = "harmless texts barred"
ADDED_TEXT = "added time, nothing but text, median"
ADDED_PICTURES = "added time, new pictures in it, median"
ADDED_NOTHING = "added time, nothing changed, median"
MASKING = "text masked for a chat, slowest size"
PEER_TIME = "added time, to the peer's, all pages"
MEMORY = "memory of the redactor, at most"

Figure = Count | float | None


@dataclass(frozen=True, slots=True)
class Target:
    """One promise: `value` is a share with its counts, or a number in `unit`; None when it was not measured."""

    name: str
    at_least: bool
    bound: float
    value: Figure
    unit: str = ""

    @property
    def number(self) -> float | None:
        """What is compared with the bound."""
        value = self.value.rate if isinstance(self.value, Count) else self.value
        return None if value is None or math.isnan(value) else value

    @property
    def word(self) -> str:
        """`met`, `missed`, or `not measured`."""
        if self.number is None:
            return "not measured"
        return "met" if (self.number >= self.bound if self.at_least else self.number <= self.bound) else "missed"

    @property
    def bound_text(self) -> str:
        """The bound as people write it."""
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}{self.unit}"

    @property
    def value_text(self) -> str:
        """What was measured."""
        if isinstance(self.value, Count):
            return self.value.text()
        return "-" if self.number is None else f"{self.number:.3g}{self.unit}"

    @property
    def short_by(self) -> str:
        """By how much it is missed."""
        if self.word != "missed" or self.number is None:
            return ""
        return f"{abs(self.number - self.bound):.3g}{self.unit}"


def targets(outcome: Outcome, samples: Samples | None, part: str = "held") -> list[Target]:
    """All promises, judged on a part of the templates."""
    mine, theirs = of_part(outcome.product, part), of_part(outcome.peer, part)
    return [
        Target(TEXT, True, 0.99, recall(mine, in_text)),
        Target(STRUCTURED, True, 0.995, recall(mine, both(in_text, structured))),
        Target(PICTURES, True, 0.95, recall(mine, in_pictures)),
        Target(BARRED, False, 0.03, barred(mine)),
        *time_targets(samples),
        Target(MEMORY, False, 450, outcome.redactor_mb or None, " MB"),
        *peer_targets(mine, theirs, outcome),
    ]


def time_targets(samples: Samples | None) -> list[Target]:
    """Times."""

    def added(kind: str) -> float | None:
        return samples.added(kind) if samples else None

    speeds = list(samples.text_kb_per_s.values()) if samples else []
    return [
        Target(ADDED_TEXT, False, 80, added("without media"), " ms"),
        Target(ADDED_PICTURES, False, 400, added("new media"), " ms"),
        Target(ADDED_NOTHING, False, 10, added("unchanged"), " ms"),
        Target(MASKING, True, 100, min(speeds, default=None), " KB/s"),
    ]


def peer_targets(mine: Sequence[Verdict], theirs: Sequence[Verdict], outcome: Outcome) -> list[Target]:
    """Against the peer in the same run."""

    def ahead(hit: Hit) -> float | None:
        ours, other = recall(mine, hit), recall(theirs, hit)
        return ours.rate - other.rate if ours.total and other.total else None

    ours, other = barred(mine), barred(theirs)
    share = ours.rate / other.rate if other.hits and ours.total else None
    time = median(outcome.added_ms) / median(outcome.peer_ms) if outcome.peer_ms and outcome.added_ms else None
    return [
        Target("recall beyond the peer's, all types", True, 0.2, ahead(everything)),
        Target("recall beyond the peer's, its own types", True, 0.2, ahead(fair)),
        Target("harmless texts barred, to the peer's", False, 0.1, share, " ×"),
        Target(PEER_TIME, False, 0.2, time, " ×"),
    ]


def in_text(one: Verdict) -> bool:
    """Text that the page's DOM holds."""
    return not one.media


def in_pictures(one: Verdict) -> bool:
    """Text that is only pixels."""
    return one.media


def of_part(verdicts: Sequence[Verdict], part: str) -> list[Verdict]:
    """Those of a half, or of both with `all`."""
    return [one for one in verdicts if part in ("all", one.part)]
