"""What stands out from its background in a picture, whatever the colours: the ink, and its connected pieces."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageFilter

_MASKED: Final = np.ma.MaskedArray  # a median asks for numpy.ma: imported here, while files can still be read
Gray = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Ints = NDArray[np.int64]

FAINTEST: Final = 14  # of 255: less than this above the background is noise, not writing
NEIGHBOUR_SHARE: Final = 0.3  # of the strongest ink nearby: smaller differences are the soft edges of letters
# How far the background is looked for: samples so many CSS pixels apart, so many a side; writing fills less than half.
# 28 pixels fit text; 14 small badges; 63 headlines with broad strokes.
VIEWS: Final = ((4.0, 7), (2.0, 7), (9.0, 7))
_BLOCK: Final = 6
_COLOURFUL: Final = 40  # of 255: a smaller range of a colour channel holds no writing that lightness does not show
_OTHERWISE: Final = 24  # of 255: two backgrounds that differ by more are two views
_LEAST_SAMPLES: Final = 10
_MOST_SHAPES: Final = 200


class Pieces(NamedTuple):
    """Connected pieces of ink: one entry a piece. `left` to `right` and `top` to `bottom`, ends not included."""

    left: Ints
    top: Ints
    right: Ints
    bottom: Ints
    area: Ints


def inks_of(picture: Image.Image, scale: float = 1.0) -> list[Gray]:
    """How far each pixel of an RGB picture is from the background around it, 0 to 255; `scale`: pixels to a CSS pixel.

    The background is the median of the neighbourhood, so dark on light and light on dark give the same ink, also
    on a slow gradient. Colours of equal lightness count as well. What is background and what is writing depends on
    how far one looks; where that makes a difference there is more than one answer, the usual one first.
    """
    lightness, *colours = picture.convert("YCbCr").split()
    channels = [lightness, *(colour for colour in colours if _range(colour) > _COLOURFUL)]
    (step, side), *more = VIEWS
    usual = [_background(channel, step * scale, side) for channel in channels]
    others = [_background(lightness, step * scale, side) for step, side in more]
    views = [_ink(channels, usual)] + [_ink([lightness], [other]) for other in others if _differs(usual[0], other)]
    if len(views) > 1:
        views[-1] = _inside_shapes(views[-1], lightness, scale)
    return views


def _inside_shapes(ink: Gray, lightness: Image.Image, scale: float) -> Gray:
    """The ink with that inside of small filled shapes, buttons and badges: there the shape is the background."""
    mask = mask_of(ink)
    pieces = pieces_of(mask)
    heights, widths = pieces.bottom - pieces.top, pieces.right - pieces.left
    fits = (heights >= 10 * scale) & (heights <= 60 * scale) & (widths >= 1.2 * heights) & (widths >= 24 * scale)
    shapes = np.nonzero(fits & (pieces.area >= 0.5 * heights * widths))[0].tolist()
    if not shapes:
        return ink
    ink, values = ink.copy(), np.asarray(lightness).astype(np.int16)
    for index in shapes[:_MOST_SHAPES]:
        left, top, right, bottom = (int(side[index]) for side in pieces[:4])
        shape, inner = mask[top:bottom, left:right], values[top:bottom, left:right]
        # What lies left or right of the shape in its row is a rounded corner; the outermost pixels are its edge.
        within = np.logical_or.accumulate(shape, axis=1) & np.logical_or.accumulate(shape[:, ::-1], axis=1)[:, ::-1]
        within[[0, -1]] = False
        within[:, 1:-1] &= within[:, :-2] & within[:, 2:]
        ink[top:bottom, left:right] = np.where(within, np.abs(inner - int(np.median(inner[within]))), 0)
    return ink


def _range(channel: Image.Image) -> int:
    lowest, highest = np.asarray(channel).min(), np.asarray(channel).max()
    return int(highest) - int(lowest)


def _background(channel: Image.Image, step_px: float, side: int) -> Image.Image:
    """The median around each sample of a channel, as a small picture."""
    step = max(1.0, step_px)
    size = (max(1, round(channel.width / step)), max(1, round(channel.height / step)))
    return channel.resize(size, Image.Resampling.NEAREST).filter(ImageFilter.MedianFilter(side))


def _differs(usual: Image.Image, other: Image.Image) -> bool:
    apart = np.asarray(ImageChops.difference(usual, other.resize(usual.size, Image.Resampling.NEAREST)))
    return int((apart > _OTHERWISE).sum()) >= _LEAST_SAMPLES


def _ink(channels: list[Image.Image], backgrounds: list[Image.Image]) -> Gray:
    ink = None
    for channel, background in zip(channels, backgrounds, strict=True):
        smooth = background.resize(channel.size, Image.Resampling.BILINEAR)
        apart = ImageChops.difference(channel, smooth)
        ink = apart if ink is None else ImageChops.lighter(ink, apart)
    return np.asarray(ink)


def mask_of(ink: Gray) -> Mask:
    """The pixels that belong to strokes: above the noise, and no mere edge of a stronger neighbour."""
    height, width = ink.shape
    rows, columns = -(-height // _BLOCK), -(-width // _BLOCK)
    padded = np.zeros((rows * _BLOCK, columns * _BLOCK), dtype=np.uint8)
    padded[:height, :width] = ink
    blocks = padded.reshape(rows, _BLOCK, columns, _BLOCK).max(axis=(1, 3))
    around = np.asarray(Image.fromarray(blocks).filter(ImageFilter.MaxFilter(3)))
    least = np.maximum(around * NEIGHBOUR_SHARE, FAINTEST).astype(np.uint8)
    spread = np.repeat(np.repeat(least, _BLOCK, axis=0), _BLOCK, axis=1)[:height, :width]
    found: Mask = ink > spread
    return found


def pieces_of(mask: Mask) -> Pieces:
    """The connected pieces (4 neighbours) of a mask."""
    height, width = mask.shape
    edges = np.diff(np.pad(mask, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, starts = np.nonzero(edges == 1)
    ends = np.nonzero(edges == -1)[1]
    labels = _joined(rows, starts, ends, width + 2)
    kept, index = np.unique(labels, return_inverse=True)
    count = len(kept)
    left, top = np.full(count, width), np.full(count, height)
    right, bottom, area = (np.zeros(count, dtype=np.int64) for _ in range(3))
    np.minimum.at(left, index, starts)
    np.minimum.at(top, index, rows)
    np.maximum.at(right, index, ends)
    np.maximum.at(bottom, index, rows + 1)
    np.add.at(area, index, ends - starts)
    return Pieces(left, top, right, bottom, area)


def _joined(rows: Ints, starts: Ints, ends: Ints, stride: int) -> Ints:
    """A label for each run of pixels: the same one for runs that touch in neighbouring rows."""
    count = len(rows)
    labels = np.arange(count)
    begins, finishes = rows * stride + starts, rows * stride + ends
    first = np.searchsorted(finishes, begins - stride, side="right")  # in the row above: ends after this one starts
    last = np.searchsorted(begins, finishes - stride, side="left")  # … and starts before this one ends
    touching = np.maximum(last - first, 0)
    lower = np.repeat(np.arange(count), touching)
    offsets = np.arange(len(lower)) - np.repeat(np.cumsum(touching) - touching, touching)
    upper = np.repeat(first, touching) + offsets
    while True:
        roots = np.minimum(labels[lower], labels[upper])
        before = labels.copy()
        np.minimum.at(labels, before[lower], roots)
        np.minimum.at(labels, before[upper], roots)
        while not np.array_equal(labels, jumped := labels[labels]):
            labels = jumped
        if np.array_equal(labels, before):
            return labels
