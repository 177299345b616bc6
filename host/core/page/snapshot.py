"""A page as `DOMSnapshot.captureSnapshot` tells it, decoded once; what it means is `pagemodel`'s matter.

Observed with Chromium 156: nodes come in preorder of the flat tree (slots filled, shadow roots of all modes, without
the browser's own ones inside fields), save that `::after` stands before its parent's children. Bounds are CSS pixels
of the local root at any device scale, with transforms and inner scrolling applied, from the document's own corner.
Only inside columns the bounds of texts are wrong: those of every column are told as if they were in the first.
"""

from __future__ import annotations

import gc
import json
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

STYLES = (
    "display",
    "visibility",
    "opacity",
    "position",
    "overflow-x",  # where this one clips, the other does
    "white-space-collapse",
    "-webkit-text-security",
    "font-weight",
    "color",
    "background-color",
    "background-image",
    "border-image-source",
    "mask-image",
    "content",
    "columns",
    "text-shadow",
    "filter",
    "-webkit-box-reflect",
    "fill",
)
(
    DISPLAY,
    VISIBILITY,
    OPACITY,
    POSITION,
    OVERFLOW,
    WHITE_SPACE,
    TEXT_SECURITY,
    FONT_WEIGHT,
    COLOR,
    SURFACE,
    BACKGROUND,
    BORDER_IMAGE,
    MASK,
    CONTENT,
    COLUMNS,
    TEXT_SHADOW,
    FILTER,
    REFLECT,
    FILL,
) = range(len(STYLES))
CAPTURE: dict[str, Any] = {"computedStyles": STYLES}


class RareStrings(msgspec.Struct, frozen=True):
    """Strings that few nodes have, by node."""

    index: list[int] = []
    value: list[int] = []


class RareFlags(msgspec.Struct, frozen=True):
    """The nodes that have something."""

    index: list[int] = []


class Nodes(msgspec.Struct, gc=False):
    """The nodes of a document, a column a fact."""

    parentIndex: list[int] = []
    nodeName: list[int] = []
    nodeValue: list[int] = []
    backendNodeId: list[int] = []
    attributes: list[list[int]] = []
    textValue: RareStrings = RareStrings()
    inputValue: RareStrings = RareStrings()
    optionSelected: RareFlags = RareFlags()
    contentDocumentIndex: RareStrings = RareStrings()  # its values are documents


class Layouts(msgspec.Struct, gc=False):
    """What of them has a box, a column a fact."""

    nodeIndex: list[int] = []
    styles: list[list[int]] = []
    bounds: list[tuple[float, float, float, float]] = []
    text: list[int] = []


class TextBoxes(msgspec.Struct, gc=False):
    """The boxes of each text: a line of it, or a part of one. `start` and `length` count UTF-16 units."""

    layoutIndex: list[int] = []
    bounds: list[tuple[float, float, float, float]] = []
    start: list[int] = []
    length: list[int] = []


class Document(msgspec.Struct, gc=False):
    """One document of a snapshot."""

    frameId: int = -1
    scrollOffsetX: float = 0.0
    scrollOffsetY: float = 0.0
    contentWidth: float = 0.0
    contentHeight: float = 0.0
    nodes: Nodes = msgspec.field(default_factory=Nodes)
    layout: Layouts = msgspec.field(default_factory=Layouts)
    textBoxes: TextBoxes = msgspec.field(default_factory=TextBoxes)


class Snapshot(msgspec.Struct, gc=False):
    """The documents of one process's part of a page: the first is the one that holds the others."""

    documents: list[Document]
    strings: list[str]


Rect = tuple[float, float, float, float]
_DECODER = msgspec.json.Decoder(Snapshot)
T = TypeVar("T")


def decode(result: bytes) -> Snapshot:
    """The reply's `result`. Raises ValueError when it is none."""
    collecting = gc.isenabled()
    gc.disable()  # a long page is half a million lists, none of them garbage: looking for it takes most of the time
    try:
        return _DECODER.decode(result)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:  # half surrogates, as pages make them
        return msgspec.convert(json.loads(result), Snapshot)
    finally:
        if collecting:
            gc.enable()


class Tree:
    """One document with what reading it asks for again and again; indexes are those of its nodes."""

    def __init__(self, document: Document, strings: Sequence[str]) -> None:
        self.document = document
        self.strings = strings
        nodes, layout = document.nodes, document.layout
        self.parents = nodes.parentIndex
        self.layout_of = dict(zip(reversed(layout.nodeIndex), range(len(layout.nodeIndex) - 1, -1, -1), strict=True))
        self.child_documents = dict(
            zip(nodes.contentDocumentIndex.index, nodes.contentDocumentIndex.value, strict=True)
        )
        self.chosen = frozenset(nodes.optionSelected.index)
        self._values = {
            **dict(zip(nodes.inputValue.index, nodes.inputValue.value, strict=True)),
            **dict(zip(nodes.textValue.index, nodes.textValue.value, strict=True)),
        }
        self._attributes: dict[int, dict[str, str]] = {}
        self._ids: dict[str, int] | None = None

    @property
    def viewport(self) -> Rect:
        """What the document's frame shows of it, from the document's own corner."""
        document = self.document
        _, _, width, height = document.layout.bounds[0] if document.layout.bounds else (0.0, 0.0, 0.0, 0.0)
        return (document.scrollOffsetX, document.scrollOffsetY, width, height)

    @property
    def frame_id(self) -> str:
        """Chromium's id of the frame that shows it."""
        return self.string(self.document.frameId)

    def string(self, number: int) -> str:
        """A string of the table, "" for none."""
        return self.strings[number] if number >= 0 else ""

    def name(self, node: int) -> str:
        """The node's name: upper case for HTML, `#text`, `::before` …, "" above the root."""
        return self.strings[self.document.nodes.nodeName[node]] if node >= 0 else ""

    def value(self, node: int) -> str:
        """The text of a text node."""
        return self.string(self.document.nodes.nodeValue[node])

    def field_value(self, node: int) -> str:
        """What is in a field right now."""
        return self.string(self._values.get(node, -1))

    def style(self, layout: int, which: int) -> str:
        """One of `STYLES` of a box, "" where Chromium tells none."""
        styles = self.document.layout.styles[layout]
        return self.string(styles[which]) if styles else ""

    def attributes(self, node: int) -> dict[str, str]:
        """The attributes of an element."""
        known = self._attributes.get(node)
        if known is None:
            raw = self.document.nodes.attributes[node] if node >= 0 else []
            strings = [self.string(number) for number in raw]
            known = self._attributes[node] = dict(zip(strings[::2], strings[1::2], strict=False))
        return known

    def end(self, node: int) -> int:
        """The first node behind everything inside this one."""
        parents, at = self.parents, node + 1
        while at < len(parents) and parents[at] >= node:
            at += 1
        return at

    def text(self, node: int, max_chars: int = 200) -> str:
        """All the text inside a node, whether it is shown or not, in one line."""
        found: list[str] = []
        for inner in range(node, self.end(node)):
            if self.name(inner) == "#text" and self.name(self.parents[inner]).upper() not in ("SCRIPT", "STYLE"):
                found.append(self.value(inner))
                max_chars -= len(found[-1].strip())
                if max_chars <= 0:
                    break
        return " ".join("".join(found).split())

    def by_id(self, name: str) -> int:
        """The element with this id, -1 for none."""
        if self._ids is None:
            self._ids = {}
            key = next((at for at, text in enumerate(self.strings) if text == "id"), -1)
            for node, pairs in enumerate(self.document.nodes.attributes):
                if key in pairs[::2]:
                    self._ids.setdefault(self.attributes(node).get("id", ""), node)
        return self._ids.get(name, -1)

    def boxes_of(self, layout: int) -> list[tuple[int, int, Rect]]:
        """The boxes of a text: start, length (UTF-16 units of the shown text), bounds."""
        boxes = self.document.textBoxes
        at = bisect_left(boxes.layoutIndex, layout)  # they come in the order of the layout
        found: list[tuple[int, int, Rect]] = []
        while at < len(boxes.layoutIndex) and boxes.layoutIndex[at] == layout:
            found.append((boxes.start[at], boxes.length[at], boxes.bounds[at]))
            at += 1
        return found
