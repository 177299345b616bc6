"""A picture of a tab that is not in front: it comes, and shows that tab."""

from __future__ import annotations

import io
import time

from PIL import Image

from tests.support.case_site import CaseSite
from tests.support.pictures import Picture
from tests.support.processes import wait_until
from tests.support.stdio import LOADED, Stdio

GREEN, BLUE = (0, 170, 119), (0, 119, 170)


def corner(picture: Picture) -> tuple[int, ...]:
    """The colour of the page's ground."""
    image = Image.open(io.BytesIO(picture.data)).convert("RGB")
    found = image.getpixel((image.width - 40, image.height - 40))
    assert isinstance(found, tuple)
    return tuple(found)


def far(pair: tuple[tuple[int, ...], tuple[int, ...]]) -> int:
    """How far two colours are from each other; WebP keeps fewer of them."""
    return max(abs(a - b) for a, b in zip(*pair, strict=True))


def popups(host: Stdio) -> list[str]:
    """The sessions that a page opened."""
    return [one["sessionId"] for one in host.ok("browser.sessions")["sessions"] if one.get("openerSessionId")]


def shots(host: Stdio, *sessions: str, **args: object) -> list[Picture]:
    """Pictures of tabs, all asked for at once. A page that ticks may tick into three tries: then it is said, and asked
    for once more."""
    for _ in range(5):
        asked = [host.post("browser.screenshot", sessionId=one, **args) for one in sessions]
        told = [host.reply(number) for number in asked]
        if all(one["ok"] for one in told):
            return [Picture(one["result"]) for one in told]
        assert {one["error"]["details"]["step"] for one in told if not one["ok"]} == {"changing"}, told
    raise AssertionError("the page was never caught between two ticks")


def shot(host: Stdio, session: str) -> Picture:
    return shots(host, session, format="png")[0]


def two_tabs(host: Stdio, cases: CaseSite) -> tuple[str, str]:
    """The tab behind, whose page ticks five times a second, and the one that it opened before itself."""
    first = host.open(f"{cases.main}/background-tab-shot/")
    host.js(first, LOADED)
    at = host.js(first, "(r => [r.x + r.width / 2, r.y + r.height / 2])(o.getBoundingClientRect())")
    for kind in ("mousePressed", "mouseReleased"):
        mouse = {"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1}
        host.ok("browser.cdp", sessionId=first, method="Input.dispatchMouseEvent", params=mouse)
    wait_until(lambda: bool(popups(host)), 10.0, "the second tab never came")
    return first, popups(host)[0]


def test_a_tab_behind_another_gives_its_own_picture_and_goes_on(host: Stdio, cases: CaseSite) -> None:
    first, second = two_tabs(host, cases)
    began_s = time.monotonic()
    assert corner(shot(host, first)) in (GREEN, BLUE)
    assert time.monotonic() - began_s < 15
    counted = host.js(first, "+result.textContent")
    assert corner(shot(host, second)) == (255, 255, 255)  # the control: the other page is another
    grounds = [corner(one) for one in shots(host, first, second, format="webp", quality=100)]
    assert (min(map(far, ((grounds[0], GREEN), (grounds[0], BLUE)))) < 12, grounds[1]) == (True, (255, 255, 255))
    wait_until(lambda: host.js(first, "+result.textContent") > counted, 10.0, "the counter stands still")


def test_a_tick_that_was_held_back_does_not_spoil_a_picture(host: Stdio, cases: CaseSite) -> None:
    first, _ = two_tabs(host, cases)
    came = 0
    for _ in range(8):
        time.sleep(0.5)  # Chromium lets timers behind another tab run once a second, and when a capture begins
        came += host.reply(host.post("browser.screenshot", sessionId=first))["ok"]
    assert came >= 6
