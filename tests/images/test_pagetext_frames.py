"""Frames of other sites, lent or not: their text is read where a person sees it, and one that is silent is an error."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from host.browser.pagetext import marks, read
from host.redact.failure import NotChecked
from tests.images.inked import STYLE, Ink, find, inked, session_of
from tests.support.origin_world import PAINTED, Tab, World, open_world, until

pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="module")]
HEAD = f"<!doctype html><meta charset=utf-8>{STYLE}"
INSIDE = "<h>in</h> <s>ann@example.test</s> <h>here</h>"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[World]:
    async with open_world() as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def world(shared: World) -> AsyncIterator[World]:
    yield shared
    await shared.leave()


async def framed(world: World, outer: str, *, inside: str = INSIDE, origins: tuple[str, ...] = ()) -> Tab:
    """A page of the shop with a frame of the mail, whose guard is there and whose text is drawn."""
    frame = world.sites.put("{mail}/inside", HEAD + inside)
    tab = await world.open(world.sites.put("{shop}/outer", HEAD + outer.replace("FRAME", frame)), origins)
    await tab.js(PAINTED)
    await until(lambda: readable(tab), "the frame's text")
    return tab


async def readable(tab: Tab) -> bool:
    page = await read(session_of(tab))
    return not page.unread and sum(len(texts) for texts in find(page.texts)) > 0


async def settled(tab: Tab) -> Ink:
    """The inks, once the frame is drawn."""
    for _ in range(20):
        ink, _, _ = await inked(session_of(tab))
        if ink.private > 20:
            break
        await asyncio.sleep(0.1)
    return ink


FRAMES = (  # page, inside, scroll of the frame
    pytest.param("<iframe src=FRAME></iframe>", INSIDE, "", id="plain"),
    pytest.param(
        "<div style='height:40px'></div><iframe style='border:7px solid #ddd;padding:9px;zoom:1.5' src=FRAME></iframe>",
        INSIDE,
        "",
        id="zoomed-with-border",
    ),
    pytest.param(
        "<iframe style='transform:rotate(-8deg) scale(1.2);margin:70px' src=FRAME></iframe>", INSIDE, "", id="rotated"
    ),
    pytest.param(
        "<iframe src=FRAME></iframe>",
        f"<div style='height:300px'></div>{INSIDE}<div style='height:900px'></div>",
        "scrollTo(0, 260)",
        id="scrolled-inside",
    ),
    pytest.param(
        "<div style='height:80px;width:220px;overflow:hidden'><iframe style='margin-top:-20px' src=FRAME></iframe>"
        "</div><h>below the box</h>",
        f"<div style='height:20px'></div>{INSIDE}<div style='height:50px'></div><s>eve@example.test</s>",
        "",
        id="clipped",
    ),
    pytest.param(
        "<iframe width=600 height=300 src=FRAME></iframe>",
        "<iframe style='margin:30px;zoom:1.25' src='{cdn}/deep'></iframe>",
        "",
        id="three-sites-deep",
    ),
    pytest.param(
        "<iframe width=600 height=300 src=FRAME></iframe>",
        "<iframe style='margin:20px' srcdoc='<style>p{color:#f0f}</style><p>ann@example.test'></iframe>",
        "",
        id="a-frame-of-its-own-inside",
    ),
)


@pytest.mark.parametrize("origins", [(), ("shop",)], ids=["lent", "not-lent"])
@pytest.mark.parametrize(("outer", "inside", "scroll"), FRAMES)
async def test_text_of_another_site_is_barred_where_it_is_seen(
    world: World, outer: str, inside: str, scroll: str, origins: tuple[str, ...]
) -> None:
    world.sites.put("{cdn}/deep", HEAD + INSIDE)
    script = f"<script>onload = () => {{ {scroll} }}</script>" if scroll else ""
    tab = await framed(world, outer, inside=world.sites.filled(inside) + script, origins=origins)
    ink = await settled(tab)
    assert ink.private > 20
    assert ink.private_barred == ink.private, ink
    assert ink.harmless_barred <= 0.03 * ink.harmless, ink
    assert len(session_of(tab).frames.guards()) >= 1
    assert (len(list(session_of(tab).frames)) == 0) == bool(origins)


async def test_at_device_scale_2_the_boxes_of_a_frame_are_right(world: World) -> None:
    tab = await framed(world, "<p><s>eve@example.test</s></p><iframe style='zoom:1.5' src=FRAME></iframe>")
    session = session_of(tab)
    scale = {"width": 700, "height": 500, "deviceScaleFactor": 2, "mobile": False}
    await session.connection.start("Emulation.setDeviceMetricsOverride", scale, session.page.guard)
    await tab.js(PAINTED)
    ink = await settled(tab)
    assert ink.private > 2000  # four times as many pixels
    assert ink.private_barred == ink.private
    assert ink.harmless_barred <= 0.03 * ink.harmless


BUSY = (
    "<script>addEventListener('message', () => { const end = Date.now() + 1500; while (Date.now() < end); })</script>"
)


@pytest.mark.parametrize(
    ("style", "step"), [("", "frame"), ("position:absolute;top:4000px", "")], ids=["seen", "out-of-sight"]
)
async def test_a_frame_that_does_not_answer_is_an_error_only_where_it_is_seen(
    world: World, style: str, step: str
) -> None:
    tab = await framed(world, "<s>eve@example.test</s><iframe id=f src=FRAME></iframe>", inside=INSIDE + BUSY)
    await tab.js(f"f.style = '{style}', f.contentWindow.postMessage(1, '*'), 1")
    await asyncio.sleep(0.1)
    start, found = time.monotonic(), ""
    try:
        page = await read(session_of(tab), timeout_s=0.5)
        assert [mark.type for mark in await marks(session_of(tab), page, find(page.texts))] == ["EMAIL"]
    except NotChecked as problem:
        found = problem.step
    assert found == step
    assert time.monotonic() - start < 1.2


async def test_a_page_that_does_not_answer_is_an_error(world: World) -> None:
    tab = await framed(world, "<iframe src=FRAME></iframe>")
    await tab.js("setTimeout(() => { const end = Date.now() + 1000; while (Date.now() < end); }, 0), 1")
    await asyncio.sleep(0.1)
    with pytest.raises(NotChecked) as caught:
        await read(session_of(tab), timeout_s=0.3)
    assert caught.value.step == "snapshot"


async def test_a_page_that_does_not_tell_rectangles_in_time_is_an_error(world: World) -> None:
    tab = await framed(world, "<s>eve@example.test</s><iframe src=FRAME></iframe>")
    session = session_of(tab)
    page = await read(session)
    await tab.js("setTimeout(() => { const end = Date.now() + 800; while (Date.now() < end); }, 0), 1")
    await asyncio.sleep(0.1)
    with pytest.raises(NotChecked) as caught:
        await marks(session, page, find(page.texts), timeout_s=0.3)
    assert caught.value.step == "rects"
    assert len(await marks(session, page, find(page.texts))) == 2


async def test_a_frame_that_comes_and_goes_is_no_longer_among_the_guards(world: World) -> None:
    tab = await framed(world, "<iframe id=f src=FRAME></iframe>", origins=("shop",))
    frames = session_of(tab).frames
    assert [one.parent for one in frames.guards()] == [session_of(tab).page.guard]
    await tab.js("f.remove()")

    async def gone() -> bool:
        return frames.guards() == []

    await until(gone, "the guard's end")
    assert [text.text for text in (await read(session_of(tab))).texts] == []


async def test_a_frame_inside_one_that_is_not_lent_goes_with_it(world: World) -> None:
    world.sites.put("{cdn}/deep", HEAD + INSIDE)
    inside = world.sites.filled("<iframe id=g src='{cdn}/deep'></iframe><script>onmessage = () => g.remove()</script>")
    tab = await framed(world, "<iframe id=f src=FRAME></iframe>", inside=inside, origins=("shop",))
    frames = session_of(tab).frames
    assert len(frames.guards()) == 2
    await tab.js("f.contentWindow.postMessage(1, '*'), 1")

    async def one_left() -> bool:
        return len(frames.guards()) == 1

    await until(one_left, "the end of the inner guard")


async def test_a_frame_whose_process_is_gone_is_told_as_unread(world: World) -> None:
    tab = await framed(world, "<s>eve@example.test</s><br><iframe width=200 height=90 id=f src=FRAME></iframe>")
    session = session_of(tab)
    (frame,) = list(session.frames)
    session.connection.start("Page.crash", {}, frame.guard)

    async def crashed() -> bool:
        return frame.crashed

    await until(crashed, "the end of the frame's process")
    page = await read(session, timeout_s=2.0)
    assert [(box.width, box.height) for box in page.unread] == [(204.0, 94.0)]
    assert len(await marks(session, page, find(page.texts))) == 1


async def test_a_frame_that_nobody_can_read_is_told_as_unread(world: World) -> None:
    tab = await framed(world, "<iframe width=200 height=90 id=f src=FRAME></iframe>")
    session = session_of(tab)
    assert (await read(session)).unread == []
    guards, session.frames.guards = session.frames.guards, list  # type: ignore[method-assign]
    try:
        boxes = (await read(session)).unread
    finally:
        session.frames.guards = guards  # type: ignore[method-assign]
    assert [(box.width, box.height) for box in boxes] == [(204.0, 94.0)]
