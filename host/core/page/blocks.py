"""What reading a document yields: blocks of text with the places they are shown at, pictures, and frames."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from host.core.page.run import Look, Place, Run
from host.core.page.snapshot import Rect
from host.core.redaction import MediaKind, TextKind


@dataclass(slots=True)
class Block:
    """A text that is read in one go, with the element around it: `owner`. `line` is its line height in pixels.

    `is_label` says that it speaks for the text beside it and looks so, `is_named` that the one beside it speaks for it;
    `is_heading` that it speaks for those below it, `is_cell` that it stands in a column with a head;
    `is_control` that it is what a field or a button shows.
    """

    run: Run
    owner: int
    bounds: Rect
    line: float
    look: Look
    kind: TextKind = "text"
    hints: list[str] = field(default_factory=list)
    is_label: bool = False
    is_heading: bool = False
    is_cell: bool = False
    is_named: bool = False
    is_control: bool = False


class Region(NamedTuple):
    """Something to see that is no text; `rect` is the part that is shown."""

    node: int
    rect: Rect
    kind: MediaKind


class Owner(NamedTuple):
    """An element that shows another document: `bounds` are its own, `clip` what may be seen of it."""

    node: int
    bounds: Rect
    clip: Rect | None


@dataclass(slots=True)
class Flow:
    """What was read of one document; rectangles are from its own corner."""

    blocks: list[Block] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    barred: list[tuple[str, Rect]] = field(default_factory=list)  # whatever is in them, by type
    media: list[Region] = field(default_factory=list)
    owners: list[Owner] = field(default_factory=list)
    surfaces: list[tuple[Rect, str]] = field(default_factory=list)  # what may hide a text, and how far it is opaque
