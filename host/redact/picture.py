"""One capture to one picture that may be shown: bars over private details, read again, encoded anew; or nothing."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from PIL import Image

from host.core.redaction import Box, Found, Mark, Media, PictureDone, PictureJob, Text
from host.redact import bars, pixels
from host.redact.bars import Rect
from host.redact.failure import NotChecked, TooLarge, beside, time_left
from host.redact.reader import Reader
from host.redact.reading import Reading, Readings, Region
from host.redact.wording import Spot, drafts_of, spots_of

Find = Callable[[Sequence[Text]], list[list[Found]]]
T = TypeVar("T")

SMALLEST_CSS_PX: Final = (16.0, 8.0)  # smaller pictures hold nothing that can be read
BAND_PX: Final = 1_400  # high regions are read in bands, which overlap
BAND_OVERLAP_CSS_PX: Final = 48.0
LOOKS: Final = 3  # the first reading, the second look, and once more

_readings = Readings()


def redact(
    job: PictureJob,
    tiles: Sequence[bytes],
    find: Find,
    reader: Callable[[], Reader],
    deadline: float,
    readings: Readings = _readings,
) -> tuple[PictureDone, bytes]:
    """The picture with its bars, and its facts.

    `tiles` are PNG files from the top down; `reader` is asked for only when there is something to read; `deadline` is
    of `time.monotonic`. Raises `NotChecked` for whatever could not be done, `TooLarge` when it passes `max_bytes`.
    """
    return _step("redact", lambda: _Redaction(job, find, reader, deadline, readings).done(tiles))


def _step(name: str, do: Callable[[], T]) -> T:
    """What `do` gives; anything that it raises becomes `NotChecked`, with the kind of the error and no more."""
    try:
        return do()
    except (NotChecked, TooLarge):
        raise
    except Exception as problem:  # its words may hold what was read
        raise NotChecked(name, f"it failed ({type(problem).__name__}); take the picture once more") from None


class _Redaction:
    """One picture on its way."""

    def __init__(
        self, job: PictureJob, find: Find, reader: Callable[[], Reader], deadline: float, readings: Readings
    ) -> None:
        self._job = job
        self._find = find
        self._reader = reader
        self._deadline = deadline
        self._readings = readings
        self._ocr = ""

    def done(self, tiles: Sequence[bytes]) -> tuple[PictureDone, bytes]:
        """All steps in their order; each one has to end in time."""
        job = self._job
        pixels.check_job(job)
        bars.check_boxes(job)
        picture = self._timed("decode", lambda: pixels.decode(job, tiles))
        rects = self._timed("bars", lambda: bars.bar_rects(job.bars, job.scale, picture.size))
        self._timed("bars", lambda: bars.draw(picture, rects))
        marks = [mark for mark in job.bars if bars.bar_rects([mark], job.scale, picture.size)]
        areas = self._areas(picture.size)
        looks = 0
        if areas:
            self._ocr = _step("ocr", self._reader).name
            found, looks = self._timed("ocr", lambda: self._looked(picture, areas, rects))
            marks += found
        data, size = self._timed("encode", lambda: self._encoded(picture, rects))
        done = PictureDone(
            mime_type=pixels.MIME_TYPES[job.format],
            width=size[0],
            height=size[1],
            scale=size[0] / job.width,
            redactions=marks,
            ocr=self._ocr,
            media_read=len(areas),
            second_look=looks,
        )
        return done, data

    def _timed(self, name: str, do: Callable[[], T]) -> T:
        time_left(self._deadline, name)
        result = _step(name, do)
        time_left(self._deadline, name)
        return result

    def _areas(self, size: tuple[int, int]) -> list[Rect]:
        scale = self._job.scale
        found = (bars.pixels_of(media.box, scale, size) for media in self._job.media if _worth_reading(media))
        return sorted(bars.merged(rect for rect in found if rect is not None), key=lambda rect: (rect.top, rect.left))

    def _looked(self, picture: Image.Image, areas: list[Rect], rects: list[Rect]) -> tuple[list[Mark], int]:
        """Read, bar, and look again at what was barred until nothing is found; `rects` grows with the bars."""
        all_marks: list[Mark] = []
        bands = [band for area in areas for band in _bands(area, self._job.scale)]
        for look in range(LOOKS):
            step = "second look" if look else "ocr"
            marks = self._marks(picture, bands, rects, step)
            if not marks:
                return all_marks, max(0, look)
            if look == LOOKS - 1:
                raise NotChecked("second look", "private details are left after two rounds of bars; clip the page")
            all_marks += marks
            new = bars.bar_rects(marks, self._job.scale, picture.size)
            self._timed("bars", functools.partial(bars.draw, picture, new))
            rects += new
            bands = [band for band in bands if any(_meet(band, rect) for rect in new)]
        return all_marks, LOOKS

    def _marks(self, picture: Image.Image, bands: list[Rect], rects: list[Rect], step: str) -> list[Mark]:
        """The new bars for what is found in some bands of the picture as it is now."""
        regions = [
            Region(
                picture.crop(band), tuple(_within(band, rect) for rect in rects if _meet(band, rect)), self._job.scale
            )
            for band in bands
        ]
        readings = self._timed(step, lambda: self._readings.read(regions, self._reader, self._deadline))
        drafts = [
            (band, draft)
            for band, reading in zip(bands, readings, strict=True)
            for draft in drafts_of(reading.written, reading.otherwise)
        ]
        founds = self._found([draft.text for _, draft in drafts])
        marks = [
            mark
            for (band, draft), found in zip(drafts, founds, strict=True)
            for one in found
            for spot in spots_of(draft, one)
            for mark in self._boxes(band, spot, one.type)
        ]
        if step == "ocr":
            marks += self._unread(bands, readings)
        return _distinct(marks)

    def _unread(self, bands: list[Rect], readings: list[Reading]) -> list[Mark]:
        return [
            mark
            for band, reading in zip(bands, readings, strict=True)
            for spot in reading.unread
            for mark in self._boxes(band, spot, "UNREAD")
        ]

    def _found(self, texts: list[Text]) -> list[list[Found]]:
        """What the policy finds, within the time."""
        if not texts:
            return []

        def run() -> list[list[Found]]:
            found = self._find(texts)
            if len(found) != len(texts) or not all(isinstance(one, Found) for some in found for one in some):
                raise NotChecked("find", "the search did not look at every text; take the picture once more")
            return found

        return beside("find", run, self._deadline)

    def _boxes(self, band: Rect, spot: Spot, kind: str) -> list[Mark]:
        """The boxes for a stretch of a line, in CSS pixels: one, or several small ones along a slope."""
        scale = self._job.scale
        return [
            Mark(kind, "ocr", Box((x + band.left) / scale, (y + band.top) / scale, width / scale, height / scale))
            for x, y, width, height in _boxes_along(spot)
        ]

    def _encoded(self, picture: Image.Image, rects: list[Rect]) -> tuple[bytes, tuple[int, int]]:
        small = pixels.shrink(picture, self._job.max_width)
        if small is not picture:
            bars.draw_scaled(small, rects, picture.size)
        return pixels.encode(small, self._job), small.size


def _worth_reading(media: Media) -> bool:
    return media.box.width >= SMALLEST_CSS_PX[0] and media.box.height >= SMALLEST_CSS_PX[1]


def _bands(area: Rect, scale: float) -> list[Rect]:
    overlap = round(BAND_OVERLAP_CSS_PX * scale)
    bands, top = [], area.top
    while True:
        bottom = min(area.bottom, top + BAND_PX)
        bands.append(Rect(area.left, top, area.right, bottom))
        if bottom == area.bottom:
            return bands
        top = bottom - overlap


def _meet(one: Rect, other: Rect) -> bool:
    return one.left < other.right and other.left < one.right and one.top < other.bottom and other.top < one.bottom


def _within(band: Rect, rect: Rect) -> Rect:
    return Rect(
        max(0, rect.left - band.left),
        max(0, rect.top - band.top),
        min(band.width, rect.right - band.left),
        min(band.height, rect.bottom - band.top),
    )


def _boxes_along(spot: Spot) -> list[tuple[float, float, float, float]]:
    line, length = spot.line, spot.end - spot.start
    level = min(abs(line.along_x), abs(line.along_y)) < 0.02
    parts = 1 if level else max(1, math.ceil(length / max(1.0, line.height)))
    boxes = []
    for part in range(parts):
        start, end = spot.start + length * part / parts, spot.start + length * (part + 1) / parts
        corners = [line.point(along, across) for along in (start, end) for across in (0.0, line.height)]
        xs, ys = [corner[0] for corner in corners], [corner[1] for corner in corners]
        boxes.append((min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)))
    return boxes


def _distinct(marks: list[Mark]) -> list[Mark]:
    """Each bar once: the same words are looked through alone and among their neighbours."""
    kept: dict[tuple[int, ...], Mark] = {}
    for mark in marks:
        box = mark.box
        kept.setdefault((round(box.x), round(box.y), round(box.width), round(box.height)), mark)
    return list(kept.values())
