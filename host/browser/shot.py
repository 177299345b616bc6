"""Takes a picture of a lent tab with its text, while the page is held still; nothing of it is shown to anybody yet."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from host.browser.pagetext import marks, read
from host.browser.session import Session
from host.cdp.connection import CdpFailure, ConnectionGone
from host.core.page.model import PageText, wanted
from host.core.page.run import Place
from host.core.redaction import Box, Found, Mark, Media, Text
from host.redact.failure import NotChecked

# Between three tries. What moves comes to rest; then what ticks has just ticked, and leaves the most time now.
TRIES_PAUSE_S = (0.3, 0.0)
TILE_PX = 4000  # of the device; textures end at 16,384, and a software renderer takes memory for each
PINCH_SLACK = 1e-3
SCROLL_LOOKS, SCROLL_PAUSE_S = 24, 0.06
LOOK_PAUSES_S = (0.0, 0.1, 0.4)
LEAST_SCREENCAST = {"format": "jpeg", "quality": 1, "maxWidth": 16, "maxHeight": 16, "everyNthFrame": 1000}
MOST_REPLY_BYTES = 48 << 20
VIEW = (
    "[innerWidth, innerHeight, devicePixelRatio, scrollX, scrollY, visualViewport.scale,"
    " Math.max(document.documentElement?.scrollWidth ?? 0, innerWidth),"
    " Math.max(document.documentElement?.scrollHeight ?? 0, document.body?.scrollHeight ?? 0, innerHeight),"
    " document.hidden ? 1 : 0]"
)

# What of a view the capture itself may change: it ends the zoom where the app has set no screen.
NOT_LAYOUT = ("page_width", "page_height", "hidden", "pinched")

T = TypeVar("T")
Find = Callable[[Sequence[Text]], Awaitable[list[list[Found]]]]


@dataclass(frozen=True, slots=True)
class View:
    """What of the page the window shows; CSS pixels. `scale` is device pixels to one of them.

    `pinched`: it is zoomed without a new layout, as a phone does with a page that is too wide. A capture with a clip
    shows all of the window without that zoom. Observed with Chromium 156.
    """

    width: float
    height: float
    scale: float
    scroll_x: float
    scroll_y: float
    page_width: float
    page_height: float
    hidden: bool
    pinched: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which part: the window, the whole page, or `clip` of either. `most_pixels` bounds what is captured."""

    full_page: bool
    clip: Box | None
    most_pixels: int


@dataclass(frozen=True, slots=True)
class Shot:
    """PNG tiles from the top down, with the boxes of what is private. All boxes are relative to the picture."""

    tiles: list[bytes]
    width: float
    height: float
    scale: float
    bars: list[Mark]
    media: list[Media]
    texts: int
    digest: bytes


async def take(session: Session, asked: Wanted, seen: bytes | None, find: Find) -> Shot | None:
    """A picture and what is private in it; None when it looks exactly as `seen`, the digest of an earlier one.

    Raises NotChecked, and whatever `find` raises.
    """
    try:
        view = await look(session)
        async with held_still(session), awake(session, view.hidden):
            view = await _ready(session, view)
            for pause_s in (*TRIES_PAUSE_S, None):
                shot, same = await _once(session, asked, view, seen, find)
                if same:
                    return None
                if shot is not None:
                    return shot
                if pause_s is not None:
                    await asyncio.sleep(pause_s)
                    view = await (_ready if pause_s else _settled)(session, view)
    except (CdpFailure, ConnectionGone) as problem:
        raise NotChecked("page", str(problem)[:200] or "the tab is gone") from None
    raise NotChecked("changing", "the page was not the same before and after the picture, three times")


async def _once(
    session: Session, asked: Wanted, view: View, seen: bytes | None, find: Find
) -> tuple[Shot | None, bool]:
    """One try: read, capture, find, read again. No shot when the page changed meanwhile."""
    area = area_of(asked, view)
    before = await read(session, seen_box(area, view))
    finding = asyncio.ensure_future(_found(before, find))
    try:
        tiles = await _capture(session, area, view)
        digest = hashlib.blake2b(b"".join(tiles), digest_size=16).digest()
        if digest == seen:
            return None, True
        after = await read(session, seen_box(area, view))
        if after.fingerprint != before.fingerprint:
            return None, False
        found = await finding
    finally:
        finding.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await finding
    bars = await marks(session, before, found)
    if not await _still_there(session, before, found, area, view):
        return None, False
    media = [*before.media, *(Media(box, "plugin") for box in before.unread)]  # what has no DOM is read as pixels
    shot = Shot(tiles, area.width, area.height, view.scale, bars, media, len(before.texts), digest)
    return shot, False


async def _still_there(session: Session, page: PageText, found: list[list[Found]], area: Box, view: View) -> bool:
    """Are the nodes with something private where they were in the picture? A clock beside them may go on."""
    now_seen = await look(session)
    if replace(now_seen, **{name: getattr(view, name) for name in NOT_LAYOUT}) != view:
        return False
    barred = {_facts(page, page.places[one.place]) for one in wanted(page, found)}
    if not barred:
        return True
    now = await read(session, seen_box(area, view))
    return now.fingerprint == page.fingerprint or barred <= {_facts(now, place) for place in now.places}


def _facts(page: PageText, place: Place) -> tuple[object, ...]:
    document = page.documents[place.document]
    where = (document.frame_id, tuple(document.to_picture), document.view)
    return (*where, place.backend_id, place.text, place.bounds, tuple(map(tuple, place.boxes)), place.clip)


async def _found(page: PageText, find: Find) -> list[list[Found]]:
    return await find(page.texts) if page.texts else []


def area_of(asked: Wanted, view: View) -> Box:
    """The part of the page to capture, in CSS pixels of the document. Raises NotChecked for one that is not there."""
    whole = (
        Box(0, 0, view.page_width, view.page_height)
        if asked.full_page
        else Box(view.scroll_x, view.scroll_y, view.width, view.height)
    )
    area = whole if asked.clip is None else _inside(asked.clip, whole)
    # Whole device pixels, so that every box lies where it is said to lie.
    left, top = math.floor(area.x * view.scale) / view.scale, math.floor(area.y * view.scale) / view.scale
    width = max(1, round(area.width * view.scale)) / view.scale
    height = max(1, round(area.height * view.scale)) / view.scale
    if view.pinched and _beyond(
        Box(left, top, width, height), view, 1 / view.scale
    ):  # the window would get another size for it
        raise NotChecked(
            "scale", "the page is zoomed by pinching; set Emulation.setPageScaleFactor to 1, or ask without fullPage"
        )
    pixels = round(width * view.scale) * round(height * view.scale)
    if pixels > asked.most_pixels:
        most = int(height * asked.most_pixels / pixels)
        raise NotChecked("size", f"it has {pixels} pixels and may have {asked.most_pixels}; a clip {most} high fits")
    return Box(left, top, width, height)


def _inside(clip: Box, whole: Box) -> Box:
    left, top = max(0.0, clip.x), max(0.0, clip.y)
    right, bottom = min(clip.x + clip.width, whole.width), min(clip.y + clip.height, whole.height)
    if right - left < 1 or bottom - top < 1:
        raise NotChecked("size", f"the clip is outside of what is shown, which is {whole.width:g} x {whole.height:g}")
    return Box(whole.x + left, whole.y + top, right - left, bottom - top)


def seen_box(area: Box, view: View) -> Box:
    """The captured part as the window's own coordinates say it."""
    return Box(area.x - view.scroll_x, area.y - view.scroll_y, area.width, area.height)


async def look(session: Session) -> View:
    """What the window shows right now. Raises NotChecked, CdpFailure, ConnectionGone."""
    facts = await _asked(session, session.page.facts.committed_loader)
    for pause_s in LOOK_PAUSES_S:  # the document was written anew, or another one is just coming
        if facts is not None:
            break
        await asyncio.sleep(pause_s)
        facts = await _asked(session, "")
    if facts is None:
        raise NotChecked("page", "it does not say how large it is")
    width, height, scale, scroll_x, scroll_y, pinch, page_width, page_height, hidden = facts
    if not (0 < width < 1e5 and 0 < height < 1e5 and 0.1 <= scale <= 8):
        raise NotChecked("size", f"a window of {width:g} x {height:g} at scale {scale:g}")
    pinched = abs(pinch - 1) > PINCH_SLACK
    return View(width, height, scale, scroll_x, scroll_y, page_width, page_height, bool(hidden), pinched)


async def _ready(session: Session, view: View) -> View:
    """What the window shows once the timers of a hidden tab have run that were held back.

    Chromium 156 lets them run as a capture begins. So one goes before: else each picture would come with a change.
    """
    if view.hidden:
        await _capture(session, Box(view.scroll_x, view.scroll_y, 1 / view.scale, 1 / view.scale), view)
    return await _settled(session, view)


async def _settled(session: Session, view: View) -> View:
    """What the window shows once it has not scrolled any more since `view`, or after some time."""
    for pause_s in (*(SCROLL_PAUSE_S,) * SCROLL_LOOKS, 0.0):
        now = await look(session)
        if (now.scroll_x, now.scroll_y) == (view.scroll_x, view.scroll_y):
            return now
        view = now
        await asyncio.sleep(pause_s)
    return view


async def _asked(session: Session, document: str) -> list[float] | None:
    """The numbers of `VIEW`, None while the document in the frame is none that can tell."""
    guard, frame_id = session.page.guard, session.page.target_id
    try:
        world = await _in_time(session, session.worlds.of(session.connection, guard, frame_id, document))
        ask = {"expression": VIEW, "contextId": world, "returnByValue": True, "timeout": 2000}
        made = await _call(session, "Runtime.evaluate", ask)
    except CdpFailure:
        return None
    facts = made.get("result", {}).get("value")
    told = isinstance(facts, list) and all(isinstance(one, int | float) and math.isfinite(one) for one in facts)
    return list(map(float, facts)) if told else None


def _beyond(area: Box, view: View, slack: float = 0.0) -> bool:
    return (
        area.x < view.scroll_x - slack
        or area.y < view.scroll_y - slack
        or area.x + area.width > view.scroll_x + view.width + slack
        or area.y + area.height > view.scroll_y + view.height + slack
    )


async def _capture(session: Session, area: Box, view: View) -> list[bytes]:
    beyond = _beyond(area, view)
    rows = max(1, math.ceil(area.height * view.scale / TILE_PX))
    step = math.ceil(area.height * view.scale / rows) / view.scale
    tiles = []
    for row in range(rows):
        top = row * step
        clip = {"x": area.x, "y": area.y + top, "width": area.width, "height": min(step, area.height - top), "scale": 1}
        params = {"format": "png", "optimizeForSpeed": True, "clip": clip, "captureBeyondViewport": beyond}
        # Of the app's own CDP session: any other would throw away the screen that the app has set with Emulation.
        made = await _call(session, "Page.captureScreenshot", params, session.page.app, limit_bytes=MOST_REPLY_BYTES)
        tiles.append(base64.b64decode(made["data"]))
    return tiles


async def _call(
    session: Session, method: str, params: dict[str, Any], cdp: str = "", limit_bytes: int | None = None
) -> dict[str, Any]:
    sent = session.connection.start(method, params, cdp or session.page.guard, limit_bytes=limit_bytes)
    return await _in_time(session, sent)


async def _in_time(session: Session, work: Awaitable[T]) -> T:
    limit_s = session.limits.command_timeout_s
    try:
        async with asyncio.timeout(limit_s):
            return await work
    except TimeoutError:
        raise NotChecked("page", f"it did not answer within {limit_s:g} s") from None


@contextlib.asynccontextmanager
async def awake(session: Session, hidden: bool) -> AsyncIterator[None]:
    """A tab behind another makes frames meanwhile. Observed with Chromium 156.

    Else it makes one only when something on it changes, and a picture waits for just that moment.
    """
    if hidden:
        session.connection.start("Page.startScreencast", dict(LEAST_SCREENCAST), session.page.guard)
    try:
        yield
    finally:
        if hidden:
            session.connection.start("Page.stopScreencast", {}, session.page.guard)


@contextlib.asynccontextmanager
async def held_still(session: Session) -> AsyncIterator[None]:
    """Animations and transitions stand still meanwhile, in the page and its frames; then they go on as before."""
    connection, guards = session.connection, [session.page.guard, *(one.guard for one in session.frames.guards())]
    rates = [(guard, connection.start("Animation.getPlaybackRate", {}, guard)) for guard in guards]
    for guard in guards:
        connection.start("Animation.enable", {}, guard)
        connection.start("Animation.setPlaybackRate", {"playbackRate": 0}, guard)
    try:
        yield
    finally:
        for guard, asked in rates:
            rate = 1.0
            if asked.done() and not asked.cancelled() and asked.exception() is None:
                rate = asked.result().get("playbackRate", 1.0)
            connection.start("Animation.setPlaybackRate", {"playbackRate": rate}, guard)
            connection.start("Animation.disable", {}, guard)
