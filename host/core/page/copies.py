"""Where a text is shown once more: its shadows and reflections, which can be read as well as it can."""

from __future__ import annotations

import re
from collections.abc import Iterator

from host.core.page.shape import Affine, moved
from host.core.page.snapshot import Rect

LEAST_PX = 2.0  # what is nearer lies under the bar of the text itself
MOST_BLUR_PX = 8.0  # nobody reads what is softer
_OFFSETS = re.compile(r"(-?[\d.]+)px (-?[\d.]+)px (-?[\d.]+)px")
_DROPPED = re.compile(r"drop-shadow\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_REFLECTED = re.compile(r"(above|below|left|right)(?: (-?[\d.]+)(px|%))?")
NONE = frozenset(("none", ""))


def shadows(style: str) -> tuple[Affine, ...]:
    """Where the shadows of a computed `text-shadow` lie."""
    return tuple(_shadows(style)) if style not in NONE else ()


def element_copies(effects: str, reflection: str, bounds: Rect) -> tuple[Affine, ...]:
    """Where all that is in an element is shown again, by its computed `filter` and `-webkit-box-reflect`."""
    copies = []
    if effects not in NONE:
        copies += [copy for one in _DROPPED.findall(effects) for copy in _shadows(one)]
    match = _REFLECTED.match(reflection) if reflection not in NONE else None
    if match is not None:
        copies.append(_mirror(match[1], float(match[2] or 0) * (0.0 if match[3] == "%" else 1.0), bounds))
    return tuple(copies)


def _shadows(style: str) -> Iterator[Affine]:
    for x, y, blur in _OFFSETS.findall(style):
        if max(abs(float(x)), abs(float(y))) >= LEAST_PX and float(blur) <= MOST_BLUR_PX:
            yield moved(float(x), float(y))


def _mirror(side: str, gap: float, bounds: Rect) -> Affine:
    left, top, width, height = bounds
    if side in ("above", "below"):
        return Affine(d=-1.0, f=2 * (top + height) + gap if side == "below" else 2 * top - gap)
    return Affine(a=-1.0, e=2 * (left + width) + gap if side == "right" else 2 * left - gap)
