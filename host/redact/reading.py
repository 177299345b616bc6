"""Reads the writing in regions of a picture; a place that holds writing which nothing can read is named as such."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from host.redact.bars import Rect
from host.redact.failure import time_left
from host.redact.ink import Mask, inks_of, mask_of, pieces_of
from host.redact.lines import Line, lines_of
from host.redact.memory import Memory, key_of
from host.redact.reader import Reader, Word, read_checked
from host.redact.strips import BORDER_PX, Strip, strip_of
from host.redact.wording import Placed, Spot, Written

DOUBTFUL_WORTH: Final = 0.5  # how sure the OCR has to be of what is hardly writing
MOST_DOUBTFUL: Final = 24  # lines of a region that are hardly writing: of a photo the best of them are read
SURE: Final = 0.7  # below it a line of clear writing is tried in other ways
READABLE: Final = 0.35  # below it even after that, nobody can say what it is
LEAST_NEWS_CSS_PX: Final = 60  # pixels that another view of a region has to change, or it shows nothing else
TALLEST_DETAIL_CSS_PX: Final = 36.0
GUESS: Final = 0.2  # a word of clear writing that the OCR is less sure of may be anything
GUESS_TELLING: Final = 0.4  # … and one with digits or an at sign
RETRY_GLYPHS_PX: Final = (15.0, 31.0)  # now this size, now that one is read where 20 pixels are not
# What is good and what is bad. Measured on 1,048 lines of text, also blurred, noisy and tilted, and on 2,114 rows of
# pieces in photographs: up to the first are nearly all lines of text, from the second on nearly all of the others.
SOFT: Final = (1.3, 2.1)  # pixels that are half ink, to those that are ink
TALL: Final = (1.85, 2.4)  # the line's height in capitals
EVEN: Final = (0.85, 0.65)  # the share of pieces of about one height
GAPS: Final = (0.5, 1.2)  # the usual gap in capitals
CLEAR: Final = 0.75  # of 1: from here on it is writing, whatever the OCR says


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a picture: its pixels, and the bars in it, in its own pixels."""

    picture: Image.Image
    bars: tuple[Rect, ...]
    scale: float


@dataclass(slots=True)
class Reading:
    """What stands in a region; what a second way to read some of it gave; and where it could not be read."""

    written: list[Written] = field(default_factory=list)
    otherwise: list[Written] = field(default_factory=list)
    unread: list[Spot] = field(default_factory=list)


@dataclass(slots=True)
class _Candidate:
    strip: Strip
    clear: bool
    group: int
    words: list[Word] = field(default_factory=list)
    tries: list[_Candidate] = field(default_factory=list)

    @property
    def written(self) -> Written:
        """The words at their places in the line."""
        along = self.strip.along
        placed = (Placed(word.text, along(word.start), along(word.end), word.confidence) for word in self.words)
        return Written(self.strip.line, tuple(placed))

    @property
    def sureness(self) -> float:
        """How sure the engine is of the whole line, 0 to 1."""
        letters = sum(len(word.text) for word in self.words)
        return sum(len(word.text) * max(0.0, word.confidence) for word in self.words) / letters if letters else 0.0

    @property
    def worth(self) -> float:
        """What decides between two ways to read a line: sure and much."""
        return self.sureness * min(1.0, sum(len(word.text) for word in self.words) / max(1, self.strip.line.pieces))


class Readings:
    """Reads regions, remembering lines and whole regions by their pixels. Safe to use from several threads."""

    def __init__(self) -> None:
        self._regions: Memory[Reading] = Memory(200)
        self._strips: Memory[list[Word]] = Memory()

    def read(self, regions: Sequence[Region], reader: Callable[[], Reader], deadline: float) -> list[Reading]:
        """What stands in each region; the engine is asked for only when something has not been seen before."""
        keys = [key_of(region.picture.tobytes(), region.picture.size, region.bars, region.scale) for region in regions]
        readings = [self._regions.get(key) for key in keys]
        new = [index for index, reading in enumerate(readings) if reading is None]
        candidates = {index: _candidates(regions[index]) for index in new}
        time_left(deadline, "ocr")
        self._read_candidates([one for found in candidates.values() for one in found], reader, deadline)
        self._retry([one for found in candidates.values() for one in found], reader, deadline)
        for index in new:
            readings[index] = _reading(regions[index], candidates[index])
            self._regions.put(keys[index], readings[index] or Reading())
        return [reading or Reading() for reading in readings]

    def _read_candidates(self, candidates: list[_Candidate], reader: Callable[[], Reader], deadline: float) -> None:
        if candidates:
            strips = [one.strip.image for one in candidates]
            for one, words in zip(candidates, self._words(strips, reader, deadline), strict=True):
                one.words = words

    def _words(self, strips: list[Image.Image], reader: Callable[[], Reader], deadline: float) -> list[list[Word]]:
        engine = reader()
        keys = [key_of(strip.tobytes(), strip.size, engine.name) for strip in strips]
        known = {key: words for key in keys if (words := self._strips.get(key)) is not None}
        new = {key: strip for key, strip in zip(keys, strips, strict=True) if key not in known}
        if new:
            for key, words in zip(new, read_checked(engine, list(new.values()), deadline), strict=True):
                known[key] = words
                self._strips.put(key, words)
        return [known[key] for key in keys]

    def _retry(self, candidates: list[_Candidate], reader: Callable[[], Reader], deadline: float) -> None:
        """Clear writing that gave nothing sure is tried at other sizes; where it gave nothing at all, upside down."""
        poor = [one for one in _best(candidates) if one.clear and one.sureness < SURE]
        for one in poor:
            again = [one.strip.again(glyph_px) for glyph_px in RETRY_GLYPHS_PX]
            if one.sureness < READABLE:
                again.append(one.strip.turned())
            one.tries = [_Candidate(strip, True, one.group) for strip in again]
        self._read_candidates([again for one in poor for again in one.tries], reader, deadline)
        for one in poor:
            best = max(one.tries, key=lambda again: again.worth)
            if best.worth > one.worth:
                best.words, one.words = one.words, best.words
                best.strip, one.strip = one.strip, best.strip


def _best(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Of each line the way to read it that gave most."""
    best: dict[int, _Candidate] = {}
    for one in candidates:
        if one.group not in best or one.worth > best[one.group].worth:
            best[one.group] = one
    return list(best.values())


def _candidates(region: Region) -> list[_Candidate]:
    """The lines of a region that are worth reading, of each upright one both ways."""
    found: list[list[tuple[float, Strip]]] = []
    masks: list[Mask] = []
    for view in inks_of(region.picture, region.scale):
        ink = view.copy()
        for bar in region.bars:
            ink[max(0, bar.top - 1) : bar.bottom + 1, max(0, bar.left - 1) : bar.right + 1] = 0
        mask = mask_of(ink)
        if masks and np.count_nonzero(mask ^ masks[0]) < LEAST_NEWS_CSS_PX * region.scale**2:
            continue
        masks.append(mask)
        image = Image.fromarray(ink)
        strips = [strip_of(image, line) for line in lines_of(pieces_of(mask)) if _possible(line)]
        found.append([(likeness, strip) for strip in strips if (likeness := _likeness(strip)) > 0])
    usual, *others = found
    for other in others:
        usual = _better(usual, other)
    clear: list[_Candidate] = []
    doubtful: list[tuple[float, _Candidate]] = []
    group, previous = 0, None
    for likeness, strip in usual:
        group += not (previous is not None and strip.line.upright and _same_place(previous, strip.line))
        previous = strip.line
        if likeness >= CLEAR / 1.5:
            clear.append(_Candidate(strip, likeness >= CLEAR, group))
        else:
            doubtful.append((likeness, _Candidate(strip, False, group)))
    doubtful.sort(key=lambda pair: -pair[0])
    return clear + [one for _, one in doubtful[:MOST_DOUBTFUL]]


def _better(one: list[tuple[float, Strip]], other: list[tuple[float, Strip]]) -> list[tuple[float, Strip]]:
    """Of two views of the same place the lines that are more like writing, and all that only one of them shows."""
    boxes, others = _boxes(one), _boxes(other)
    overlap = _shared(boxes, others)
    worth = np.array([_weight(likeness, strip) for likeness, strip in one])
    other_worth = np.array([_weight(likeness, strip) for likeness, strip in other])
    # A line gives way where those of the other view that lie over it are together worth more.
    against = overlap @ other_worth if len(other) else np.zeros(len(one))
    kept = against <= worth * 1.1
    wins = ~np.any(overlap[kept] > 0, axis=0) if kept.any() else np.ones(len(other), dtype=bool)
    return [pair for pair, keep in zip(one, kept, strict=True) if keep] + [
        pair for pair, win in zip(other, wins, strict=True) if win
    ]


def _weight(likeness: float, strip: Strip) -> float:
    return likeness * min(strip.line.pieces, strip.line.length / max(1.0, 0.3 * strip.line.glyph))


def _boxes(found: list[tuple[float, Strip]]) -> NDArray[np.float64]:
    boxes = []
    for _, strip in found:
        line = strip.line
        corners = [line.point(along, across) for along in (0.0, line.length) for across in (0.0, line.height)]
        xs, ys = [corner[0] for corner in corners], [corner[1] for corner in corners]
        boxes.append((min(xs), min(ys), max(xs), max(ys)))
    return np.array(boxes, dtype=np.float64).reshape(-1, 4)


def _shared(boxes: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 where two boxes share a third of the smaller one, else 0."""
    left = np.maximum(boxes[:, None, 0], others[None, :, 0])
    top = np.maximum(boxes[:, None, 1], others[None, :, 1])
    right = np.minimum(boxes[:, None, 2], others[None, :, 2])
    bottom = np.minimum(boxes[:, None, 3], others[None, :, 3])
    area = np.maximum(right - left, 0) * np.maximum(bottom - top, 0)
    sizes = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    other_sizes = (others[:, 2] - others[:, 0]) * (others[:, 3] - others[:, 1])
    smaller = np.maximum(np.minimum(sizes[:, None], other_sizes[None, :]), 1.0)
    shared: NDArray[np.float64] = (area > smaller / 3).astype(np.float64)
    return shared


def _possible(line: Line) -> bool:
    """Whether a line can be like writing at all, by its shape alone."""
    if line.glyph < 4 or line.length < 0.8 * line.glyph or line.height > TALL[1] * line.glyph:
        return False
    return line.pieces < 4 or (line.even > EVEN[1] and line.gap < GAPS[1])


def _same_place(one: Line, other: Line) -> bool:
    x, y = other.point(other.length, other.height)
    return abs(x - one.x) < 1 and abs(y - one.y) < 1


def _likeness(strip: Strip) -> float:
    """How much a line is like writing, 0 to 1: even pieces in a narrow band, strokes that are ink or are not."""
    line = strip.line
    inner = np.asarray(strip.image)[BORDER_PX:-BORDER_PX, BORDER_PX:-BORDER_PX]
    dark = float((inner < 90).mean())
    middle = float(((inner >= 90) & (inner < 200)).mean())
    marks = [
        _between(middle / max(dark, 1e-3), *SOFT),
        _between(line.height / max(line.glyph, 1.0), *TALL),
        1.0 if 0.06 <= dark <= 0.42 else 0.5,
    ]
    if line.pieces >= 4:
        marks += [_between(line.even, *EVEN), _between(line.gap, *GAPS)]
    else:
        marks.append(0.7)
    return float(np.prod(marks))


def _between(value: float, good: float, bad: float) -> float:
    """1 up to `good`, 0 from `bad` on, whichever is larger."""
    return min(1.0, max(0.0, (bad - value) / (bad - good)))


def _unread(one: _Candidate, scale: float) -> bool:
    """Whether a line is writing, of a size at which one writes details, that the OCR makes nothing of."""
    line = one.strip.line
    long = line.pieces >= 6 and line.length >= 4 * line.glyph
    return one.clear and long and line.glyph <= TALLEST_DETAIL_CSS_PX * scale and one.sureness < READABLE


def _guessed(word: Placed) -> bool:
    """Whether the OCR had hardly an idea of a word; of numbers and addresses one wants to be surer."""
    digits, letters = sum(map(str.isdigit, word.text)), sum(map(str.isalnum, word.text))
    telling = digits >= 3 or "@" in word.text
    return letters >= 3 and word.confidence < (GUESS_TELLING if telling else GUESS)


def _reading(region: Region, candidates: list[_Candidate]) -> Reading:
    reading = Reading()
    for one in _best(candidates):
        line = one.strip.line
        if _unread(one, region.scale):
            reading.unread.append(Spot(line, 0.0, line.length))
        elif one.words and (one.clear or one.sureness >= DOUBTFUL_WORTH):
            reading.written.append(one.written)
            if one.clear:
                reading.unread += [Spot(line, word.start, word.end) for word in one.written.words if _guessed(word)]
            reading.otherwise += [again.written for again in one.tries if again.words and again.words != one.words]
    for bar in region.bars:
        reading.written.append(
            Written(Line(bar.left, bar.top, 1.0, 0.0, bar.width, bar.height, bar.height / 1.4, 1.0, 0.0, 0), ())
        )
    return reading
