"""Rectangles and the maps between the frames of a page: arithmetic only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from host.core.page.snapshot import Rect
from host.core.redaction import Box

PARALLEL_PX = 1.0  # by how much the corners of a flat frame may miss a parallelogram


class Affine(NamedTuple):
    """x' = a·x + c·y + e; y' = b·x + d·y + f."""

    a: float = 1.0
    b: float = 0.0
    c: float = 0.0
    d: float = 1.0
    e: float = 0.0
    f: float = 0.0

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Where a point goes."""
        return (self.a * x + self.c * y + self.e, self.b * x + self.d * y + self.f)

    def rect(self, rect: Rect) -> Rect:
        """The smallest upright rectangle around where a rectangle goes."""
        x, y, width, height = rect
        corners = [self.point(px, py) for px in (x, x + width) for py in (y, y + height)]
        return around(corners)

    def then(self, outer: Affine) -> Affine:
        """This map, and `outer` after it."""
        e, f = outer.point(self.e, self.f)
        return Affine(
            outer.a * self.a + outer.c * self.b,
            outer.b * self.a + outer.d * self.b,
            outer.a * self.c + outer.c * self.d,
            outer.b * self.c + outer.d * self.d,
            e,
            f,
        )

    def inverse(self) -> Affine | None:
        """The way back, None where everything falls onto a line."""
        area = self.a * self.d - self.b * self.c
        if abs(area) < 1e-9:
            return None
        a, b, c, d = self.d / area, -self.b / area, -self.c / area, self.a / area
        return Affine(a, b, c, d, -(a * self.e + c * self.f), -(b * self.e + d * self.f))


def moved(x: float, y: float) -> Affine:
    """A map that only moves."""
    return Affine(e=x, f=y)


def around(points: Sequence[tuple[float, float]]) -> Rect:
    """The smallest upright rectangle around points."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return (min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))


def corners(quad: Sequence[float]) -> list[tuple[float, float]]:
    """A quad of CDP, four corners clockwise, as points. Raises ValueError when it is none."""
    if len(quad) != 8:
        raise ValueError("a quad has four corners")
    return list(zip(quad[::2], quad[1::2], strict=True))


def meet(one: Rect, other: Rect) -> Rect:
    """What two rectangles share; its size is 0 where they share nothing."""
    left, top = max(one[0], other[0]), max(one[1], other[1])
    right, bottom = min(one[0] + one[2], other[0] + other[2]), min(one[1] + one[3], other[1] + other[3])
    return (left, top, max(0.0, right - left), max(0.0, bottom - top))


def touch(one: Rect, other: Rect) -> bool:
    """Do two rectangles meet, if only at an edge?"""
    return (
        one[0] <= other[0] + other[2]
        and other[0] <= one[0] + one[2]
        and one[1] <= other[1] + other[3]
        and other[1] <= one[1] + one[3]
    )


def joined(one: Rect, other: Rect) -> Rect:
    """The smallest rectangle around both."""
    left, top = min(one[0], other[0]), min(one[1], other[1])
    right, bottom = max(one[0] + one[2], other[0] + other[2]), max(one[1] + one[3], other[1] + other[3])
    return (left, top, right - left, bottom - top)


def grown(rect: Rect, by: float) -> Rect:
    """The rectangle with a margin."""
    return (rect[0] - by, rect[1] - by, rect[2] + 2 * by, rect[3] + 2 * by)


def holds(outer: Rect, inner: Rect, slack: float) -> bool:
    """Is `inner` inside `outer`, give or take? False for what is no number."""
    return (
        inner[0] >= outer[0] - slack
        and inner[1] >= outer[1] - slack
        and inner[0] + inner[2] <= outer[0] + outer[2] + slack
        and inner[1] + inner[3] <= outer[1] + outer[3] + slack
    )


def box(rect: Rect) -> Box:
    """A rectangle as it is reported."""
    return Box(*rect)


def frame_map(
    size: tuple[float, float], content: Sequence[float], border: Sequence[float], bounds: Rect, outer: Affine
) -> Affine | None:
    """From the viewport of a frame to that of the local root it belongs to.

    `size` is the frame's own viewport. `content` and `border` are the quads of its owner from `DOM.getBoxModel`, which
    are the local root's pixels divided by the zoom of the owner's document (observed); `bounds` is the owner in the
    snapshot, in its own frame's viewport, and `outer` the map of that frame. None where no flat map shows it.
    """
    back = outer.inverse()
    inside, edge = corners(content), corners(border)
    if back is None or min(size) <= 0:
        return None
    straight = around([back._replace(e=0.0, f=0.0).point(x, y) for x, y in edge])
    wide = straight[2] >= straight[3]
    told, seen = (bounds[2], straight[2]) if wide else (bounds[3], straight[3])
    zoom = told / seen if seen > 0 else 0.0
    if zoom <= 0:
        return None
    if abs(zoom - 1) < 0.005:
        zoom = 1.0
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = ((x * zoom, y * zoom) for x, y in inside)
    if not max(abs(x0 + x2 - x1 - x3), abs(y0 + y2 - y1 - y3)) <= PARALLEL_PX:
        return None
    width, height = size
    return Affine((x1 - x0) / width, (y1 - y0) / width, (x3 - x0) / height, (y3 - y0) / height, x0, y0)
