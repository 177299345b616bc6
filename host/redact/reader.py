"""What any OCR engine does here: strips with one line each to words; with a line of our own that it must give back."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from PIL import Image, ImageDraw, ImageFont

from host.redact.failure import NotChecked, beside

CONTROL: Final = ("Control", "reading", "4718")
CONTROL_FONT_PX: Final = 27


class Word(NamedTuple):
    """One word of a strip: where it begins and ends in pixels of the strip, and how sure the engine is, 0 to 1."""

    text: str
    start: float
    end: float
    confidence: float


class Reader(Protocol):
    """An OCR engine. Strips are grey pictures, dark on white, of one line each."""

    name: str

    def read(self, strips: Sequence[Image.Image], deadline: float) -> list[list[Word]]:
        """The words of each strip, from its left; raises `NotChecked` when it cannot, or not by `deadline`."""
        ...

    def close(self) -> None:
        """Give everything back; closing twice is fine."""
        ...


def read_checked(reader: Reader, strips: Sequence[Image.Image], deadline: float) -> list[list[Word]]:
    """The words of each strip; raises `NotChecked` for an engine that does not give back the line that we know.

    An engine that says nothing where there is writing looks like one that met a picture without any.
    """
    words = beside("ocr", lambda: reader.read([*strips, control_strip()], deadline), deadline)
    if len(words) != len(strips) + 1:
        raise NotChecked("ocr", f"{reader.name} gave {len(words)} of {len(strips) + 1} lines; run `capsdk doctor`")
    said = {re.sub(r"\W", "", word.text).lower() for word in words[-1]}
    if sum(word.lower() in said for word in CONTROL) < 2:
        raise NotChecked("ocr", f"{reader.name} does not read a line that it must know; run `capsdk doctor`")
    return words[:-1]


@functools.cache
def control_strip() -> Image.Image:
    """A line of words that we know, in Pillow's own font."""
    font = ImageFont.load_default(CONTROL_FONT_PX)
    text = " ".join(CONTROL)
    left, top, right, bottom = font.getbbox(text)
    strip = Image.new("L", (int(right - left) + 24, int(bottom - top) + 24), 255)
    ImageDraw.Draw(strip).text((12 - left, 12 - top), text, fill=0, font=font)
    return strip


def lanes_of(strips: Sequence[Image.Image], most: int, least_px: int = 900) -> list[list[int]]:
    """The strips' indexes, shared out over at most `most` lanes of about one length; short ones stay together."""
    total = sum(strip.width for strip in strips)
    lanes: list[list[int]] = [[] for _ in range(max(1, min(most, total // least_px, len(strips))))]
    lengths = [0] * len(lanes)
    for index in sorted(range(len(strips)), key=lambda index: -strips[index].width):
        shortest = lengths.index(min(lengths))
        lanes[shortest].append(index)
        lengths[shortest] += strips[index].width
    return lanes
