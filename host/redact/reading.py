"""Reads the writing in regions of a picture; a place that holds writing which nothing can read is named as such."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops

from host.redact.bars import Rect
from host.redact.failure import time_left
from host.redact.ink import Mask, inks_of, mask_of, pieces_of
from host.redact.lines import Line, lines_of
from host.redact.memory import Memory, key_of
from host.redact.reader import Reader, Word, read_checked
from host.redact.strips import BORDER_PX, Strip, strip_of
from host.redact.wording import Placed, Spot, Written

DOUBTFUL_WORTH: Final = 0.5  # how sure the OCR has to be of what is hardly writing
MOST_DOUBTFUL: Final = 40  # lines of a region that are hardly writing: of a photo the best of them are read
SURE: Final = 0.7  # below it a line of clear writing is tried in other ways
READABLE: Final = 0.35  # below it even after that, nobody can say what it is
LEAST_NEWS_CSS_PX: Final = 60  # pixels that another view of a region has to change, or it shows nothing else
TALLEST_DETAIL_CSS_PX: Final = 36.0
GUESS: Final = 0.2  # a word of clear writing that the OCR is less sure of may be anything
GUESS_TELLING: Final = 0.4  # … and one with digits or an at sign
RETRY_GLYPHS_PX: Final = (15.0, 31.0)  # now this size, now that one is read where 20 pixels are not
# What is good and what is bad. Measured on 1,048 lines of text, also blurred, noisy and tilted, and on 2,114 rows of
# pieces in photographs: up to the first are nearly all lines of text, from the second on nearly all of the others.
SOFT: Final = (1.15, 2.1)  # pixels that are half ink, to those that are ink
TALL: Final = (1.85, 2.4)  # the line's height in capitals
EVEN: Final = (0.85, 0.65)  # the share of pieces of about one height
GAPS: Final = (0.5, 1.2)  # the usual gap in capitals
SHORT_WORTH: Final = 0.7  # of 1: two or three letters, of which nobody can say how even they are
FEW: Final = 10
RING_PX: Final = 3
MUCH_LESS: Final = 0.6
ALIKE: Final = 8.0  # of 255: the mean difference of two strips that show the same
MANY: Final = 1_000_000
CLEAR: Final = 0.75  # of 1: from here on it is most likely writing
CERTAIN: Final = 0.97  # … and from here on it is, whatever the OCR says


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
    likeness: float
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
        poor = [one for one in _best(candidates) if one.likeness >= CLEAR and one.sureness < SURE]
        for one in poor:
            again = [one.strip.again(glyph_px) for glyph_px in RETRY_GLYPHS_PX]
            if one.sureness < READABLE:
                again.append(one.strip.turned())
            one.tries = [_Candidate(strip, one.likeness, one.group) for strip in again]
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
    for view in inks_of(_without_bars(region), region.scale):
        ink = view.copy()
        for bar in region.bars:
            ink[max(0, bar.top - 1) : bar.bottom + 1, max(0, bar.left - 1) : bar.right + 1] = 0
        mask = mask_of(ink)
        if masks and np.count_nonzero(mask ^ masks[0]) < LEAST_NEWS_CSS_PX * region.scale**2:
            continue
        masks.append(mask)
        image = Image.fromarray(ink)
        strips = [strip_of(image, line) for line in _possible(lines_of(pieces_of(mask)))]
        found.append([(likeness, strip) for strip in strips if (likeness := _likeness(strip)) > 0])
    groups = _grouped(found)
    clear: list[_Candidate] = []
    doubtful: list[tuple[float, _Candidate]] = []
    for group, likeness, strip in groups:
        if likeness >= CLEAR / 1.5:
            clear.append(_Candidate(strip, likeness, group))
        else:
            doubtful.append((likeness, _Candidate(strip, likeness, group)))
    doubtful.sort(key=lambda pair: -pair[0])
    return clear + [one for _, one in doubtful[:MOST_DOUBTFUL]]


def _without_bars(region: Region) -> Image.Image:
    """The picture with its bars in the colour around each: a bar is no writing, and no background either."""
    if not region.bars:
        return region.picture
    pixels = np.asarray(region.picture).copy()
    for bar in region.bars:
        left, top = max(0, bar.left - RING_PX), max(0, bar.top - RING_PX)
        around = pixels[top : bar.bottom + RING_PX, left : bar.right + RING_PX]
        ring = np.ones(around.shape[:2], dtype=bool)
        ring[bar.top - top : bar.bottom - top, bar.left - left : bar.right - left] = False
        if ring.any():
            pixels[bar.top : bar.bottom, bar.left : bar.right] = np.median(around[ring], axis=0).astype(np.uint8)
    return Image.fromarray(pixels)


def _grouped(views: Sequence[Sequence[tuple[float, Strip]]]) -> list[tuple[int, float, Strip]]:
    """The lines of all views, with one number for those of which only one is to be believed.

    These are an upright line read up and down, and lines at one place that two views show differently. One that
    looks much less like writing than what another view shows there is left out.
    """
    kept: list[tuple[int, float, Strip]] = []
    upright: dict[tuple[int, ...], int] = {}
    for number, (likeness, strip) in enumerate(views[0] if views else ()):
        group = upright.setdefault(_middle(strip.line), number) if strip.line.upright else number
        kept.append((group, likeness, strip))
    for view in views[1:]:
        kept = _with_view(kept, view)
    return kept


def _with_view(
    kept: list[tuple[int, float, Strip]], view: Sequence[tuple[float, Strip]]
) -> list[tuple[int, float, Strip]]:
    if not view or not kept:
        return kept + [(MANY + index, likeness, strip) for index, (likeness, strip) in enumerate(view)]
    overlap = _shared(_boxes([strip for _, _, strip in kept]), _boxes([strip for _, strip in view]))
    worth = np.array([_weight(likeness, strip) for _, likeness, strip in kept])
    next_group = max(group for group, _, _ in kept) + 1
    mine = np.array([_weight(likeness, strip) for likeness, strip in view])
    beaten = np.any(overlap & (worth[:, None] < MUCH_LESS * mine[None, :]), axis=1, keepdims=False)
    added: list[tuple[int, float, Strip]] = []
    for index, (likeness, strip) in enumerate(view):
        others = np.nonzero(overlap[:, index] & ~beaten)[0].tolist()
        if any(_alike(kept[other][2], strip) for other in others) or mine[index] < MUCH_LESS * worth[others].sum():
            continue
        if others:
            group = kept[max(others, key=lambda other: float(worth[other]))][0]
        else:
            group, next_group = next_group, next_group + 1
        added.append((group, likeness, strip))
    return [one for one, lost in zip(kept, beaten.tolist(), strict=True) if not lost] + added


def _alike(one: Strip, other: Strip) -> bool:
    """Whether two strips show the same."""
    size, other_size = one.image.size, other.image.size
    if abs(size[0] - other_size[0]) > 0.02 * size[0] + 2 or abs(size[1] - other_size[1]) > 0.06 * size[1] + 2:
        return False
    apart = ImageChops.difference(one.image, other.image.resize(size))
    return float(np.asarray(apart).mean()) < ALIKE


def _weight(likeness: float, strip: Strip) -> float:
    return likeness * min(strip.line.pieces, strip.line.length / max(1.0, 0.3 * strip.line.glyph))


def _boxes(strips: Sequence[Strip]) -> NDArray[np.float64]:
    boxes = []
    for strip in strips:
        line = strip.line
        corners = [line.point(along, across) for along in (0.0, line.length) for across in (0.0, line.height)]
        xs, ys = [corner[0] for corner in corners], [corner[1] for corner in corners]
        boxes.append((min(xs), min(ys), max(xs), max(ys)))
    return np.array(boxes, dtype=np.float64).reshape(-1, 4)


def _shared(boxes: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which boxes share a third of the smaller one."""
    left = np.maximum(boxes[:, None, 0], others[None, :, 0])
    top = np.maximum(boxes[:, None, 1], others[None, :, 1])
    right = np.minimum(boxes[:, None, 2], others[None, :, 2])
    bottom = np.minimum(boxes[:, None, 3], others[None, :, 3])
    area = np.maximum(right - left, 0) * np.maximum(bottom - top, 0)
    sizes = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    other_sizes = (others[:, 2] - others[:, 0]) * (others[:, 3] - others[:, 1])
    shared: NDArray[np.bool_] = area > np.maximum(np.minimum(sizes[:, None], other_sizes[None, :]), 1.0) / 3
    return shared


def _possible(lines: Sequence[Line]) -> list[Line]:
    """Those that may be writing by their shape; of the others that hardly are, as texture makes many, the best."""
    shapes = [(_shape(line), line) for line in lines if line.glyph >= 4 and line.length >= 0.8 * line.glyph]
    good = [line for shape, line in shapes if shape >= CLEAR]
    short = [(shape, line) for shape, line in shapes if SHORT_WORTH <= shape < CLEAR]
    poor = [(shape, line) for shape, line in shapes if 0 < shape < SHORT_WORTH]
    if len(poor) <= len(good) + FEW:  # no texture: then short words are words
        good += [line for _, line in short]
    else:
        poor += short
    poor.sort(key=lambda pair: (-pair[0], -pair[1].length))
    return sorted((*good, *(line for _, line in poor[:MOST_DOUBTFUL])), key=lambda line: (line.y, line.x))


def _shape(line: Line) -> float:
    """How much a line is like writing by the sizes and places of its pieces, 0 to 1."""
    tall = _between(line.height / max(line.glyph, 1.0), *TALL)
    if line.pieces < 4:
        return SHORT_WORTH * tall
    return tall * _between(line.even, *EVEN) * _between(line.gap, *GAPS)


def _middle(line: Line) -> tuple[int, ...]:
    """What an upright line has in common with the same one read from its other end."""
    x, y = line.point(line.length / 2, line.height / 2)
    return round(x), round(y), round(line.length)


def _likeness(strip: Strip) -> float:
    """How much a line is like writing, 0 to 1: also its strokes are ink, or they are not."""
    inner = np.asarray(strip.image)[BORDER_PX:-BORDER_PX, BORDER_PX:-BORDER_PX]
    dark = float((inner < 90).mean())
    middle = float(((inner >= 90) & (inner < 200)).mean())
    thin = 1.0 if 0.06 <= dark <= 0.42 else 0.5
    return _shape(strip.line) * thin * _between(middle / max(dark, 1e-3), *SOFT)


def _between(value: float, good: float, bad: float) -> float:
    """1 up to `good`, 0 from `bad` on, whichever is larger."""
    return min(1.0, max(0.0, (bad - value) / (bad - good)))


def _details(one: _Candidate, scale: float) -> bool:
    """Whether a line is writing for sure, and of a size at which one writes details."""
    line = one.strip.line
    long = line.pieces >= 6 and line.length >= 4 * line.glyph
    return one.likeness >= CERTAIN and long and line.glyph <= TALLEST_DETAIL_CSS_PX * scale


def _guesses(written: Written) -> list[Spot]:
    """Words that the OCR only guessed; of a number in groups all groups."""
    words = sorted(written.words, key=lambda word: word.start)
    numbers = [_is_number(word) for word in words]
    hidden = set()
    for index, word in enumerate(words):
        beside = any(numbers[max(0, index - 1) : index + 2])
        if sum(map(str.isalnum, word.text)) >= 2 and word.confidence < (
            GUESS_TELLING if _telling(word, beside) else GUESS
        ):
            hidden.add(index)
    for step in (1, -1):
        for index in range(len(words))[::step]:
            before = index - step
            if before in hidden and numbers[index] and not words[before].text.strip(",.;:").isalpha():
                hidden.add(index)
    return [Spot(written.line, words[index].start, words[index].end) for index in sorted(hidden)]


def _is_number(word: Placed) -> bool:
    """Whether a word is a group of a number, and no price."""
    return re.fullmatch(r"[(+]?[\d()/-]{2,}", word.text) is not None


def _telling(word: Placed, beside_number: bool) -> bool:
    """Whether a word may be a part of a number or an address, of which one wants to be surer."""
    digits = sum(map(str.isdigit, word.text))
    return "@" in word.text or digits >= 3 or (beside_number and not word.text.strip(",.;:").isalpha())


def _reading(region: Region, candidates: list[_Candidate]) -> Reading:
    reading = Reading()
    best = _best(candidates)
    chosen = {id(one) for one in best}
    reading.otherwise += [one.written for one in candidates if id(one) not in chosen and one.sureness >= DOUBTFUL_WORTH]
    for one in best:
        line = one.strip.line
        if one.sureness < READABLE and _details(one, region.scale):
            reading.unread.append(Spot(line, 0.0, line.length))
        elif one.words and (one.sureness >= DOUBTFUL_WORTH or _details(one, region.scale)):
            reading.written.append(one.written)
            if _details(one, region.scale):
                reading.unread += _guesses(one.written)
            reading.otherwise += [again.written for again in one.tries if again.words and again.words != one.words]
    for bar in region.bars:
        reading.written.append(
            Written(Line(bar.left, bar.top, 1.0, 0.0, bar.width, bar.height, bar.height / 1.4, 1.0, 0.0, 0), ())
        )
    return reading
