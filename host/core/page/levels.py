"""The elements around what is read of a document: where a text ends with them, what they clip, what they hide."""

from __future__ import annotations

from typing import NamedTuple

from host.core.page import snapshot as snap
from host.core.page.copies import element_copies
from host.core.page.shape import Affine, meet
from host.core.page.snapshot import Rect, Tree

DEFINITIONS = frozenset(("defs", "symbol", "clipPath", "mask", "marker", "pattern", "linearGradient", "radialGradient"))
INLINE = frozenset(("contents", "ruby", "none", "", "math", "block math", "ruby-text"))
CELLS = frozenset(("cell", "columnheader", "gridcell", "rowheader"))  # by their role; inline ones are apart, too
CLIPPING = frozenset(("hidden", "auto", "scroll", "overlay"))
CLIPPED_DISPLAYS = frozenset(
    ("block", "inline-block", "flex", "inline-flex", "grid", "inline-grid", "flow-root", "list-item", "table-cell")
)
ROOTS = frozenset(("HTML", "BODY"))  # what they clip and draw is the window's


class Level(NamedTuple):
    """An element around what is read: `clip` bounds what is in it, `far_clip` what is positioned against others.

    `block`: no text goes on over its edges; `apart`: it has a box of its own in a line; `unseen`: nothing in it shows;
    `copies`: where it is shown once more.
    """

    node: int
    block: bool
    apart: bool
    unseen: bool
    clip: Rect | None
    far_clip: Rect | None
    copies: tuple[Affine, ...] = ()


class Levels:
    """The path from the root of a document to where reading is."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.path = [Level(-1, True, False, False, None, None)]
        self._depths = {-1: 0}

    @property
    def innermost(self) -> Level:
        """The element that what comes next is in."""
        return self.path[-1]

    @property
    def in_label(self) -> bool:
        """Does the markup say that what comes next is the label of something? In the line, or the block around it."""
        for level in reversed(self.path):
            if level.block or self.tree.name(level.node) == "LABEL":
                return self.tree.name(level.node) == "LABEL"
        return False

    def go(self, node: int) -> list[Level]:
        """Go on to inside of this element; the elements whose edges are passed on the way, in order."""
        climbed: list[int] = []
        while node not in self._depths:
            climbed.append(node)
            node = self.tree.parents[node]
        passed: list[Level] = []
        while len(self.path) - 1 > self._depths[node]:
            passed.append(self.path.pop())
            del self._depths[passed[-1].node]
        for one in reversed(climbed):
            passed.append(self._level(one, self.path[-1]))
            self._depths[one] = len(self.path)
            self.path.append(passed[-1])
        return passed

    def clip_of(self, node: int, layout: int) -> Rect | None:
        """What certainly bounds a box in the innermost element, None where nothing does."""
        return self._outer_clip(node, self.tree.style(layout, snap.POSITION), self.path[-1])

    def _level(self, node: int, around: Level) -> Level:
        tree = self.tree
        layout = tree.layout_of.get(node)
        name = tree.name(node)
        if layout is None or not tree.document.layout.styles[layout]:
            return around._replace(node=node, block=False, apart=False)
        display, position = tree.style(layout, snap.DISPLAY), tree.style(layout, snap.POSITION)
        clip = self._outer_clip(node, position, around)
        if self._clips(layout, name, display):
            bounds = tree.document.layout.bounds[layout]
            clip = bounds if clip is None else meet(clip, bounds)
        far = clip if position != "static" else around.far_clip
        unseen = around.unseen or tree.style(layout, snap.OPACITY) == "0" or name in DEFINITIONS
        if name == "::first-letter":  # a floating one, too, is the beginning of its word
            return around._replace(node=node, block=False, apart=False)
        block = is_block(display) or tree.attributes(node).get("role", "") in CELLS
        apart = display.startswith("inline-") or name in ("tspan", "textPath")
        effects, reflection = tree.style(layout, snap.FILTER), tree.style(layout, snap.REFLECT)
        copies = around.copies + element_copies(effects, reflection, tree.document.layout.bounds[layout])
        return Level(node, block, apart, unseen, clip, far, copies)

    def _outer_clip(self, node: int, position: str, around: Level) -> Rect | None:
        """What bounds an element: only what certainly does."""
        if position == "fixed":
            return None
        if position == "absolute":
            top_layer = self.tree.name(node) == "DIALOG" or "popover" in self.tree.attributes(node)
            return None if top_layer else around.far_clip
        return around.clip

    def _clips(self, layout: int, name: str, display: str) -> bool:
        if name in ROOTS or display not in CLIPPED_DISPLAYS:
            return False
        return self.tree.style(layout, snap.OVERFLOW) in CLIPPING


def is_block(display: str) -> bool:
    """Does a new text begin before and after an element that is displayed so?"""
    return not (display.startswith("inline") or display in INLINE)
