"""`browser.screenshot` on a real Chromium with the real engine: what comes out, in every form that may be asked for."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image

from capsdk.errors import CapError, PreconditionError
from tests.support.origin_sites import Answer
from tests.support.origin_world import LOADED, PAINTED, Tab, World, open_world, until
from tests.support.pictures import RECTS, Picture, Rect

pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="module")]

HEAD = "<!doctype html><meta charset=utf-8><style>body{margin:10px;font:16px/1.4 'DejaVu Sans'}</style>"
ROW = "<p class=r>Order 4711 of 3 March, total 49.00, write to <b>oda.lindqvist@example.test</b> please</p>"
MAIL = "oda.lindqvist@example.test"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world() -> AsyncIterator[World]:
    async with open_world() as made:
        yield made
        await made.leave()


@pytest_asyncio.fixture(loop_scope="module")
async def shown(world: World) -> AsyncIterator[Any]:
    """Opens a page of this body, drawn."""

    async def show(body: str, path: str = "{shop}/page") -> Tab:
        tab = await world.open(world.sites.put(path, Answer(HEAD + world.sites.filled(body))))
        await tab.js(LOADED)
        await tab.js(PAINTED)
        return tab

    yield show
    await world.leave()


async def shot(tab: Tab, **args: Any) -> Picture:
    """A picture, without loss unless something else is asked for."""
    how = {"format": "png", "maxWidth": 4096, **args}
    return Picture(await tab.talker.ok("browser.screenshot", sessionId=tab.id, **how))


async def rects(tab: Tab, picture: Picture, selector: str, text: str, offset: tuple[float, float]) -> list[Rect]:
    """Where a text is in the picture, whose corner is at `offset` of the window."""
    css = await tab.js(f"{RECTS}({json.dumps(selector)}, {json.dumps(text)})")
    return picture.scaled(css, (-offset[0], -offset[1]))


async def hidden(tab: Tab, picture: Picture, offset: tuple[float, float] = (0, 0)) -> None:
    """The address is under a bar wherever it is in the picture, and the words beside it are not."""
    count = await tab.js("document.querySelectorAll('.r').length")
    seen = 0
    for number in range(int(count)):
        row = f".r:nth-of-type({number + 1})"
        for one in await rects(tab, picture, row, MAIL, offset):
            if one.y >= 0 and one.y + one.height <= picture.image.height:
                seen += 1
                assert picture.black(one) > 0.97, (number, one)
        beside = await rects(tab, picture, row, "total 49.00", offset)
        assert not picture.touched(beside), number
    assert seen > 0


async def test_a_private_word_is_under_a_bar_and_the_answer_says_what_and_where(shown: Any) -> None:
    tab = await shown(ROW)
    picture = await shot(tab)
    await hidden(tab, picture)
    assert picture.types == ["EMAIL"]
    assert [bar["source"] for bar in picture.result["redactions"]] == ["dom"]
    assert picture.result["checked"]["texts"] > 0
    assert MAIL not in json.dumps(picture.result)
    untouched = await shown("<p>Order 4711 of 3 March</p>", "{shop}/other")
    assert (await shot(untouched)).result["redactions"] == []


async def test_by_default_it_is_a_jpeg_of_at_most_a_thousand_pixels_without_metadata(shown: Any) -> None:
    tab = await shown(ROW)
    await tab.cdp("Emulation.setDeviceMetricsOverride", width=1600, height=900, deviceScaleFactor=1, mobile=False)
    picture = Picture(await tab.talker.ok("browser.screenshot", sessionId=tab.id))
    assert (picture.result["mimeType"], picture.result["width"], picture.image.size) == (
        "image/jpeg",
        1000,
        (1000, 562),
    )
    assert picture.result["scale"] == pytest.approx(0.625, abs=0.001)
    await hidden(tab, picture)
    image = Image.open(io.BytesIO(picture.data))
    assert set(image.info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}
    assert dict(image.getexif()) == {}


FORMATS = (("jpeg", "image/jpeg", b"\xff\xd8\xff"), ("png", "image/png", b"\x89PNG"), ("webp", "image/webp", b"RIFF"))


@pytest.mark.parametrize(("format_", "mime", "magic"), FORMATS, ids=[one[0] for one in FORMATS])
async def test_each_format_is_what_it_says(shown: Any, format_: str, mime: str, magic: bytes) -> None:
    tab = await shown(ROW)
    picture = await shot(tab, format=format_)
    assert (picture.result["mimeType"], picture.data[: len(magic)]) == (mime, magic)
    await hidden(tab, picture)


async def test_a_lower_quality_is_smaller_and_a_png_has_none(shown: Any) -> None:
    tab = await shown(ROW * 12)
    sizes = [len((await shot(tab, format="jpeg", quality=quality)).data) for quality in (90, 60, 20)]
    assert sizes == sorted(sizes, reverse=True)
    assert await tab.talker.code("browser.screenshot", sessionId=tab.id, format="png", quality=50) == "BAD_ARGUMENTS"


SCALES = (1, 1.5, 2)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("down", [0, 137])
async def test_bars_lie_right_at_each_scale_scrolled_and_not(shown: Any, scale: float, down: int) -> None:
    tab = await shown(ROW * 40)
    await tab.cdp("Emulation.setDeviceMetricsOverride", width=700, height=450, deviceScaleFactor=scale, mobile=False)
    await tab.js(f"scrollTo(0, {down}), new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    picture = await shot(tab)
    assert picture.image.size == (round(700 * scale), round(450 * scale))
    await hidden(tab, picture)


async def test_a_clip_is_a_part_of_what_the_window_shows(shown: Any) -> None:
    tab = await shown(ROW * 40)
    await tab.js("scrollTo(0, 200)")
    picture = await shot(tab, clip={"x": 5, "y": 40, "width": 600, "height": 120})
    assert picture.image.size == (600, 120)
    await hidden(tab, picture, (5, 40))
    outside = {"x": 5000, "y": 0, "width": 10, "height": 10}
    assert (await _problem(tab, clip=outside)).details["step"] == "size"


SCREEN = {"width": 390, "height": 500, "deviceScaleFactor": 2, "mobile": True}


async def test_a_page_zoomed_by_pinching_comes_without_the_zoom_and_never_beyond_the_window(shown: Any) -> None:
    tab = await shown("<meta name=viewport content='width=device-width'>" + ROW * 40)
    await tab.cdp("Emulation.setDeviceMetricsOverride", **SCREEN)
    await tab.cdp("Emulation.setPageScaleFactor", pageScaleFactor=2)
    await tab.js(f"scrollTo(0, 137), {PAINTED}")
    assert await tab.js("visualViewport.scale") == pytest.approx(2, abs=0.01)
    picture = await shot(tab)
    assert picture.image.width == 2 * await tab.js("innerWidth")
    await hidden(tab, picture)
    assert (await _problem(tab, fullPage=True)).details["step"] == "scale"


async def test_a_document_without_any_element_comes(shown: Any) -> None:
    tab = await shown("<script>onload = () => document.documentElement.remove()</script>")
    assert await tab.js("document.documentElement === null")
    assert (await shot(tab)).bars == []


async def test_a_page_that_scrolls_smoothly_is_waited_for(shown: Any) -> None:
    tab = await shown(ROW * 200)
    await tab.js("scrollTo({top: 3000, behavior: 'smooth'}), 1")
    await hidden(tab, await shot(tab))


async def test_a_very_high_page_comes_whole_with_its_header_once(shown: Any) -> None:
    header = "<header style='position:fixed;top:0;left:0;right:0;height:30px;background:#00f'></header>"
    tab = await shown(header + ROW * 220)
    height = await tab.js("document.documentElement.scrollHeight")
    assert height > 8000
    await tab.js("scrollTo(0, 500)")
    picture = await shot(tab, fullPage=True)
    assert picture.image.height == height
    await hidden(tab, picture, (0, -500))
    image = Image.open(io.BytesIO(picture.data)).convert("RGB")
    blue = [y for y in range(0, image.height, 10) if image.getpixel((image.width // 2, y)) == (0, 0, 255)]
    assert blue == [500, 510, 520] or blue == [500, 510]
    assert await tab.js("scrollY") == 500


async def test_a_page_too_large_for_one_picture_is_refused_with_what_would_fit(shown: Any) -> None:
    tab = await shown("<div style='height:90000px'></div>")
    problem = await _problem(tab, fullPage=True)
    assert (problem.code, problem.details["step"]) == ("IMAGE_NOT_CHECKED", "size")
    assert "clip" in problem.message + str(problem.hint)
    assert (await shot(tab)).image.height < 2000  # the control: what the window shows of it


async def test_the_same_pixels_again_are_told_and_not_sent(shown: Any) -> None:
    tab = await shown(ROW)
    first = await shot(tab)
    again = await tab.talker.ok("browser.screenshot", sessionId=tab.id, format="png", maxWidth=4096)
    assert again == {"unchanged": True}
    assert (await shot(tab, format="webp")).data  # asked for otherwise: sent
    await tab.js("document.querySelector('.r').append('!')")
    assert (await shot(tab)).data != first.data


async def test_animations_stand_still_while_it_is_read_and_go_on_afterwards(shown: Any) -> None:
    style = "<style>@keyframes k{from{margin-left:0}to{margin-left:90px}}"
    style += ".r{animation:k .3s infinite alternate linear}</style>"
    tab = await shown(style + ROW)
    picture = await shot(tab)
    assert [picture.types, len(picture.bars) > 0] == [["EMAIL"] * len(picture.bars), True]
    left = "parseFloat(getComputedStyle(document.querySelector('.r')).marginLeft)"
    before = await tab.js(left)

    async def moved() -> bool:
        return bool(await tab.js(left) != before)

    await until(moved, "the animation goes on")
    x, y = picture.bars[0].x, picture.bars[0].y
    row = picture.image.crop((0, int(y), picture.image.width, int(y + picture.bars[0].height))).tobytes()
    assert sum(value < 8 for value in row) > picture.bars[0].width * picture.bars[0].height * 0.9, x


async def test_frames_of_other_processes_are_read_lent_or_not(world: World) -> None:
    sites = world.sites
    sites.put("{cdn}/inner", Answer(HEAD + ROW))
    sites.put("{mail}/inner", Answer(HEAD + ROW))
    frame = "<iframe src='{%s}/inner' width=700 height=90></iframe>"
    frames = frame % "cdn" + frame % "mail"
    url = sites.put("{shop}/frames", Answer(HEAD + sites.filled(frames)))
    tab = await world.open(url, origins=["shop", "cdn"])
    await tab.js(LOADED)
    await tab.js(PAINTED)
    await asyncio.sleep(0.3)
    picture = await shot(tab)
    assert picture.types == ["EMAIL", "EMAIL"]
    boxes = await tab.js(
        "[...document.querySelectorAll('iframe')].map(one => one.getBoundingClientRect())"
        ".map(r => [r.x, r.y, r.width, r.height])"
    )
    for bar, around in zip(sorted(picture.bars, key=lambda bar: bar.y), picture.scaled(boxes), strict=True):
        assert bar.meets(around)
        assert picture.black(bar) == 1.0


async def test_text_of_a_canvas_is_read_from_its_pixels(shown: Any) -> None:
    draw = "const c = document.querySelector('canvas').getContext('2d'); c.font = '20px DejaVu Sans';"
    draw += "c.fillText('Write to oda.canvas@example.test', 10, 30); c.fillText('Total 49.00', 10, 70);"
    tab = await shown(f"<canvas width=500 height=90></canvas><script>{draw}</script>")
    picture = await shot(tab)
    assert picture.types == ["EMAIL"]
    assert [bar["source"] for bar in picture.result["redactions"]] == ["ocr"]
    assert picture.result["checked"]["media"] == 1
    assert picture.result["checked"]["ocr"]
    total = picture.scaled(
        await tab.js(
            "[document.querySelector('canvas').getBoundingClientRect()].map(r => [r.x + 10, r.y + 52, 110, 22])"
        )
    )
    assert not picture.touched(total)


async def test_two_sessions_at_once_each_get_their_own(shown: Any) -> None:
    one = await shown("<body style='background:#fa0'>" + ROW, "{shop}/one")
    two = await shown("<body style='background:#0af'>" + ROW, "{shop}/two")
    pictures = await asyncio.gather(shot(one), shot(two))
    corners = [Image.open(io.BytesIO(picture.data)).convert("RGB").getpixel((700, 440)) for picture in pictures]
    assert corners == [(255, 170, 0), (0, 170, 255)]


async def test_no_other_session_waits_for_a_picture(shown: Any, world: World) -> None:
    busy = await shown(ROW * 100)
    other = await shown(ROW, "{shop}/two")
    await other.js("1")
    taking = asyncio.ensure_future(shot(busy, fullPage=True))
    answered = 0
    while not taking.done():
        await other.js("1 + 1")
        answered += 1
    assert (await taking).bars
    assert answered > 10


async def test_it_needs_the_grant_for_pictures_and_the_callers_own_tab(world: World, shown: Any) -> None:
    tab = await shown(ROW)
    other = await world.open("{shop}/page")
    assert await other.talker.code("browser.screenshot", sessionId=tab.id) == "SESSION_NOT_OWNED"
    rows = await world.ledger("call", tab.talker)
    assert [row for row in rows if MAIL in repr(row)] == []


async def test_a_dialog_that_is_open_is_told_as_that(shown: Any) -> None:
    tab = await shown(ROW)
    await tab.later("alert('wait')")
    await tab.told("Page.javascriptDialogOpening")
    assert await tab.talker.code("browser.screenshot", sessionId=tab.id) == "DIALOG_OPEN"
    assert await tab.code("Page.handleJavaScriptDialog", accept=True) == ""
    assert (await shot(tab)).bars


async def test_a_crashed_tab_is_told_as_that(shown: Any, world: World) -> None:
    tab = await shown(ROW)
    session = world.host.sessions.owned(tab.talker.who, tab.id)
    session.connection.start("Page.crash", {}, session.page.guard)
    await tab.told("Inspector.targetCrashed")
    assert await tab.talker.code("browser.screenshot", sessionId=tab.id) == "TARGET_CRASHED"
    await tab.cdp("Page.navigate", url=world.sites.filled("{shop}/page"))
    await tab.shows("{shop}/page")
    assert (await shot(tab)).bars


async def test_a_redactor_that_dies_is_started_anew_for_the_next_picture(shown: Any, world: World) -> None:
    tab = await shown(ROW)
    await shot(tab)
    redactor = world.host.redactor
    assert redactor.pid is not None
    os.kill(redactor.pid, signal.SIGKILL)
    await until(lambda: _comes(tab), "a picture after the redactor's death")


async def _comes(tab: Tab) -> bool:
    try:
        return bool((await shot(tab, quality=55, format="jpeg")).bars)
    except PreconditionError:
        return False


async def _problem(tab: Tab, **args: Any) -> Any:
    try:
        found = await tab.talker.ok("browser.screenshot", sessionId=tab.id, **args)
    except CapError as problem:
        return problem
    raise AssertionError(f"it came: {sorted(found)}")


async def test_the_hosts_own_world_in_a_page_is_neither_told_nor_lent(shown: Any, world: World) -> None:
    tab = await shown(ROW)
    await shot(tab)
    session = world.host.sessions.owned(tab.talker.who, tab.id)
    own = await session.worlds.of(session.connection, session.page.guard, session.page.target_id)
    spoil = "Range.prototype.getClientRects = () => []"
    assert await tab.code("Runtime.evaluate", expression=spoil, contextId=own) == "BROWSER_POLICY_DENIED"
    call = {"functionDeclaration": "() => 1", "executionContextId": own}
    assert await tab.code("Runtime.callFunctionOn", **call) == "BROWSER_POLICY_DENIED"
    await tab.cdp("Runtime.disable")
    await tab.cdp("Runtime.enable")  # tells of all contexts anew
    await tab.js("document.querySelector('.r').append('.')")
    await shot(tab)
    made = await tab.cdp("Page.createIsolatedWorld", frameId=session.page.target_id, worldName="mine")
    assert await tab.code("Runtime.evaluate", expression="1", contextId=made["executionContextId"]) == ""
    told = [event["context"]["name"] for event in await tab.told("Runtime.executionContextCreated", 3)]
    assert "mine" in told  # the control
    assert set(told) <= {"", "mine"}
