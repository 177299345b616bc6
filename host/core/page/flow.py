"""The order in which a document is read: its nodes become blocks of text, fields, media and frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from host.core.page import snapshot as snap
from host.core.page.blocks import Block, Flow, Owner, Region
from host.core.page.copies import shadows
from host.core.page.fields import copied, field_text, has_picture, refers_to_picture
from host.core.page.levels import ROOTS, Levels, is_block
from host.core.page.run import Look, Place, Run, add_shown, character, offsets
from host.core.page.shape import grown, joined, meet, touch
from host.core.page.snapshot import Rect, Tree
from host.core.redaction import MediaKind, TextKind

CONTEXT_PX = 160.0  # so far outside of the area text is still read: labels and the rest of a line
SEEN_PX = 1.5  # what is thinner is not seen: texts for screen readers only are one pixel high
MEDIA_WIDTH_PX, MEDIA_HEIGHT_PX = 16.0, 8.0  # no text fits into smaller pictures
NEW_BLOCK_EM = 1.5  # so far apart on one line are two texts, not one
NEW_BOX_EM = 0.6  # the same for what has a box of its own
SPACE_EM = 0.2
MARKER_CHARS = 3
LONG_CHARS = 2000  # of a text that is longer only the lines in sight are read
FIELD_CHARS = 50_000  # a field that holds more is barred unread

WORDLESS = frozenset(("checkbox", "radio", "range", "color", "hidden"))
FRAMES = frozenset(("IFRAME", "FRAME", "OBJECT", "EMBED", "FENCEDFRAME"))
MEDIA: dict[str, MediaKind] = {
    "CANVAS": "canvas",
    "EMBED": "plugin",
    "IMG": "image",
    "OBJECT": "plugin",
    "VIDEO": "video",
    "image": "image",
}
FIELDS = frozenset(("INPUT", "TEXTAREA", "SELECT", "OPTION", "OPTGROUP"))
KEEPS_LINES = frozenset(("preserve", "preserve-breaks", "break-spaces"))
KEEPS_SPACES = frozenset(("preserve", "preserve-spaces", "break-spaces"))
READ = FIELDS | FRAMES | frozenset(MEDIA) | {"use"}
PICTURES = (snap.BACKGROUND, snap.BORDER_IMAGE, snap.MASK, snap.CONTENT)
REFERENCES = (snap.FILL, snap.FILTER)


class _Item(NamedTuple):
    order: tuple[float, int, int]
    layout: int
    node: int
    name: str


def read_flow(tree: Tree, area: Rect) -> Flow:
    """Read what of a document meets `area` (from the document's own corner)."""
    return _Reader(tree, area).read()


class _Reader:
    def __init__(self, tree: Tree, area: Rect) -> None:
        self.tree = tree
        self.area = area
        self.flow = Flow()
        self._levels = Levels(tree)
        self._run = Run()
        self._box: Rect | None = None  # where the run ended
        self._bounds: Rect | None = None
        self._line = 0.0
        self._look = Look()
        self._owner = -1
        self._in_columns: set[int] = set()
        self._apart = False  # something with a box of its own began or ended since

    def read(self) -> Flow:
        for item in sorted(self._items()):
            parent = item.node if item.name.startswith("::") else self.tree.parents[item.node]
            for level in self._levels.go(parent):
                if level.block:
                    self._flush()
                self._apart = self._apart or level.apart
            if self._levels.innermost.unseen:
                continue
            if self.tree.document.layout.text[item.layout] >= 0:
                self._text(item)
            elif item.name in FIELDS:
                self._flush()
                self._field(item)
            else:
                self._picture(item)
        self._flush()
        return self.flow

    # --- which

    def _items(self) -> list[_Item]:
        """The boxes that may matter, in document order."""
        tree, layout, found = self.tree, self.tree.document.layout, list[_Item]()
        strings, node_names = tree.strings, tree.document.nodes.nodeName
        wanted = {at for at, text in enumerate(strings) if text in READ}
        blank = {at for at, text in enumerate(strings) if text.isspace()}
        plain = {at for at, text in enumerate(strings) if "url(" not in text and "image-set(" not in text}
        opaque = {at for at, text in enumerate(strings) if text.startswith("rgb(")}
        fully = next((at for at, text in enumerate(strings) if text == "1"), -1)
        columns = self._in_columns = self._columns()

        def draws(styles: list[int]) -> bool:
            return bool(styles) and not plain.issuperset([styles[which] for which in (*PICTURES, *REFERENCES)])

        x, y, width, height = grown(self.area, CONTEXT_PX)
        right, bottom = x + width, y + height
        rows = zip(layout.nodeIndex, layout.bounds, layout.text, layout.styles, strict=True)
        for at, (node, (left, top, wide, high), text, styles) in enumerate(rows):
            inside = (left <= right and top <= bottom and left + wide >= x and top + high >= y) or node in columns
            if inside and styles and (styles[snap.SURFACE] in opaque or styles[snap.OPACITY] != fully):
                how = " ".join(strings[styles[one]] for one in (snap.SURFACE, snap.OPACITY, snap.VISIBILITY))
                self.flow.surfaces.append(((left, top, wide, high), how))
            # Spaces that are not shown are nowhere, and separate all the same.
            if text in blank or (inside and (text >= 0 or node_names[node] in wanted or draws(styles))):
                found.append(_Item(self._order(node), at, node, strings[node_names[node]]))
        return found

    def _columns(self) -> set[int]:
        """The nodes inside columns: nobody can tell from the snapshot where their texts are."""
        tree, found = self.tree, set[int]()
        layout = tree.document.layout
        auto = next((at for at, text in enumerate(tree.strings) if text == "auto"), -1)
        for node, styles in zip(layout.nodeIndex, layout.styles, strict=True):
            if styles and styles[snap.COLUMNS] != auto:
                found.update(range(node, tree.end(node)))
        return found

    def _order(self, node: int) -> tuple[float, int, int]:
        """The node's place in the text: `::after` comes before its parent's children in the snapshot."""
        at = node
        while at >= 0 and self.tree.name(at) in ("#text", "BR", "::first-letter"):
            at = self.tree.parents[at]
        if at >= 0 and self.tree.name(at) == "::after":
            parent = self.tree.parents[at]
            return (self.tree.end(parent) - 0.5, -parent, node)
        return (float(node), 0, node)

    # --- text

    def _text(self, item: _Item) -> None:
        tree, layout = self.tree, item.layout
        shown = tree.string(tree.document.layout.text[layout])
        if item.name == "BR":
            self._run.end_line()
            self._box = None
            return
        boxes = tree.boxes_of(layout)
        bounds, clip = self._text_bounds(item), self._levels.innermost.clip
        if not boxes or not self._seen(layout, bounds, clip):
            if shown.isspace() and "\n" in shown and tree.style(layout, snap.WHITE_SPACE) in KEEPS_LINES:
                self._run.end_line()
                self._box = None
            elif shown.isspace():
                self._run.gap()
            return
        if tree.style(layout, snap.TEXT_SECURITY) not in ("none", ""):
            if not shown.isspace():
                self.flow.barred.append(("PASSWORD", bounds if clip is None else meet(bounds, clip)))
            return
        marker = tree.name(tree.parents[item.node]) == "::marker" or item.name == "::marker"
        if marker:
            if sum(letter.isalnum() for letter in shown) < MARKER_CHARS:
                return
            self._flush()
        self._join(item.node, shown, boxes)
        self._add(item, shown, bounds, boxes, clip)
        if item.name == "::first-letter":
            self._box = None  # the rest of its word follows, wherever it stands
        if marker:
            self._flush()
            self.flow.blocks[-1].is_label = True

    def _text_bounds(self, item: _Item) -> Rect:
        bounds = self.tree.document.layout.bounds
        if item.node not in self._in_columns:
            return bounds[item.layout]
        if item.name.startswith("::") or self.tree.name(self.tree.parents[item.node]).startswith("::"):
            around = item.node if item.name.startswith("::") else self.tree.parents[item.node]
            return bounds[self.tree.layout_of.get(around, item.layout)]  # those of elements are right
        return self.area

    def _seen(self, layout: int, bounds: Rect, clip: Rect | None) -> bool:
        if self.tree.style(layout, snap.VISIBILITY) not in ("visible", ""):
            return False
        rect = bounds if clip is None else meet(bounds, clip)
        return rect[2] > 0 and rect[3] > 0 and (rect == bounds or min(rect[2], rect[3]) > SEEN_PX)

    def _join(self, node: int, shown: str, boxes: list[tuple[int, int, Rect]]) -> None:
        """Between the text so far and this one: nothing, a space, or the end of the block, as it looks."""
        first = min(boxes)[2]
        before, apart = self._box, self._apart
        self._apart = False
        self._box = max(boxes)[2]
        if before is None or not self._run.text:
            return
        low = min(before[1] + before[3], first[1] + first[3]) - max(before[1], first[1])
        height = min(before[3], first[3])
        if low > height / 2:
            gap = first[0] - before[0] - before[2]
            if gap > (NEW_BOX_EM if apart else NEW_BLOCK_EM) * max(before[3], first[3]):
                self._flush()
                self._box = max(boxes)[2]
            elif gap > SPACE_EM * height:
                self._run.gap()
        elif self._parted(node):
            self._flush()
            self._box = max(boxes)[2]
        elif apart:
            self._run.gap("\n" if shown[:1].strip() else " ")

    def _parted(self, node: int) -> bool:
        """Is there a block without any text, such as a rule or a spacer, between the run and this node?"""
        before = self.flow.places[-1].node if self.flow.places else node
        for between in range(before + 1, node):
            layout = self.tree.layout_of.get(between)
            if layout is not None and not self.tree.name(between).startswith(("#", ":")):
                static = self.tree.style(layout, snap.POSITION) in ("static", "relative")
                if static and is_block(self.tree.style(layout, snap.DISPLAY)):
                    return True
        return False

    def _add(
        self, item: _Item, shown: str, bounds: Rect, boxes: list[tuple[int, int, Rect]], clip: Rect | None
    ) -> None:
        tree, layout = self.tree, item.layout
        value = tree.value(item.node) if item.name == "#text" else ""
        generated = item.name != "#text" or tree.name(tree.parents[item.node]).startswith("::")
        columns, turned = item.node in self._in_columns, self._turned()
        at = None if generated or turned else offsets(value, shown)
        place = Place(
            item.node,
            tree.document.nodes.backendNodeId[item.node],
            at is not None,
            value,
            bounds,
            [] if turned or (generated and columns) else boxes,
            clip,
            vague=columns and not generated,
            copies=self._levels.innermost.copies + shadows(tree.style(layout, snap.TEXT_SHADOW)),
        )
        if turned:
            place.bounds = grown(bounds, boxes[0][2][3] / 2)
        if at is None:
            place.text, at = shown, range(len(shown))
        if len(shown) > LONG_CHARS and not columns and place.boxes:
            shown, at = self._in_sight(place, shown, at)
        height = round(boxes[0][2][3])
        place.look = Look(
            height, tree.style(layout, snap.FONT_WEIGHT), tree.style(layout, snap.COLOR), self._levels.in_label
        )
        white = tree.style(layout, snap.WHITE_SPACE)
        fresh = not self._run.text
        add_shown(
            self._run,
            shown,
            len(self.flow.places),
            at,
            lines=white in KEEPS_LINES,
            spaces=white in KEEPS_SPACES,
        )
        self.flow.places.append(place)
        if not shown.isspace():
            self._bounds = bounds if self._bounds is None else joined(self._bounds, bounds)
        if fresh and self._run.text:
            self._line = boxes[0][2][3]
            self._owner = next((level.node for level in reversed(self._levels.path) if level.block), -1)
            self._look = place.look

    def _in_sight(self, place: Place, shown: str, at: Sequence[int]) -> tuple[str, Sequence[int]]:
        """The part of a long text whose lines are near the area."""
        near = grown(self.area, CONTEXT_PX)
        place.boxes = [one for one in place.boxes if touch(one[2], near)]
        if not place.boxes:
            return "", at[:0]
        start = character(shown, min(first for first, _, _ in place.boxes))
        end = character(shown, max(first + length for first, length, _ in place.boxes))
        return shown[start:end], at[start:end]

    def _turned(self) -> bool:
        """Letters of SVG that are turned one by one: they leave the boxes that Chromium tells of them."""
        for level in reversed(self._levels.path):
            name = self.tree.name(level.node)
            if name == "textPath" or (name in ("text", "tspan") and "rotate" in self.tree.attributes(level.node)):
                return True
            if name not in ("text", "tspan", "a"):
                return False
        return False

    def _flush(self) -> None:
        run, bounds = self._run, self._bounds
        run.trim()
        if run.text and bounds is not None:
            self.flow.blocks.append(Block(run, self._owner, bounds, self._line, self._look))
        self._run, self._bounds, self._box, self._apart = Run(), None, None, False

    # --- fields

    def _field(self, item: _Item) -> None:
        tree, layout = self.tree, item.layout
        bounds = tree.document.layout.bounds[layout]
        if item.name == "OPTGROUP":
            bounds = self._label_bounds(item.node, bounds)
        clip = self._levels.clip_of(item.node, layout)
        if tree.style(layout, snap.OPACITY) == "0" or not self._seen(layout, bounds, clip):
            return
        rect = bounds if clip is None else meet(bounds, clip)
        attributes = tree.attributes(item.node)
        sort = attributes.get("type", "text").lower() if item.name == "INPUT" else ""
        if sort in WORDLESS:
            return
        if sort == "image":
            self._region(item.node, rect, "image")
            return
        text, kind = field_text(tree, item.node, sort)
        if not text.strip():
            return
        if kind == "field" and (sort == "password" or tree.style(layout, snap.TEXT_SECURITY) not in ("none", "")):
            self.flow.barred.append(("PASSWORD", rect))
            return
        if len(text) > FIELD_CHARS:
            self.flow.barred.append(("UNREAD", rect))
            return
        self._whole(item.node, text, bounds, clip, layout, kind)
        if kind == "text" and item.name in ("INPUT", "TEXTAREA") and not tree.field_value(item.node):
            self.flow.blocks[-1].hints, self.flow.blocks[-1].is_label = ["placeholder"], True
        if any("url(" in tree.style(layout, which) for which in PICTURES):
            self._background(item.node, layout, rect)

    def _label_bounds(self, group: int, bounds: Rect) -> Rect:
        """The part of a group of options above the first of them."""
        tree, (x, y, width, height) = self.tree, bounds
        for node in range(group + 1, tree.end(group)):
            layout = tree.layout_of.get(node)
            if layout is not None and tree.name(node) == "OPTION":
                return (x, y, width, min(height, tree.document.layout.bounds[layout][1] - y))
        return bounds

    def _whole(self, node: int, text: str, bounds: Rect, clip: Rect | None, layout: int, kind: TextKind) -> None:
        """A text that is barred with all of its element."""
        tree, run = self.tree, Run()
        place = Place(node, tree.document.nodes.backendNodeId[node], False, text, bounds, [], clip, "field")
        place.copies = self._levels.innermost.copies
        add_shown(run, text, len(self.flow.places), range(len(text)), lines=True, spaces=False)
        run.trim()
        if run.text:
            self.flow.places.append(place)
            block = Block(run, node, bounds, min(bounds[3], 24.0), Look(), kind, is_control=tree.name(node) in FIELDS)
            self.flow.blocks.append(block)

    # --- pictures

    def _picture(self, item: _Item) -> None:
        tree, layout = self.tree, item.layout
        bounds = tree.document.layout.bounds[layout]
        clip = self._levels.clip_of(item.node, layout)
        if tree.style(layout, snap.OPACITY) == "0" or not self._seen(layout, bounds, clip):
            return
        rect = bounds if clip is None else meet(bounds, clip)
        if item.name in FRAMES and (item.name not in MEDIA or item.node in tree.child_documents):
            if min(meet(rect, self.area)[2:]) > 0:
                self.flow.owners.append(Owner(item.node, bounds, clip))
        elif item.name == "use":
            self._use(item.node, layout, bounds, clip)
        elif item.name in MEDIA:
            self._region(item.node, rect, MEDIA[item.name])
        self._background(item.node, layout, rect)

    def _region(self, node: int, rect: Rect, kind: MediaKind) -> None:
        rect = meet(rect, self.area)
        if rect[2] >= MEDIA_WIDTH_PX and rect[3] >= MEDIA_HEIGHT_PX:
            self.flow.media.append(Region(node, rect, kind))

    def _background(self, node: int, layout: int, rect: Rect) -> None:
        styles = [self.tree.style(layout, which) for which in PICTURES]
        if any(has_picture(style) for style in styles):
            if self.tree.name(node) in ROOTS:
                rect = self.area  # it is drawn behind everything
            self._region(node, rect, "background")
        elif any(refers_to_picture(self.tree, self.tree.style(layout, which)) for which in REFERENCES):
            self._region(node, rect, "image")

    def _use(self, node: int, layout: int, bounds: Rect, clip: Rect | None) -> None:
        """A copy of something else: its texts are told where they are defined, which may be nowhere to be seen."""
        text = copied(self.tree, node)
        if text is None:
            self._region(node, bounds if clip is None else meet(bounds, clip), "image")
        elif text:
            self._flush()
            self._whole(node, text, bounds, clip, layout, "text")
