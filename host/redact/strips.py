"""A line of writing cut out of a picture for the OCR: level, dark on white, every font at about one size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from PIL import Image

from host.redact.lines import Line

# The height of a capital in a strip. Lines of six fonts read without a fault at 13, 17, 21, 26, 32 pixels: 86, 87, 88,
# 87, 85 of 100; the time grows with it.
GLYPH_PX: Final = 20.0
LARGEST_SCALE: Final = 4.0
SMALLEST_SCALE: Final = 0.2
BORDER_PX: Final = 10
LONGEST_PX: Final = 8_000
_FLOOR: Final = 0.12  # of the strongest ink: below is background


@dataclass(frozen=True, slots=True)
class Strip:
    """The picture of one line, and how its pixels lie in the line: `scale` pixels to one of the region's ink."""

    line: Line
    image: Image.Image
    scale: float
    ink: Image.Image

    def along(self, x: float) -> float:
        """Pixels of the region from the line's start for a column of the strip."""
        return (x - BORDER_PX) / self.scale - _padding(self.line)

    def again(self, glyph_px: float) -> Strip:
        """The same line at another size."""
        return strip_of(self.ink, self.line, glyph_px)

    def turned(self) -> Strip:
        """The same line upside down."""
        return strip_of(self.ink, self.line.turned())


def _padding(line: Line) -> float:
    return 0.12 * line.height + 1


def strip_of(ink: Image.Image, line: Line, glyph_px: float = GLYPH_PX) -> Strip:
    """Cut a line out of the ink of its region."""
    padding = _padding(line)
    scale = min(LARGEST_SCALE, max(SMALLEST_SCALE, glyph_px / max(line.glyph, 1.0)))
    scale = min(scale, LONGEST_PX / (line.length + 2 * padding))
    width = max(1, round((line.length + 2 * padding) * scale))
    height = max(1, round((line.height + 2 * padding) * scale))
    x, y = line.point(-padding, -padding)
    step_x, step_y = line.along_x / scale, line.along_y / scale
    # Affine coefficients give the source of each pixel of the strip; the half pixel is where a pixel's middle is.
    cut = ink.transform(
        (width, height),
        Image.Transform.AFFINE,
        (step_x, -step_y, x, step_y, step_x, y),
        Image.Resampling.BICUBIC,
        fillcolor=0,
    )
    paper = Image.new("L", (width + 2 * BORDER_PX, height + 2 * BORDER_PX), 255)
    paper.paste(cut.point(_table(cut)), (BORDER_PX, BORDER_PX))
    return Strip(line, paper, scale, ink)


def _table(cut: Image.Image) -> list[int]:
    """What each strength of ink becomes: the strongest black, the background white."""
    strongest = max(1.0, float(np.percentile(np.asarray(cut), 98)))
    low, high = _FLOOR * strongest, 0.85 * strongest
    shares = np.clip((np.arange(256) - low) / (high - low), 0.0, 1.0)
    table: list[int] = (255 - np.rint(255 * shares)).astype(int).tolist()
    return table
