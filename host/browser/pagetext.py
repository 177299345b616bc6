"""Reads the text of a page through its guards: every frame, lent or not, and the exact rectangles of what was found."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from host.browser.frames import Guarded
from host.browser.pageranges import RANGES
from host.browser.session import Session
from host.cdp.connection import CdpFailure, Connection, ConnectionGone, failure
from host.core.limits import MIB
from host.core.page.blocks import Owner
from host.core.page.model import PageBuilder, PageDocument, PageText, Wanted, exact, in_picture, wanted, whole
from host.core.page.shape import Affine, frame_map, meet
from host.core.page.snapshot import CAPTURE, Rect, Snapshot, Tree, decode
from host.core.redaction import Box, Found, Mark
from host.redact.failure import NotChecked

SNAPSHOT_BYTES = 64 * MIB
READ_TIMEOUT_S = 10.0
MARKS_TIMEOUT_S = 10.0
OBJECTS = "capsdk"
FRAMES_DEEP = 32
Rects = list[list[float]]


async def read(session: Session, area: Box | None = None, *, timeout_s: float = READ_TIMEOUT_S) -> PageText:
    """The text of what `area` shows: CSS pixels of the page's viewport, which it is by default.

    Raises NotChecked, with the step `snapshot` for the page or `frame` for a frame of it, when one cannot be read in
    time; ConnectionGone when Chromium ended.
    """
    reading = _Reading(session, asyncio.get_running_loop().time() + timeout_s)
    return await reading.read(area)


class _SnapshotReply:
    """A snapshot of a long page is longer than any other reply may be."""

    def __init__(self) -> None:
        self.max_bytes = SNAPSHOT_BYTES
        self.future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def answered(self, result: bytes) -> None:
        if not self.future.done():
            self.future.set_result(result)

    def refused(self, error: bytes) -> None:
        self._fail(failure(error))

    def too_large(self, size_bytes: int) -> None:
        self._fail(CdpFailure(0, f"the page's description has {size_bytes} bytes of at most {SNAPSHOT_BYTES}"))

    def gone(self) -> None:
        self._fail(ConnectionGone())

    def _fail(self, problem: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(problem)
            self.future.exception()  # a frame out of sight is not waited for


def _capture(connection: Connection, guard: str) -> asyncio.Future[bytes]:
    reply = _SnapshotReply()
    try:
        connection.post("DOMSnapshot.captureSnapshot", msgspec.json.encode(CAPTURE), guard, reply)
    except ConnectionGone:
        reply.gone()
    return reply.future


class _Shown(NamedTuple):
    """A document that is shown: in whose snapshot it is, and how to get from its viewport to the root's.

    `local` is the way to the viewport of its local root, the topmost frame of its process here: in those pixels
    Chromium tells quads. `view` is what may be seen of it, in the root's viewport.
    """

    tree: Tree
    snapshot: Snapshot
    guard: str
    local: Affine
    to_root: Affine
    view: Rect


@dataclass(slots=True)
class _Frame:
    """A frame in another process, asked for already."""

    guarded: Guarded
    snapshot: asyncio.Future[bytes]
    owner: asyncio.Future[dict[str, Any]]


@dataclass(slots=True)
class _Reading:
    session: Session
    deadline: float
    frames: list[_Frame] = field(default_factory=list)

    async def read(self, area: Box | None) -> PageText:
        connection, page = self.session.connection, self.session.page.guard
        snapshot = _capture(connection, page)
        self.frames = [
            _Frame(
                one,
                _capture(connection, one.guard),
                connection.start("DOM.getFrameOwner", {"frameId": one.frame_id}, one.parent),
            )
            for one in self.session.frames.guards()
            if not self._crashed(one.guard)
        ]
        root = decode(await self._wait(snapshot, "snapshot"))
        if not root.documents:
            raise NotChecked("snapshot", "the page has no document; wait until it is loaded, then ask once more")
        tree = Tree(root.documents[0], root.strings)
        seen = (0.0, 0.0, *tree.viewport[2:]) if area is None else (area.x, area.y, area.width, area.height)
        builder = PageBuilder(seen)
        await self._documents(builder, [_Shown(tree, root, page, Affine(), Affine(), seen)])
        return builder.finish()

    async def _documents(self, builder: PageBuilder, level: list[_Shown]) -> None:
        """The documents of one depth, then those in their frames."""
        for _ in range(FRAMES_DEEP):
            owners: list[tuple[_Shown, int, Owner, asyncio.Future[dict[str, Any]]]] = []
            for shown in level:
                number = len(builder.page.documents)
                flow = builder.add(shown.tree, shown.guard, shown.to_root, shown.view)
                for owner in flow.owners:
                    which = {"backendNodeId": shown.tree.document.nodes.backendNodeId[owner.node]}
                    quads = self.session.connection.start("DOM.getBoxModel", which, shown.guard)
                    owners.append((shown, number, owner, quads))
            level = []
            for shown, number, owner, quads in owners:
                inner = await self._inner(shown, owner, quads)
                if inner is not None:
                    level.append(inner)
                else:
                    builder.unread(owner.bounds if owner.clip is None else meet(owner.bounds, owner.clip), number)
            if not level:
                return
        raise NotChecked("frame", f"the page has frames more than {FRAMES_DEEP} deep; ask for a part without them")

    async def _inner(self, shown: _Shown, owner: Owner, quads: asyncio.Future[dict[str, Any]]) -> _Shown | None:
        """The document that an element shows, None where none can be read."""
        number, snapshot, guard = shown.tree.child_documents.get(owner.node), shown.snapshot, shown.guard
        if number is None:
            frame = await self._frame_of(guard, shown.tree.document.nodes.backendNodeId[owner.node])
            if frame is None:
                return None
            snapshot, guard, number = decode(await self._wait(frame.snapshot, "frame")), frame.guarded.guard, 0
        model = (await self._wait(quads, "frame"))["model"]
        tree = Tree(snapshot.documents[number], snapshot.strings)
        x, y, width, height = owner.bounds
        bounds = (x - shown.tree.viewport[0], y - shown.tree.viewport[1], width, height)
        local = frame_map(tree.viewport[2:], model["content"], model["border"], bounds, shown.local)
        back = shown.local.inverse()
        if local is None or back is None:
            return None
        to_root = local.then(back).then(shown.to_root)
        view = meet(to_root.rect((0.0, 0.0, *tree.viewport[2:])), shown.view)
        if owner.clip is not None:
            clip_x, clip_y, clip_width, clip_height = owner.clip
            clip = (clip_x - shown.tree.viewport[0], clip_y - shown.tree.viewport[1], clip_width, clip_height)
            view = meet(view, shown.to_root.rect(clip))
        return _Shown(tree, snapshot, guard, local if guard == shown.guard else Affine(), to_root, view)

    def _crashed(self, guard: str) -> bool:
        """Is there nothing to read, and nobody to tell so? Chromium shows a sad face there."""
        channel = self.session.by_cdp.get(guard)
        return channel is not None and channel.crashed

    async def _frame_of(self, guard: str, owner: int) -> _Frame | None:
        """The frame in another process that an element shows. Only those around what is seen are waited for."""
        for frame in self.frames:
            if frame.guarded.parent == guard:
                done, _ = await asyncio.wait((frame.owner,), timeout=self._left_s())
                if done and frame.owner.exception() is None and frame.owner.result()["backendNodeId"] == owner:
                    return frame
        return None

    async def _wait(self, reply: asyncio.Future[Any], step: str) -> Any:
        """The outcome of a command. Raises NotChecked."""
        done, _ = await asyncio.wait((reply,), timeout=self._left_s())
        if not done:
            raise NotChecked(step, "its text did not come in time; wait until it is loaded, then ask once more")
        try:
            return reply.result()
        except CdpFailure as problem:
            raise NotChecked(step, f"Chromium would not tell its text ({problem}); ask once more") from None

    def _left_s(self) -> float:
        return max(0.0, self.deadline - asyncio.get_running_loop().time())


async def marks(
    session: Session, page: PageText, found: Sequence[Sequence[Found]], *, timeout_s: float = MARKS_TIMEOUT_S
) -> list[Mark]:
    """The bars for what was found in `page.texts` (a list for each), and those that are due without: `page.bars`.

    Where the page does not tell exact rectangles, a bar covers all that the text's node shows. Raises NotChecked with
    the step `rects` when a frame does not answer in time; ConnectionGone when Chromium ended.
    """
    bars, asked = list(page.bars), dict[int, list[Wanted]]()
    for one in wanted(page, found):
        place = page.places[one.place]
        if not in_picture(page, one):
            continue
        if (place.exact or place.source == "field") and page.documents[place.document].guard:
            asked.setdefault(place.document, []).append(one)
        else:
            bars += whole(page, one)
    try:
        async with asyncio.timeout(timeout_s):
            told = await asyncio.gather(
                *(_document_marks(session, page, number, ones) for number, ones in asked.items())
            )
    except TimeoutError:
        raise NotChecked(
            "rects", "a frame did not tell in time where its text is; ask once more when it is idle"
        ) from None
    for some in told:
        bars += some
    return list(dict.fromkeys(bars))


async def _document_marks(session: Session, page: PageText, number: int, ones: list[Wanted]) -> list[Mark]:
    """The bars of one document: its ranges come in one answer."""
    try:
        told, zoom = await _rects(session, page, number, ones)
    except CdpFailure:  # the document is not what it was: the readings before and after will differ, too
        return [mark for one in ones for mark in whole(page, one)]
    return [mark for one, rects in zip(ones, told, strict=True) for mark in exact(page, one, rects, zoom)]


async def _rects(session: Session, page: PageText, number: int, ones: list[Wanted]) -> tuple[list[Rects | None], float]:
    """Rectangles for each range, and what makes the document's pixels those of the snapshot. Raises CdpFailure."""
    connection, document = session.connection, page.documents[number]
    places = list(dict.fromkeys(one.place for one in ones))
    context = await session.worlds.of(connection, document.guard, document.frame_id)
    try:
        return await _rects_in(connection, page, number, ones, places, context)
    finally:
        connection.start("Runtime.releaseObjectGroup", {"objectGroup": OBJECTS}, document.guard)


async def _rects_in(
    connection: Connection, page: PageText, number: int, ones: list[Wanted], places: list[int], context: int
) -> tuple[list[Rects | None], float]:
    document = page.documents[number]
    nodes = await asyncio.gather(
        *(
            connection.start(
                "DOM.resolveNode",
                {
                    "backendNodeId": page.places[place].backend_id,
                    "executionContextId": context,
                    "objectGroup": OBJECTS,
                },
                document.guard,
            )
            for place in places
        ),
        return_exceptions=True,
    )
    if any(isinstance(node, ConnectionGone) for node in nodes):
        raise ConnectionGone
    there = [place for place, node in zip(places, nodes, strict=True) if isinstance(node, dict)]
    ranges = {place: [one for one in ones if one.place == place] for place in there}
    asked = [
        [[one.start, one.end] if page.places[place].exact else None for one in some] for place, some in ranges.items()
    ]
    arguments: list[dict[str, Any]] = [{"value": asked}]
    arguments += [{"objectId": node["object"]["objectId"]} for node in nodes if isinstance(node, dict)]
    call = {
        "functionDeclaration": RANGES,
        "executionContextId": context,
        "arguments": arguments,
        "returnByValue": True,
        "silent": True,
    }
    reply = await connection.start("Runtime.callFunctionOn", call, document.guard)
    return _told(reply, document, ones, ranges)


def _told(
    reply: dict[str, Any], document: PageDocument, ones: list[Wanted], ranges: dict[int, list[Wanted]]
) -> tuple[list[Rects | None], float]:
    """What the page told, in the order of `ones`; None for what it did not tell. Raises CdpFailure."""
    value = reply.get("result", {}).get("value")
    if "exceptionDetails" in reply or not isinstance(value, list) or len(value) != 3:
        raise CdpFailure(0, "the page told no rectangles")
    inner_width, inner_height, told = value
    rects: dict[Wanted, Rects | None] = {}
    for some, found in zip(ranges.values(), told, strict=True):
        rects.update(zip(some, found, strict=True))
    return [rects.get(one) for one in ones], _zoom(document, inner_width, inner_height)


def _zoom(document: PageDocument, inner_width: float, inner_height: float) -> float:
    """A frame whose owner is zoomed counts in larger pixels than its snapshot does; whole sizes hide the fraction."""
    sizes = ((document.width, inner_width), (document.height, inner_height))
    told, counted = max(sizes)
    zoom = told / counted if counted > 0 else 1.0
    return 1.0 if abs(zoom - 1.0) < 0.01 else zoom
