"""Scoring by ink: which share of a text's glyph pixels is under bars in the final picture. Nothing but arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import BytesIO

import numpy as np
import numpy.typing as npt
from PIL import Image

Grey = npt.NDArray[np.int16]
Mask = npt.NDArray[np.bool_]
Box = Sequence[float]  # x, y, width, height

COVERED = 0.95  # of the ink of a private text
BARRED = 0.25  # of the ink of a harmless one
INK = 0.4  # of the strongest contrast in its box
FAINTEST = 12  # a box without more contrast than this holds nothing to see
SOLID_PX = 7  # a bar is black over so many pixels both ways; strokes of letters are not
BLACK = 8


def grey(data: bytes) -> Grey:
    """A picture's lightness by row and column, 0 to 255."""
    with Image.open(BytesIO(data)) as opened:
        return np.asarray(opened.convert("L")).astype(np.int16)


def resized(picture: Grey, width: int, height: int) -> Grey:
    """The same at another size, each pixel the nearest one: no new shades."""
    if picture.shape == (height, width):
        return picture
    rows = np.minimum((np.arange(height) + 0.5) * picture.shape[0] / height, picture.shape[0] - 1).astype(int)
    columns = np.minimum((np.arange(width) + 0.5) * picture.shape[1] / width, picture.shape[1] - 1).astype(int)
    found: Grey = picture[rows][:, columns]
    return found


def bars_in(picture: Grey, *, black: int = BLACK, solid_px: int = SOLID_PX) -> Mask:
    """Where the picture is black over whole squares: an opening, so a bar is found whole and a letter is not."""
    dark: Mask = picture <= black
    return _any(_every(dark, solid_px), solid_px)


def _sums(mask: Mask) -> npt.NDArray[np.int64]:
    """Each cell holds how many are set above and to the left of it."""
    padded = np.zeros((mask.shape[0] + 1, mask.shape[1] + 1), dtype=np.int64)
    padded[1:, 1:] = mask.cumsum(0).cumsum(1)
    return padded


def _every(mask: Mask, size: int) -> Mask:
    """At (row, column): is the square of that size that begins there all set?"""
    found = np.zeros_like(mask)
    if mask.shape[0] < size or mask.shape[1] < size:
        return found
    sums = _sums(mask)
    squares = sums[size:, size:] - sums[:-size, size:] - sums[size:, :-size] + sums[:-size, :-size]
    found[: squares.shape[0], : squares.shape[1]] = squares == size * size
    return found


def _any(mask: Mask, size: int) -> Mask:
    """All cells of the squares that begin where it is set."""
    found = mask.copy()
    for step in range(1, size):
        found[step:] |= mask[:-step]
    wide = found.copy()
    for step in range(1, size):
        wide[:, step:] |= found[:, :-step]
    return wide


def drawn(boxes: Iterable[Box], shape: tuple[int, ...]) -> Mask:
    """The bars of a list of boxes in pixels, outward to whole pixels."""
    found = np.zeros(shape, dtype=np.bool_)
    for x, y, width, height in boxes:
        top, left = max(0, int(y)), max(0, int(x))
        found[top : max(0, int(np.ceil(y + height))), left : max(0, int(np.ceil(x + width)))] = True
    return found


def share(picture: Grey, bars: Mask, boxes: Iterable[Box], scale: float) -> float | None:
    """Which share of the ink in the boxes (CSS pixels) is under bars; None when there is no ink in sight.

    `picture` is the capture without bars, of `scale` pixels to a CSS pixel; `bars` is of its size.
    """
    inked = covered = 0
    for x, y, width, height in boxes:
        rows = slice(max(0, round(y * scale)), max(0, round((y + height) * scale)))
        columns = slice(max(0, round(x * scale)), max(0, round((x + width) * scale)))
        part = picture[rows, columns]
        if part.size == 0:
            continue
        contrast = np.abs(part - np.median(part))
        most = contrast.max()
        if most <= FAINTEST:
            continue
        ink = contrast > INK * most
        inked += int(ink.sum())
        covered += int((ink & bars[rows, columns]).sum())
    return covered / inked if inked else None
