"""The text of a page with the places it is shown at, over all its frames: what to look through, and what to bar."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from host.core.page.blocks import Flow
from host.core.page.flow import read_flow
from host.core.page.hints import give_hints, named_parts
from host.core.page.join import join_neighbours, split_by_look
from host.core.page.run import Piece, Place, Run, units
from host.core.page.shape import Affine, box, grown, holds, meet, moved
from host.core.page.snapshot import Rect, Tree
from host.core.redaction import Box, Found, Mark, Media, Text, TextKind

SLACK_PX = 3.0  # by how much a range may leave the bounds of its node: parts of letters do


@dataclass(frozen=True, slots=True)
class PageDocument:
    """One document of a page. `to_picture` maps from its corner, `view` is what the picture shows of it.

    `guard` is the CDP session that reads it, "" where nobody can ask it for ranges.
    """

    guard: str
    frame_id: str
    to_picture: Affine
    view: Rect
    width: float
    height: float
    scroll_x: float
    scroll_y: float

    def seen(self, rect: Rect, clip: Rect | None = None) -> Rect:
        """What the picture shows of a rectangle of the document."""
        shown = meet(self.to_picture.rect(rect), self.view)
        return shown if clip is None else meet(shown, self.to_picture.rect(clip))


@dataclass(slots=True)
class PageText:
    """What can be read in a part of a page; all boxes are CSS pixels from the corner of that part, `area`.

    `texts` hold what to look through, in reading order; short neighbours come once more, joined. `bars` are barred
    whatever is found, `media` and `unread` hold what no document tells. `fingerprint` is equal for two readings of a
    page that did not change.
    """

    area: Box
    texts: list[Text] = field(default_factory=list)
    media: list[Media] = field(default_factory=list)
    bars: list[Mark] = field(default_factory=list)
    unread: list[Box] = field(default_factory=list)
    fingerprint: str = ""
    content_width: float = 0.0
    content_height: float = 0.0
    scroll_x: float = 0.0
    scroll_y: float = 0.0
    pieces: list[list[Piece]] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    documents: list[PageDocument] = field(default_factory=list)


class Wanted(NamedTuple):
    """A range of a place to be barred; `start` and `end` are UTF-16 offsets into its node."""

    place: int
    type: str
    start: int
    end: int


class PageBuilder:
    """Puts the documents of a page together; `area` is in CSS pixels of the root's viewport."""

    def __init__(self, area: Rect) -> None:
        self.page = PageText(box(area))
        self._area = area
        self._hash = blake2b(digest_size=16)

    def add(self, tree: Tree, guard: str, to_root: Affine, view: Rect) -> Flow:
        """Read one document. `to_root` maps its viewport to the root's, `view` is what may be seen of it there."""
        page, (scroll_x, scroll_y, width, height) = self.page, tree.viewport
        view = meet(view, self._area)
        from_corner = moved(-scroll_x, -scroll_y).then(to_root)
        back = from_corner.inverse()
        if back is None or min(view[2:]) <= 0:
            return Flow()
        flow = read_flow(tree, back.rect(view))
        to_picture = from_corner.then(moved(-self._area[0], -self._area[1]))
        in_picture = (view[0] - self._area[0], view[1] - self._area[1], view[2], view[3])
        document = PageDocument(guard, tree.frame_id, to_picture, in_picture, width, height, scroll_x, scroll_y)
        page.documents.append(document)
        self._take(tree, document, flow)
        if len(page.documents) == 1:
            page.content_width, page.content_height = tree.document.contentWidth, tree.document.contentHeight
            page.scroll_x, page.scroll_y = scroll_x, scroll_y
        return flow

    def unread(self, rect: Rect, document: int) -> None:
        """Something of a document that shows another one, which cannot be read."""
        seen = self.page.documents[document].seen(rect)
        if min(seen[2:]) > 0:
            self.page.unread.append(box(seen))

    def finish(self) -> PageText:
        """The page, once all documents are in it."""
        self._hash.update(msgspec.json.encode((self._area, self.page.unread)))
        self.page.fingerprint = self._hash.hexdigest()
        return self.page

    def _take(self, tree: Tree, document: PageDocument, flow: Flow) -> None:
        page, shift = self.page, len(self.page.places)
        for place in flow.places:
            place.document = len(page.documents) - 1
        page.places += flow.places
        give_hints(tree, flow.blocks, flow.places)
        for block in flow.blocks:
            self._text(block.run, block.hints, block.kind, shift)
        parts = (*split_by_look(flow.blocks, flow.places), *named_parts(tree, flow.blocks, flow.places))
        for joined in (*join_neighbours(flow.blocks), *parts):
            self._text(joined.run, joined.hints, joined.kind, shift)
        for kind, rect in flow.barred:
            seen = document.seen(rect)
            if min(seen[2:]) > 0:
                page.bars.append(Mark(kind, "field", box(seen)))
        for region in flow.media:
            seen = document.seen(region.rect)
            if min(seen[2:]) > 0:
                page.media.append(Media(box(seen), region.kind))
        page.media = list(dict.fromkeys(page.media))
        self._hash.update(_told(document, flow))

    def _text(self, run: Run, hints: Sequence[str], kind: TextKind, shift: int) -> None:
        self.page.texts.append(Text(run.text, hint="; ".join(hints), kind=kind))
        self.page.pieces.append([piece._replace(place=piece.place + shift) for piece in run.pieces])


def _told(document: PageDocument, flow: Flow) -> bytes:
    """All that was read of a document, as bytes to compare."""
    told = (
        document.frame_id,
        [round(number, 3) for number in (*document.to_picture, *document.view)],
        [(block.run.text, block.hints) for block in flow.blocks],
        [(place.backend_id, place.text, place.bounds, place.boxes, place.clip) for place in flow.places],
        (flow.barred, flow.media, flow.surfaces, [(owner.bounds, owner.clip) for owner in flow.owners]),
    )
    try:
        return msgspec.json.encode(told)
    except UnicodeEncodeError:  # half surrogates
        return repr(told).encode("utf-8", "surrogatepass")


def wanted(page: PageText, found: Sequence[Sequence[Found]]) -> list[Wanted]:
    """The ranges of places that were found, each once. Raises ValueError when `found` is not about these texts."""
    ranges: dict[tuple[int, str], list[tuple[int, int]]] = {}
    for pieces, ones in zip(page.pieces, found, strict=True):
        for one in ones:
            for piece in pieces:
                if piece.start < one.end and piece.end > one.start:
                    ranges.setdefault((piece.place, one.type), []).append(_part(piece, one))
    return [
        Wanted(place, kind, units(page.places[place].text, first), units(page.places[place].text, last))
        for (place, kind), parts in ranges.items()
        for first, last in _merged(parts)
    ]


def _part(piece: Piece, one: Found) -> tuple[int, int]:
    if piece.end - piece.start != piece.last - piece.first:
        return (piece.first, piece.last)
    return (
        piece.first + max(0, one.start - piece.start),
        piece.last - max(0, piece.end - one.end),
    )


def _merged(parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(parts):
        if merged and first <= merged[-1][1] + 1:  # one dropped or collapsed character between them is no gap
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged


def whole(page: PageText, one: Wanted) -> list[Mark]:
    """Bars for a place that cannot be asked for exact ranges: the boxes that the range meets, or all of it."""
    place = page.places[one.place]
    if place.vague:
        return _marks(page, one, [place.bounds])
    boxes = [
        rect
        for start, length, rect in place.boxes
        if place.exact or (start < one.end and start + length > one.start)  # an exact one's boxes count otherwise
    ]
    return _marks(page, one, boxes or [place.bounds])


def exact(page: PageText, one: Wanted, rects: Sequence[Sequence[float]] | None, zoom: float) -> list[Mark]:
    """Bars for a range as its page told it, in pixels of its viewport that `zoom` makes those of the snapshot.

    None is told where the page does not know, nothing where something hides the text. What does not look like a part of
    the place bars all of it.
    """
    place, found = page.places[one.place], list[Rect]()
    if rects is None:
        return whole(page, one)
    document = page.documents[place.document]
    for rect in rects:
        if len(rect) != 4 or not all(isinstance(number, (int, float)) and math.isfinite(number) for number in rect):
            return whole(page, one)
        x, y, width, height = (number * zoom for number in rect)
        moved_rect = (x + document.scroll_x, y + document.scroll_y, width, height)
        if not (place.vague or holds(grown(place.bounds, 0.25 * height), moved_rect, SLACK_PX)):
            return whole(page, one)
        found.append(moved_rect)
    return _marks(page, one, found)


def _marks(page: PageText, one: Wanted, rects: Sequence[Rect]) -> list[Mark]:
    place = page.places[one.place]
    document = page.documents[place.document]
    shown = [*rects, *(copy.rect(rect) for copy in place.copies for rect in rects)]
    seen = [document.seen(rect, place.clip) for rect in shown]
    return [Mark(one.type, place.source, box(rect)) for rect in seen if min(rect[2:]) > 0]


def in_picture(page: PageText, one: Wanted) -> bool:
    """Does the picture show any of the place?"""
    place = page.places[one.place]
    document, shown = page.documents[place.document], [copy.rect(place.bounds) for copy in place.copies]
    return any(min(document.seen(rect, place.clip)[2:]) > 0 for rect in (place.bounds, *shown))
