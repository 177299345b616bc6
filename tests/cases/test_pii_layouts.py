"""Private details in odd layouts: none is left in the picture, and the words beside them stay."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.support.case_site import CaseSite
from tests.support.pictures import RECTS, Picture, Rect
from tests.support.stdio import LOADED, Stdio

PRIVATE = (  # element, the private part of its text ("" is all of it)
    ("#P01", "oda.lindqvist@example.test"),
    ("#P02", "+46 70 555 01 42"),
    ("#P03", "4000 0012 3456 7899"),
    ("#P05", "Oda Lindqvist"),
    ("#P06", "SE35 5000 0000 0549 1000 0003"),
    ("#P07", ""),
    ("#P08", ""),
    ("#P09", "oda.side@example.test"),
    ("#P10", "oda.small@example.test"),
    ("#P11", "070-555 01 43"),
    ("#P14", "o d a . s p a c e d @ e x a m p l e . t e s t"),
    ("#P15", "sk-test-4f9a00d1c2b3a4958677"),
)
IN_FRAME = ("12 Elm Row, 555 01 Norby", "oda.frame@example.test")
HARMLESS = (
    ("#P01", "Mail"),
    ("#P02", "Phone"),
    ("#P03", "Card"),
    ("#P04", "Account holder"),
    ("tr:nth-child(2) td", "IBAN"),
    ("#P10", "small print"),
    ("#P11", "dark"),
    ("#P15", "Key"),
    ("h1", "Statement"),
    ("#N01", "Order 10023456789 shipped in v4.11.2"),
    ("#N02", "Build 2031-04-07T10:22:31Z commit 9f8e7d6c"),
    ("#N03", "Jordan Street stop, May edition, Paris blue"),
    ("#N04", "Total 4 000.00 kr, 12 items at 555 g"),
)
CANVAS = (
    "(c => { c.font = '18px DejaVu Sans'; const a = c.measureText('canvas: ').width, b = P12.getBoundingClientRect();"
)
CANVAS += (
    " return [[b.x + 4 + a, b.y + 10, c.measureText('oda.canvas@example.test').width, 20]] })(P12.getContext('2d'))"
)
FRAME = f"""(f => {{ const b = f.getBoundingClientRect(), find = f.contentWindow.eval({json.dumps(RECTS)});
return TEXTS.flatMap(t => find('body', t)).map(r => [r[0] + b.x + f.clientLeft, r[1] + b.y + f.clientTop, r[2], r[3]])
.filter(r => r[1] + r[3] < b.bottom - 4) }})(P13)"""


@pytest.fixture(scope="module")
def page(host: Stdio, cases: CaseSite) -> Iterator[str]:
    session = host.open(f"{cases.main}/pii-layouts/")
    assert host.js(session, LOADED) in (True, 1)
    yield session
    host.ok("browser.closeSession", sessionId=session)


def rects(host: Stdio, page: str, selector: str, text: str) -> list[list[float]]:
    found: list[list[float]] = host.js(page, f"{RECTS}({json.dumps(selector)}, {json.dumps(text)})")
    return found


def shown(host: Stdio, page: str, picture: Picture, css: list[list[float]], full: bool) -> list[Rect]:
    """As pixels of the picture, and only what is in it."""
    scroll = host.js(page, "[scrollX, scrollY]") if full else (0, 0)
    found = picture.scaled(css, scroll)
    return [one for one in found if one.y + one.height <= picture.image.height and one.y >= 0]


@pytest.mark.parametrize("full", [False, True], ids=["window", "whole-page"])
def test_no_private_part_is_left_and_all_else_stays_readable(host: Stdio, page: str, full: bool) -> None:
    picture = Picture(host.ok("browser.screenshot", sessionId=page, format="png", maxWidth=4096, fullPage=full))
    private = {f"{selector} {text}": rects(host, page, selector, text) for selector, text in PRIVATE}
    private["#P12 canvas"] = host.js(page, CANVAS)
    private["#P13 frame"] = host.js(page, FRAME.replace("TEXTS", json.dumps(IN_FRAME)))
    left = {
        name: round(picture.black(one), 2)
        for name, css in private.items()
        for one in shown(host, page, picture, css, full)
        if picture.black(one) < 0.97
    }
    assert left == {}
    harmless = {f"{selector} {text}": rects(host, page, selector, text) for selector, text in HARMLESS}
    covered = [name for name, css in harmless.items() if picture.touched(shown(host, page, picture, css, full))]
    assert covered == []
    assert len(picture.bars) >= (15 if full else 8)
    told = json.dumps({**picture.result, "data": ""})
    assert [part for part in ("oda", "Lindqvist", "4000", "sk-test", "Elm", "0549") if part in told] == []
