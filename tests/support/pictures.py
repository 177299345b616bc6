"""Looks at pictures as they come over the wire: which boxes are barred, and is that true of the pixels?"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from typing import Any, NamedTuple

from PIL import Image

VIEW = ("--grant", "browser.view=allow")
DARK = 8  # an opaque bar after JPEG, of 255

# Rectangles of a text inside an element, over tags and lines, in the window; of all of it when no text is given.
RECTS = """((selector, text) => {
  const root = document.querySelector(selector);
  if (!text) return [root.getBoundingClientRect()].map(r => [r.x, r.y, r.width, r.height]);
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), nodes = [];
  let all = '';
  for (let node; node = walk.nextNode();) { nodes.push([all.length, node]); all += node.data }
  const start = all.indexOf(text), end = start + text.length;
  if (start < 0) throw new Error('no ' + text);
  return nodes.flatMap(([at, node]) => {
    const from = Math.max(0, start - at), to = Math.min(node.length, end - at);
    if (from >= to) return [];
    const range = document.createRange();
    range.setStart(node, from);
    range.setEnd(node, to);
    return [...range.getClientRects()].map(r => [r.x, r.y, r.width, r.height]);
  });
})"""


class Rect(NamedTuple):
    """A rectangle in pixels."""

    x: float
    y: float
    width: float
    height: float

    def meets(self, other: Rect, slack: float = 0.5) -> bool:
        """Do they overlap by more than `slack` pixels?"""
        wide = min(self.x + self.width, other.x + other.width) - max(self.x, other.x)
        high = min(self.y + self.height, other.y + other.height) - max(self.y, other.y)
        return wide > slack and high > slack


class Picture:
    """One answer of `browser.screenshot`."""

    def __init__(self, result: dict[str, Any]) -> None:
        self.result = result
        self.data = base64.b64decode(result["data"])
        self.image = Image.open(io.BytesIO(self.data)).convert("L")
        self.bars = [Rect(**bar["box"]) for bar in result["redactions"]]
        self.types = [str(bar["type"]) for bar in result["redactions"]]

    def scaled(self, rects: Iterable[Iterable[float]], offset: tuple[float, float] = (0, 0)) -> list[Rect]:
        """CSS rectangles as the picture's pixels."""
        scale = float(self.result["scale"])
        made = [Rect(*rect) for rect in rects]
        return [
            Rect((one.x + offset[0]) * scale, (one.y + offset[1]) * scale, one.width * scale, one.height * scale)
            for one in made
        ]

    def black(self, rect: Rect) -> float:
        """The share of pixels in a rectangle that are as dark as a bar; a pixel less on each side."""
        box = (round(rect.x) + 1, round(rect.y) + 1, round(rect.x + rect.width) - 1, round(rect.y + rect.height) - 1)
        pixels = self.image.crop(box).tobytes()
        return sum(value <= DARK for value in pixels) / max(1, len(pixels))

    def touched(self, rects: Iterable[Rect], slack: float = 2.5) -> bool:
        """Does any bar reach into one of these rectangles?"""
        return any(bar.meets(rect, slack) for bar in self.bars for rect in rects)
