"""Pictures with writing whose places are known, drawn for the tests; and how much of its ink some bars cover."""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from host.core.redaction import Box, Found, Mark, Media, PictureJob, Text

Mask = NDArray[np.bool_]
FONT_FOLDERS = ("/usr/share/fonts/truetype/dejavu", "/usr/share/fonts/dejavu-sans-fonts", "/usr/share/fonts/TTF")
COVERED, BARED = 0.95, 0.25  # shares of the ink: a private span's at least, a harmless word's at most
SHAPES = {
    "EMAIL": r"[\w.+-]+@[\w.-]+\.\w+",
    "CARD": r"\b\d{4} ?\d{4} ?\d{4} ?\d{4}\b",
    "PHONE": r"\+\d\d \d{3,4} \d{5,6}\b",
    "PERSON": r"\b(?:Wilhelmina Oakes|Casimir Lindgren|Thaddeus Crowley)\b",
}


@functools.cache
def font(size_px: int, name: str = "DejaVuSans") -> ImageFont.FreeTypeFont:
    """A font that Chromium's packages bring along."""
    for folder in FONT_FOLDERS:
        if (path := Path(folder) / f"{name}.ttf").exists():
            return ImageFont.truetype(str(path), size_px)
    raise AssertionError(f"{name} is not installed; install fonts-dejavu-core")


@dataclass
class Drawn:
    """A picture, and the ink of what is private and of what is harmless in it."""

    width: int
    height: int
    background: str = "white"
    scale: float = 1.0
    private: list[tuple[str, Mask]] = field(default_factory=list)
    harmless: list[tuple[str, Mask]] = field(default_factory=list)

    def __post_init__(self) -> None:
        size = (round(self.width * self.scale), round(self.height * self.scale))
        self.picture = Image.new("RGB", size, self.background)

    def write(
        self,
        x: float,
        y: float,
        *parts: str,
        size: int = 14,
        fill: str = "#222",
        name: str = "DejaVuSans",
        turned: float = 0,
    ) -> None:
        """Write a line: `[…]` is private, `{…}` is harmless; `turned`: degrees against the clock around its start."""
        used = font(round(size * self.scale), name)
        start, at = (x * self.scale, y * self.scale), x * self.scale
        for piece in re.findall(r"\[.*?\]|\{.*?\}|[^\[{]+", "".join(parts)):
            text = piece.strip("[]{}")
            layer = Image.new("L", self.picture.size, 0)
            ImageDraw.Draw(layer).text((at, start[1]), text, fill=255, font=used)
            if turned:
                layer = layer.rotate(turned, Image.Resampling.BICUBIC, center=start)
            self.picture.paste(Image.new("RGB", self.picture.size, fill), (0, 0), layer)
            ink = np.asarray(layer) > 100
            if piece[0] == "[":
                self.private.append((text, ink))
            elif piece[0] == "{":
                self.harmless.append((text, ink))
            at += used.getlength(text)

    def png(self) -> bytes:
        """The picture as a capture."""
        return png_of(self.picture)

    def job(self, **changes: object) -> PictureJob:
        """The job of redacting it: one canvas that fills the picture, and a PNG as large as it is."""
        values: dict[str, object] = {
            "scale": self.scale,
            "width": self.picture.width / self.scale,
            "height": self.picture.height / self.scale,
            "bars": [],
            "media": [Media(Box(0, 0, self.width, self.height), "canvas")],
            "format": "png",
            "quality": 60,
            "max_width": 10_000,
            "max_bytes": 1 << 24,
        }
        return PictureJob(**{**values, **changes})  # type: ignore[arg-type]  # a struct of as many types as fields

    def left_bare(self, result: Image.Image) -> list[str]:
        """The private details whose ink is not covered by black in a picture of the same size."""
        return [text for text, ink in self.private if self._covered(result, ink) < COVERED]

    def covered_needlessly(self, result: Image.Image) -> list[str]:
        """The harmless words whose ink is covered."""
        return [text for text, ink in self.harmless if self._covered(result, ink) > BARED]

    def _covered(self, result: Image.Image, ink: Mask) -> float:
        black = np.asarray(result.convert("RGB")).max(axis=2) == 0
        # Ink counts as covered where all around it is black, too: writing itself may be black.
        inner = np.asarray(Image.fromarray(black).convert("L").point(bool, "1").convert("L")) > 0
        solid = inner.copy()
        for shift in ((0, 1), (0, -1), (1, 1), (1, -1)):
            solid &= np.roll(inner, shift[1], axis=shift[0])
        return float((ink & solid).sum() / max(1, ink.sum()))


def png_of(picture: Image.Image, **options: object) -> bytes:
    """The bytes of a PNG file."""
    out = io.BytesIO()
    picture.save(out, "PNG", **options)
    return out.getvalue()


def opened(data: bytes) -> Image.Image:
    """A picture from the bytes of its file."""
    picture = Image.open(io.BytesIO(data))
    picture.load()
    return picture


def finder(*types: str, also: Sequence[str] = ()) -> Callable[[Sequence[Text]], list[list[Found]]]:
    """A small policy: what has the shape of one of some types (all by default), and some words."""
    shapes = [(kind, re.compile(SHAPES[kind])) for kind in (types or SHAPES)]
    shapes += [("PERSON", re.compile(re.escape(word))) for word in also]

    def find(texts: Sequence[Text]) -> list[list[Found]]:
        return [
            [
                Found(match.start(), match.end(), kind, 1.0, "shape")
                for kind, shape in shapes
                for match in shape.finditer(text.text)
            ]
            for text in texts
        ]

    return find


def nothing(texts: Sequence[Text]) -> list[list[Found]]:
    """A policy that finds nothing."""
    return [[] for _ in texts]


def kinds(marks: Iterable[Mark]) -> set[str]:
    """The types of some bars."""
    return {mark.type for mark in marks}
