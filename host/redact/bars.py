"""Boxes and the opaque bars that are drawn over them; no reading here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from PIL import Image, ImageDraw

from host.core.redaction import Box, Mark, PictureJob
from host.redact.failure import NotChecked

PADDING_CSS_PX = 2.0
BLACK = (0, 0, 0)


class Rect(NamedTuple):
    """Whole pixels of the picture, `right` and `bottom` not included."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """Pixels from left to right."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """Pixels from top to bottom."""
        return self.bottom - self.top


def check_boxes(job: PictureJob) -> None:
    """Raise `NotChecked` when a box of the job is no rectangle: a bar in a wrong place hides nothing."""
    for what, boxes in (("bar", [mark.box for mark in job.bars]), ("picture", [media.box for media in job.media])):
        for box in boxes:
            if not all(map(math.isfinite, box_numbers(box))) or box.width < 0 or box.height < 0:
                raise NotChecked("boxes", f"the box of a {what} on the page is not a rectangle; reload the page")


def box_numbers(box: Box) -> tuple[float, float, float, float]:
    """The four numbers of a box."""
    return (box.x, box.y, box.width, box.height)


def pixels_of(box: Box, scale: float, size: tuple[int, int], padding_css_px: float = 0.0) -> Rect | None:
    """The pixels that a box of CSS pixels touches, clipped to the picture; None when it lies outside."""
    # A tiny bit is forgiven, or a box that ends at 10.0000001 would take a pixel more than it covers.
    left = math.floor((box.x - padding_css_px) * scale + 1e-6)
    top = math.floor((box.y - padding_css_px) * scale + 1e-6)
    right = math.ceil((box.x + box.width + padding_css_px) * scale - 1e-6)
    bottom = math.ceil((box.y + box.height + padding_css_px) * scale - 1e-6)
    rect = Rect(max(0, left), max(0, top), min(size[0], right), min(size[1], bottom))
    return rect if rect.width > 0 and rect.height > 0 else None


def bar_rects(marks: Iterable[Mark], scale: float, size: tuple[int, int]) -> list[Rect]:
    """The pixels that are to be covered for some marks: padded, outward, clipped."""
    rects = (pixels_of(mark.box, scale, size, PADDING_CSS_PX) for mark in marks)
    return [rect for rect in rects if rect is not None]


def draw(picture: Image.Image, rects: Sequence[Rect]) -> None:
    """Cover the pixels of a decoded RGB picture, for good."""
    pen = ImageDraw.Draw(picture)
    for rect in rects:
        pen.rectangle((rect.left, rect.top, rect.right - 1, rect.bottom - 1), fill=BLACK)


def draw_scaled(picture: Image.Image, rects: Sequence[Rect], original: tuple[int, int]) -> None:
    """Cover the same places in a smaller copy: outward to whole pixels, so that what was mixed in at an edge goes."""
    across, down = picture.width / original[0], picture.height / original[1]
    draw(
        picture,
        [
            Rect(
                max(0, math.floor(rect.left * across) - 1),
                max(0, math.floor(rect.top * down) - 1),
                min(picture.width, math.ceil(rect.right * across) + 1),
                min(picture.height, math.ceil(rect.bottom * down) + 1),
            )
            for rect in rects
        ],
    )


def merged(rects: Iterable[Rect]) -> list[Rect]:
    """Rectangles that do not overlap: those that do become the one around them."""
    done: list[Rect] = []
    for rect in sorted(rects):
        while True:
            other = next((seen for seen in done if _overlap(seen, rect)), None)
            if other is None:
                break
            done.remove(other)
            rect = Rect(*map(min, rect[:2], other[:2]), *map(max, rect[2:], other[2:]))
        done.append(rect)
    return done


def _overlap(one: Rect, other: Rect) -> bool:
    return one.left < other.right and other.left < one.right and one.top < other.bottom and other.top < one.bottom
