"""Where in a text a pattern can begin at all, told by three letters and the one before; what matches is its own affair.

A search tries a pattern at every character. Here each pattern says once with which three characters a match of it can
begin, and one look at the text gives the few places where it has to be tried. Short texts are looked at all `together`:
most patterns can begin nowhere in most of them. The finds are those of `finditer`.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from host.redact.heads import CLASSES, OTHER, TABLE, heads_of, is_anchored, previous_of

SHORT_CHARS = 300  # below, trying everywhere takes less than looking first
LONG_CHARS = 100_000  # above, the look would take much memory: it holds thirty bytes for each character
DENSE = 6  # a pattern that can begin at each sixth character is tried everywhere
_FEW = 4  # fewer short texts are not worth a look at all of them
_PATTERNS_A_GROUP = 8  # one bit each
"".encode("utf-32-le")  # loads its codec now: the redactor has no files later


class Near(NamedTuple):
    """What stands in each match of a pattern: `sign` begins at most `reach` characters behind the match's beginning."""

    sign: re.Pattern[str]
    reach: int


class _Group:
    """For up to eight patterns: by three classes of characters, and by the class before, which of them can begin."""

    def __init__(self) -> None:
        self.size = 0
        self.begins = np.zeros(CLASSES**3, dtype=np.uint8)
        self.behind = np.zeros(CLASSES, dtype=np.uint8)
        self.anchored = 0

    def add(self, pattern: re.Pattern[str]) -> int:
        """The bit of a pattern that is new here."""
        bit = 1 << self.size
        cube = self.begins.reshape(CLASSES, CLASSES, CLASSES)
        for first, second, third in heads_of(pattern):
            cube[np.ix_(first, second, third)] |= bit
        self.behind[previous_of(pattern)] |= bit
        self.anchored |= bit * is_anchored(pattern)
        self.size += 1  # last: who looks in between looks again
        return bit


class _Place(NamedTuple):
    """Where a pattern is known: its group, its bit there, and the how manieth it is; it holds on to the pattern."""

    group: int
    bit: int
    serial: int
    pattern: re.Pattern[str]


class _Places:
    """The groups and which pattern is in which; grows as patterns are asked for."""

    def __init__(self) -> None:
        self.groups: list[_Group] = []
        self._of: dict[int, _Place] = {}  # by identity: the hash of a pattern takes long
        self._lock = threading.Lock()

    def count(self) -> int:
        """How many patterns are known."""
        return len(self._of)

    def of(self, pattern: re.Pattern[str]) -> _Place:
        """Where the pattern is; it is read once, when it is first asked for."""
        known = self._of.get(id(pattern))
        if known is None:
            with self._lock:
                known = self._of.get(id(pattern)) or self._added(pattern)
        return known

    def _added(self, pattern: re.Pattern[str]) -> _Place:
        if not self.groups or self.groups[-1].size == _PATTERNS_A_GROUP:
            self.groups.append(_Group())
        bit = self.groups[-1].add(pattern)
        place = _Place(len(self.groups) - 1, bit, len(self._of), pattern)
        self._of[id(pattern)] = place
        return place


_PLACES = _Places()
_TABLE = np.array(TABLE, dtype=np.uint8)


class _Look:
    """One text as classes of characters, three by three."""

    def __init__(self, text: str) -> None:
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        kinds = np.full(len(codes) + 3, OTHER, dtype=np.uint8)  # one before, two behind
        kinds[1:-2] = _TABLE[np.minimum(codes, len(TABLE) - 1)]
        wide = kinds.astype(np.int32)
        self._text = text
        self._before = kinds[:-3]
        self._threes = (wide[1:-2] * CLASSES + wide[2:-1]) * CLASSES + wide[3:]
        self._most = len(text) // DENSE
        self._groups: dict[int, tuple[int, Any]] = {}

    def places(self, pattern: re.Pattern[str], near: Near | None) -> list[int] | None:
        """Where the pattern can begin; None: nearly everywhere."""
        place = _PLACES.of(pattern)
        begins = (self.group(place.group, place.bit) & place.bit) != 0
        begins[0] = True
        found = np.flatnonzero(begins)
        if near is not None and len(found):
            found = found[self._nearby(found, near)]
        return found.tolist() if len(found) <= self._most else None

    def group(self, number: int, bit: int) -> Any:
        """For each place the patterns of a group that can begin there; `bit` is the one that is asked for."""
        size, can = self._groups.get(number, (0, None))
        if can is None or bit >> size:
            group = _PLACES.groups[number]
            size = group.size
            can = group.begins[self._threes] & group.behind[self._before]
            self._groups[number] = size, can
        return can

    def _nearby(self, found: Any, near: Near) -> Any:
        signs = np.array([match.start() for match in finds(near.sign, self._text)], dtype=np.int64)
        if not len(signs):
            return np.zeros(len(found), dtype=bool)
        following = np.searchsorted(signs, found)
        return (following < len(signs)) & (signs[np.minimum(following, len(signs) - 1)] - found <= near.reach)


def _rows(texts: Sequence[str]) -> dict[str, bytes]:
    """For each text the patterns that can begin anywhere in it: a byte for each group."""
    sizes = [size for text in texts for size in (len(text), len(_BETWEEN))]
    edges = np.cumsum([0, *sizes[:-1]])
    look = _Look(_BETWEEN.join((*texts, "")))
    bits = [
        np.bitwise_or.reduceat(look.group(number, 1), edges)[::2] | group.anchored
        for number, group in enumerate(_PLACES.groups)
    ]
    rows = np.array(bits, dtype=np.uint8).reshape(len(bits), len(texts)).T
    return {text: row.tobytes() for text, row in zip(texts, rows, strict=True)}


class _Now(threading.local):
    """What this thread looks at together, and how many patterns were known then."""

    rows: dict[str, bytes] | None = None
    patterns = 0


_BETWEEN = "\uffff" * 3  # no pattern knows it, so none goes on from one text to the next
_NOW = _Now()


@contextmanager
def together(texts: Iterable[str]) -> Iterator[None]:
    """Within it this thread looks at these texts: the short ones are looked at all at once."""
    short = [text for text in dict.fromkeys(texts) if 0 < len(text) < SHORT_CHARS]
    _NOW.patterns = _PLACES.count()
    _NOW.rows = _rows(short) if len(short) >= _FEW else None
    try:
        yield
    finally:
        _NOW.rows = None


def _cannot(pattern: re.Pattern[str], text: str) -> bool:
    """Whether it is known that the pattern can begin nowhere in this short text."""
    row = _NOW.rows.get(text) if _NOW.rows is not None else None
    place = _PLACES.of(pattern)
    return row is not None and place.serial < _NOW.patterns and not row[place.group] & place.bit


@lru_cache(maxsize=4)
def _look(text: str) -> _Look:
    return _Look(text)


def places(pattern: re.Pattern[str], text: str, near: Near | None = None) -> Sequence[int] | None:
    """Where a match of `pattern` can begin, in order; None when the whole of the text has to be tried."""
    if len(text) < SHORT_CHARS:
        return () if _cannot(pattern, text) else None
    return _look(text).places(pattern, near) if len(text) <= LONG_CHARS else None


def finds(pattern: re.Pattern[str], text: str, near: Near | None = None) -> Iterator[re.Match[str]]:
    """As `pattern.finditer(text)`."""
    at = places(pattern, text, near)
    return pattern.finditer(text) if at is None else _tried(pattern, text, at) if at else iter(())


def searched(pattern: re.Pattern[str], text: str, near: Near | None = None) -> Callable[[int], re.Match[str] | None]:
    """As `pattern.search` in this text, from a place on."""
    at = places(pattern, text, near)
    if at is None:
        return lambda start: pattern.search(text, start)
    known = at
    return lambda start: next(_tried(pattern, text, known[bisect_left(known, start) :]), None)


def _tried(pattern: re.Pattern[str], text: str, at: Iterable[int]) -> Iterator[re.Match[str]]:
    match_at = pattern.match
    end = 0
    for place in at:
        if place >= end and (match := match_at(text, place)) is not None:
            yield match
            end = match.end()
