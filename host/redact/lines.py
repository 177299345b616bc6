"""Where writing stands in a picture: pieces of ink in a row become lines, at any slope up to 30 degrees, or upright."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from host.redact.ink import Pieces

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SMALLEST_PX: Final = 4  # lower pieces are dots, accents and rules: they join a line, they do not make one
TALLEST_PX: Final = 160
WIDEST: Final = 14.0  # times its height: a word whose letters touch
GAP: Final = 1.7  # times the height: two words farther apart are two texts
UNEVEN: Final = 2.7  # the tallest letter of a font to its lowest
FRAMED: Final = 3  # so many pieces inside of one are the letters of a button, a plate or a field
MOST_FRAMED: Final = 8  # times their height: what is higher is a frame around more than a line
MAX_SLOPE: Final = 0.6
MOST_PAIRS: Final = 4_000_000


@dataclass(frozen=True, slots=True)
class Line:
    """One line of writing, in pixels of its region.

    `x`, `y` is the corner where its first letter's top left is, (`along_x`, `along_y`) the direction of reading,
    `length` and `height` its extent along and across. `glyph` is the height of a capital. `even` (0 to 1) tells
    how much its pieces are alike, `gap` how far they stand apart in capitals, `pieces` how many there are.
    """

    x: float
    y: float
    along_x: float
    along_y: float
    length: float
    height: float
    glyph: float
    even: float
    gap: float
    pieces: int

    def point(self, along: float, across: float) -> tuple[float, float]:
        """The place in the region of a place in the line."""
        return (
            self.x + along * self.along_x - across * self.along_y,
            self.y + along * self.along_y + across * self.along_x,
        )

    def turned(self) -> Line:
        """The same line read from its other end, upside down."""
        x, y = self.point(self.length, self.height)
        return Line(
            x, y, -self.along_x, -self.along_y, self.length, self.height, self.glyph, self.even, self.gap, self.pieces
        )

    @property
    def upright(self) -> bool:
        """Whether it runs up or down rather than across."""
        return abs(self.along_y) > abs(self.along_x)


def lines_of(pieces: Pieces) -> list[Line]:
    """The lines that some pieces of ink make, from the top down."""
    across = _chains(pieces)
    swapped = Pieces(pieces.top, pieces.left, pieces.bottom, pieces.right, pieces.area)
    down = _chains(swapped)
    upright = _upright(pieces, across, down)
    taken = {index for chain in upright for index in chain}
    small = _Small.of(pieces)
    found = [_line(pieces, [index for index in chain if index not in taken], small) for chain in across]
    swapped_small = _Small.of(swapped) if upright else small
    for chain in upright:
        line = _line(swapped, chain, swapped_small)
        if line is not None:
            found += _unswapped(line)
    return sorted((line for line in found if line is not None), key=lambda line: (line.y, line.x))


def _eligible(pieces: Pieces) -> Ints:
    heights, widths = pieces.bottom - pieces.top, pieces.right - pieces.left
    fill = pieces.area / np.maximum(heights * widths, 1)
    letters = (heights >= SMALLEST_PX) & (heights <= TALLEST_PX) & (widths <= WIDEST * heights)
    joined = (heights >= SMALLEST_PX + 2) & (heights <= TALLEST_PX) & (fill > 0.1)  # underlined, or handwriting
    kept: Ints = np.nonzero((letters | joined) & ((fill < 0.93) | (widths <= 0.6 * heights)) & (fill > 0.06))[0]
    kept = kept[np.argsort(pieces.left[kept], kind="stable")]
    return kept[~_inside(*(side[kept] for side in pieces[:4]))]


def _inside(left: Ints, top: Ints, right: Ints, bottom: Ints) -> NDArray[np.bool_]:
    """Which pieces, sorted by `left`, are parts of a letter around them, as in an at sign, or frames of several."""
    found = np.zeros(len(left), dtype=bool)
    one, other = _pairs(left, right)
    high, wide = bottom - top, right - left
    within = (right[other] <= right[one] + 1) & (top[other] >= top[one] - 1) & (bottom[other] <= bottom[one] + 1)
    within &= wide[other] < wide[one]
    one, other = one[within], other[within]
    frames = np.bincount(one[high[one] <= MOST_FRAMED * high[other]], minlength=len(left)) >= FRAMED
    parts = (high[one] <= 3 * high[other]) & (wide[one] <= 4 * high[one]) & ~frames[one]
    found[other[parts]] = True
    return found | frames


def _pairs(left: NDArray[Any], reach: NDArray[Any]) -> tuple[Ints, Ints]:
    """Each thing with all that begin after it and before its `reach`; sorted by `left`."""
    count = len(left)
    firsts = np.arange(count) + 1
    numbers = np.maximum(np.searchsorted(left, reach, side="right") - firsts, 0)
    if numbers.sum() > MOST_PAIRS:  # noise: the nearest ones will do
        numbers = np.minimum(numbers, MOST_PAIRS // count)
    one = np.repeat(np.arange(count), numbers)
    other = np.arange(len(one)) - np.repeat(np.cumsum(numbers) - numbers, numbers) + np.repeat(firsts, numbers)
    return one, other


class _Small(NamedTuple):
    """The middles and sizes of pieces, sorted from the top."""

    xs: Floats
    ys: Floats
    heights: Floats
    widths: Floats

    @classmethod
    def of(cls, pieces: Pieces) -> _Small:
        """All pieces that are lower than a large letter."""
        ys = (pieces.top + pieces.bottom) / 2
        order = np.argsort(ys, kind="stable")
        heights, widths = pieces.bottom - pieces.top, pieces.right - pieces.left
        order = order[heights[order] <= TALLEST_PX / 2]
        xs = (pieces.left + pieces.right) / 2
        return cls(xs[order], ys[order], heights[order].astype(np.float64), widths[order].astype(np.float64))


class _Ends(NamedTuple):
    """Things in a row: where each begins and ends, and how high it stands at either end."""

    left: Floats
    right: Floats
    left_top: Floats
    left_bottom: Floats
    right_top: Floats
    right_bottom: Floats


def _chains(pieces: Pieces) -> list[list[int]]:
    """Indexes of pieces that follow each other in a row, each chain in its order; single ones, too."""
    chains = [[index] for index in _eligible(pieces).tolist()]
    for _ in range(3):  # first letters, then what is left apart: two letters may have the same nearest neighbour
        follow = _followers(_ends_of(pieces, chains)) if chains else {}
        if not follow:
            break
        chains = _followed(chains, follow)
    return chains


def _ends_of(pieces: Pieces, chains: list[list[int]]) -> _Ends:
    starts, finishes = [chain[:3] for chain in chains], [chain[-3:] for chain in chains]
    left, top, right, bottom = (side.tolist() for side in pieces[:4])
    return _Ends(
        np.array([left[chain[0]] for chain in chains], dtype=np.float64),
        np.array([max(right[index] for index in end) for end in finishes], dtype=np.float64),
        np.array([min(top[index] for index in start) for start in starts], dtype=np.float64),
        np.array([max(bottom[index] for index in start) for start in starts], dtype=np.float64),
        np.array([min(top[index] for index in end) for end in finishes], dtype=np.float64),
        np.array([max(bottom[index] for index in end) for end in finishes], dtype=np.float64),
    )


def _followed(chains: list[list[int]], follow: dict[int, int]) -> list[list[int]]:
    """Each chain with those that follow it, from the left."""
    preceded = set(follow.values())
    joined = []
    for start in range(len(chains)):
        if start in preceded:
            continue
        chain, at = list(chains[start]), start
        while at in follow:
            at = follow[at]
            chain += chains[at]
        joined.append(chain)
    return joined


def _followers(ends: _Ends) -> dict[int, int]:
    """For each thing the one that follows it in its row, where both are each other's nearest; sorted by `left`."""
    tall = ends.right_bottom - ends.right_top
    reach = ends.right + GAP * np.minimum(tall * UNEVEN, TALLEST_PX)
    one, other = _pairs(ends.left, reach)
    high, next_high = tall[one], (ends.left_bottom - ends.left_top)[other]
    lower, higher = np.minimum(high, next_high), np.maximum(high, next_high)
    top, bottom = ends.right_top[one], ends.right_bottom[one]
    next_top, next_bottom = ends.left_top[other], ends.left_bottom[other]
    gap = ends.left[other] - ends.right[one]
    shared = np.minimum(bottom, next_bottom) - np.maximum(top, next_top)
    fits = (gap <= GAP * higher) & (gap >= -1.2 * higher) & (shared >= 0.35 * lower) & (higher <= UNEVEN * lower)
    fits &= ends.left[other] > ends.left[one]
    uneven = np.minimum(np.abs(top - next_top), np.abs(bottom - next_bottom))
    one, other, cost = one[fits], other[fits], (np.maximum(gap, 0.0) + 1.5 * uneven)[fits]
    best_right = _best(one, other, cost)
    best_left = _best(other, one, cost)
    return {start: end for start, end in best_right.items() if best_left.get(end) == start}


def _best(keys: Ints, values: Ints, cost: Floats) -> dict[int, int]:
    order = np.lexsort((cost, keys))
    keys, values = keys[order], values[order]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = keys[1:] != keys[:-1]
    return dict(zip(keys[first].tolist(), values[first].tolist(), strict=True))


def _upright(pieces: Pieces, across: list[list[int]], down: list[list[int]]) -> list[list[int]]:
    """The chains that run down: their pieces stand closer to each other than to those beside them."""
    beside = _gaps(across, pieces.left, pieces.right)
    above = _gaps(down, pieces.top, pieces.bottom)
    long_row = {index: len(chain) for chain in across for index in chain}
    found = []
    for chain in down:
        votes = sum(above.get(index, math.inf) * 1.5 < beside.get(index, math.inf) for index in chain)
        rows = sorted(long_row.get(index, 1) for index in chain)
        if len(chain) >= 5 and votes >= 0.7 * len(chain) and rows[len(rows) // 2] < len(chain):
            found.append(chain)
    return found


def _gaps(chains: list[list[int]], starts: Ints, ends: Ints) -> dict[int, float]:
    """The distance of each piece to its nearer neighbour in its chain."""
    gaps: dict[int, float] = {}
    for chain in chains:
        for one, other in pairwise(chain):
            gap = max(0.0, float(starts[other] - ends[one]))
            for index in (one, other):
                gaps[index] = min(gap, gaps.get(index, math.inf))
    return gaps


def _line(pieces: Pieces, chain: list[int], small: _Small) -> Line | None:
    """The line of a chain; None when it is no writing."""
    if not chain:
        return None
    left, top, right, bottom = (side[chain].astype(np.float64) for side in pieces[:4])
    heights = bottom - top
    if len(chain) == 1 and not 1.2 * heights[0] <= right[0] - left[0]:
        return None
    slope = _slope((left + right) / 2, (top + bottom) / 2, heights)
    along_x, along_y = 1 / math.hypot(1, slope), slope / math.hypot(1, slope)
    usual = float(np.median(heights))
    normal = heights <= 2.2 * usual
    xs, ys = (left[normal] + right[normal]) / 2, (top[normal] + bottom[normal]) / 2
    halves_along = (right[normal] - left[normal]) / 2
    middles = ys * along_x - xs * along_y
    starts = xs * along_x + ys * along_y - halves_along
    ends = xs * along_x + ys * along_y + halves_along
    upper = float((middles - heights[normal] / 2).min())
    lower = float((middles + heights[normal] / 2).max())
    start, end = float(starts.min()), float(ends.max())
    upper, lower, start, end = _with_small(small, (along_x, along_y), (upper, lower, start, end), usual)
    even = float(np.mean((heights > 0.55 * usual) & (heights < 1.8 * usual)))
    glyph = float(np.percentile(heights, 75))
    gap = float(np.median(left[1:] - right[:-1])) / max(1.0, glyph) if len(chain) > 1 else 0.0
    return Line(
        start * along_x - upper * along_y,
        start * along_y + upper * along_x,
        along_x,
        along_y,
        end - start,
        lower - upper,
        glyph,
        even,
        gap,
        len(chain),
    )


def _slope(xs: Floats, ys: Floats, heights: Floats) -> float:
    """Height per width of a row of centres; 0 where it is no more than the unevenness of letters."""
    usual = float(np.median(heights))
    span = float(xs.max() - xs.min())
    if len(xs) < 5 or span < 4 * usual:
        return 0.0
    slope, start = np.polyfit(xs, ys, 1)
    near = np.abs(ys - slope * xs - start) <= 0.35 * usual
    if near.sum() >= 5:
        slope, start = np.polyfit(xs[near], ys[near], 1)
    if abs(slope) * span < 0.5 * usual or abs(slope) > MAX_SLOPE:
        return 0.0
    return float(slope)


def _with_small(
    small: _Small, along: tuple[float, float], extent: tuple[float, float, float, float], usual: float
) -> tuple[float, float, float, float]:
    """The extent with the dots, accents, commas and hyphens that belong to a line."""
    upper, lower, start, end = extent
    ys_at = [(at * along[1] + middle * along[0]) for at in (start, end) for middle in (upper, lower)]
    first, last = np.searchsorted(small.ys, (min(ys_at) - usual, max(ys_at) + usual))
    xs, ys = small.xs[first:last], small.ys[first:last]
    heights, widths = small.heights[first:last], small.widths[first:last]
    at, middle = xs * along[0] + ys * along[1], ys * along[0] - xs * along[1]
    joins = (heights <= 0.8 * usual) & (widths <= 1.5 * usual)
    joins &= (at > start - 0.8 * usual) & (at < end + 0.8 * usual)
    joins &= (middle > upper - 0.4 * usual) & (middle < lower + 0.25 * usual)
    if joins.any():
        upper = min(upper, float((middle - heights / 2)[joins].min()))
        lower = max(lower, float((middle + heights / 2)[joins].max()))
        start = min(start, float((at - widths / 2)[joins].min()))
        end = max(end, float((at + widths / 2)[joins].max()))
    return upper, lower, start, end


def _unswapped(line: Line) -> list[Line]:
    """An upright line, found with the axes swapped: read upwards, and read downwards."""
    # (x, y) there is (y, x) here, which mirrors: its corner is here the top left of a box that runs down.
    x, y = line.y, line.x
    dx, dy = line.along_y, line.along_x
    upwards = Line(
        x + dx * line.length,
        y + dy * line.length,
        -dx,
        -dy,
        line.length,
        line.height,
        line.glyph,
        line.even,
        line.gap,
        line.pieces,
    )
    return [upwards, upwards.turned()]
