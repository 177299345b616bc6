"""Counts of spans and decoys, their shares, and how sure those are. Nothing but arithmetic."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bench.redaction.people import words

Z95 = 1.959963984540054
FREE = frozenset(("ADDRESS", "LOCATION", "PERSON"))  # of no fixed shape; all others are structured
# What the peer has a recognizer for, in any of its languages (dates of birth as dates).
PEER_TYPES = frozenset(
    words(
        "CARD CRYPTO DATE_OF_BIRTH DRIVER_LICENSE EMAIL IBAN IP_ADDRESS MAC_ADDRESS NATIONAL_ID PASSPORT PERSON PHONE"
    )
)
MEDIA = frozenset(("background", "canvas", "img", "jpeg", "svg"))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one labelled text. `private`: it must be covered; else it must stay. `share` is of its ink."""

    page: str
    template: str
    part: str
    language: str
    private: bool
    type: str
    text: str
    source: str
    share: float
    good: bool

    @property
    def media(self) -> bool:
        """Is it only pixels?"""
        return self.source in MEDIA


Hit = Callable[[Verdict], bool]


@dataclass(slots=True)
class Count:
    """`hits` of `total`."""

    hits: int = 0
    total: int = 0

    @property
    def rate(self) -> float:
        """The share; not a number of nothing."""
        return self.hits / self.total if self.total else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval."""
        return wilson(self.hits, self.total)

    def text(self) -> str:
        """Share, counts and interval."""
        if not self.total:
            return "-"
        low, high = self.interval
        return f"{self.rate:.3f} ({self.hits}/{self.total}; {low:.3f}–{high:.3f})"


def wilson(hits: int, total: int, z: float = Z95) -> tuple[float, float]:
    """The interval in which the true share lies, 19 times of 20; 0 to 1 of nothing."""
    if total == 0:
        return (0.0, 1.0)
    share = hits / total
    middle = share + z * z / (2 * total)
    spread = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    return (max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale))


def everything(one: Verdict) -> bool:
    """No choice."""
    return True


def recall(verdicts: Iterable[Verdict], hit: Hit = everything) -> Count:
    """Of the private texts that are meant, those that are covered."""
    return count(one for one in verdicts if one.private and hit(one))


def barred(verdicts: Iterable[Verdict], hit: Hit = everything) -> Count:
    """Of the harmless texts that are meant, those that are barred."""
    stayed = count(one for one in verdicts if not one.private and hit(one))
    return Count(stayed.total - stayed.hits, stayed.total)


def count(verdicts: Iterable[Verdict]) -> Count:
    """Distinct texts of pages: one that is shown twice on a page is good when it is both times."""
    good: dict[tuple[str, str, str], bool] = defaultdict(lambda: True)
    for one in verdicts:
        key = (one.page, one.type, one.text)
        good[key] = good[key] and one.good
    return Count(sum(good.values()), len(good))


def types(verdicts: Sequence[Verdict], hit: Hit = everything) -> list[str]:
    """The types that there are, by name."""
    return sorted({one.type for one in verdicts if hit(one)})


def of_type(kind: str) -> Hit:
    """Is it of this type?"""
    return lambda one: one.type == kind


def of_source(source: str) -> Hit:
    """Does it lie there?"""
    return lambda one: one.source == source


def both(first: Hit, second: Hit) -> Hit:
    """Both conditions."""
    return lambda one: first(one) and second(one)


def structured(one: Verdict) -> bool:
    """Is it of a type with a fixed shape, a check digit or a label that gives it away?"""
    return one.type not in FREE


def fair(one: Verdict) -> bool:
    """Is it of a type that the peer looks for, too?"""
    return one.type in PEER_TYPES
