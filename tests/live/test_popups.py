"""Windows that a lent page opens: each is a session of its own from its first request, or never sends one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from tests.live.windows import (
    COVER,
    LANDING,
    MOST,
    OPENED,
    REFUSED,
    SCRIPTS,
    SENT,
    blocked,
    code_of,
    finished,
    gesture,
    listed,
    only,
    open_windows,
    orders,
    popup,
    popups_of,
    with_nothing_left,
)
from tests.support.inprocess import Talker
from tests.support.origin_world import Tab, World, until

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(folder: Path) -> AsyncIterator[World]:
    async with open_windows(folder) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def world(shared: World) -> AsyncIterator[World]:
    async with with_nothing_left(shared) as made:
        yield made


# --- opened and captured

CLICKED = {
    "link": "<a target=_blank href='/hop?n=3' style='{cover}'>Receipt</a>",
    "link-with-opener": "<a target=_blank rel=opener href='/hop?n=3' style='{cover}'>Receipt</a>",
    "button": "<button onclick=\"window.open('/hop?n=3')\" style='{cover}'>Receipt</button>",
    "form": "<form target=_blank action='/hop'><input name=n value=3><button style='{cover}'></button></form>",
}


async def opened_by(world: World, way: str) -> tuple[Tab, Tab]:
    """A window opened in this way, and the tab that opened it."""
    if way in SCRIPTS:
        tab = await orders(world)
        return await popup(tab, SCRIPTS[way]), tab
    tab = await world.open(world.sites.put("{shop}/clicked", "<!doctype html>" + CLICKED[way].format(cover=COVER)))
    await tab.click()
    return (await popups_of(tab))[0], tab


@pytest.mark.parametrize("way", [*SCRIPTS, *CLICKED])
async def test_a_window_is_captured_from_its_first_request_on(world: World, way: str) -> None:
    window, tab = await opened_by(world, way)
    early = await finished(window, "/early")
    await finished(window, "/pixel")
    sent = [event["params"] for event in await window.events(SENT)]
    paths = [one["request"]["url"].partition("shop.example")[2] for one in sent]
    assert paths[:4] == ["/hop?n=3", "/hop?n=2", "/hop?n=1", "/landing"]
    assert sorted(path for path in paths[4:] if path != "/favicon.ico") == ["/early", "/pixel"]
    assert [one.get("redirectResponse", {}).get("status") for one in sent[:4]] == [None, 302, 302, 302]
    page = await window.talker.ok("browser.events", sessionId=window.id)
    assert page["lost"] is False
    assert (await window.cdp("Network.getResponseBody", requestId=sent[3]["requestId"]))["body"] == LANDING
    assert (await window.cdp("Network.getResponseBody", requestId=early))["body"] == "early"
    assert await window.js("document.title") == "Receipt"
    (told,) = await tab.events(OPENED)
    assert told["params"]["url"] == "http://shop.example/hop?n=3"
    assert await tab.events(REFUSED) == []
    assert await tab.js("1 + 1") == 2


async def test_a_form_that_posts_into_a_window_keeps_its_body(world: World) -> None:
    form = "<form target=_blank method=post action='/landing'><input name=n value='a b'><button style='{cover}'></form>"
    tab = await world.open(world.sites.put("{shop}/posting", "<!doctype html>" + form.format(cover=COVER)))
    await tab.click()
    (window,) = await popups_of(tab)
    await finished(window, "/landing")
    asked = world.sites.asked["shop.example", "/landing"]
    assert (asked.method, asked.body) == ("POST", b"n=a+b")
    (sent,) = [e["params"]["request"] for e in await window.events(SENT) if e["params"]["type"] == "Document"]
    assert (sent["method"], sent["postData"]) == ("POST", "n=a+b")


async def test_a_window_of_a_frame_in_another_process_is_announced_to_the_page(world: World) -> None:
    inner = world.sites.put("{mail}/inner", "<!doctype html>inner")
    tab = await world.open(world.sites.put("{shop}/framed", f"<!doctype html><iframe src='{inner}'></iframe>"))
    handle = (await tab.told("Target.attachedToTarget"))[0]["sessionId"]
    window = await popup(tab, "window.open('{shop}/landing')", handle)
    await finished(window, "/early")
    alone = await popup(tab, "window.open('{shop}/landing', '_blank', 'noopener')", handle)
    await finished(alone, "/early")
    assert await window.js("document.title") == await alone.js("document.title") == "Receipt"
    assert {one["sessionId"]: one.get("openerSessionId") for one in await listed(tab.talker)} == {
        tab.id: None,
        window.id: tab.id,
        alone.id: tab.id,
    }


MADE: dict[str, tuple[str, str]] = {  # what opens a window that asks for nothing, what it then shows
    "blank": ("w = window.open(); w.document.write('<title>made</title>')", "made"),
    "about-blank": ("w = window.open('about:blank'); w.document.write('<title>made</title>')", "made"),
    "blank-in-features": ("w = window.open('', '', 'width=200'); w.document.title = 'made'", "made"),
    "blob": ("window.open(URL.createObjectURL(new Blob(['<title>made</title>'], {type: 'text/html'})))", "made"),
    "blank-then-sent": ("w = window.open(); w.location = '/landing'", "Receipt"),
    "blank-noopener": ("window.open('about:blank', '_blank', 'noopener')", ""),
}


@pytest.mark.parametrize("way", MADE)
async def test_a_window_that_its_opener_fills_is_lent_too(world: World, way: str) -> None:
    tab = await orders(world)
    window = await popup(tab, MADE[way][0])

    async def filled() -> bool:
        return bool(await window.js("document.title") == MADE[way][1])

    await until(filled, "what the opener has put there")
    assert await window.js("6 * 7") == 42


async def test_the_opener_can_use_what_it_has_opened(world: World) -> None:
    answering = (
        "<!doctype html><title>answering</title><script>onmessage = e => e.source.postMessage(e.data * 2)</script>"
    )
    answering += "<script>opener.postMessage('ready')</script>"
    tab = await orders(world)
    answered = (
        "new Promise(ok => { onmessage = e => e.data === 'ready' ? w.postMessage(21) : ok(e.data);"
        f" w = window.open('{world.sites.put('{shop}/answering', answering)}') }})"
    )
    assert await gesture(tab, answered) == 42
    (window,) = await popups_of(tab)
    assert await tab.js("[w.closed, w.document.title, w.opener === window]") == [False, "answering", True]
    await tab.js("w.location = '/landing', 1")
    await window.shows("{shop}/landing")
    await finished(window, "/early")
    assert await tab.js("[w.closed, w.document.title]") == [False, "Receipt"]


async def test_a_window_that_has_a_name_is_used_again(world: World) -> None:
    tab = await orders(world)
    window = await popup(tab, "w = window.open('/orders', 'receipts')")
    assert await gesture(tab, "window.open('/landing', 'receipts') === w") is True
    await window.shows("{shop}/landing")
    assert len(await tab.events(OPENED)) == 1
    assert [one["sessionId"] for one in await listed(tab.talker)] == [tab.id, window.id]


async def test_a_window_without_a_gesture_is_blocked_by_chromium_itself(world: World) -> None:
    tab = await orders(world)
    assert await tab.js("window.open('/landing') === null") is True
    assert await gesture(tab, "window.open('/landing') === null") is False  # the control
    await popups_of(tab)
    assert len(await tab.events(OPENED)) == 1


@pytest.mark.parametrize("features", ["", ", '_blank', 'noopener'"], ids=["script", "noopener"])
async def test_a_window_is_announced_with_its_own_address_and_not_that_of_one_that_was_blocked(
    world: World, features: str
) -> None:
    tab = await orders(world)
    window = await popup(tab, f"window.open('/landing?came'{features}); window.open('/landing?blocked'{features})")
    await window.shows("{shop}/landing?came")
    assert [one["url"] for one in await tab.told(OPENED)] == ["http://shop.example/landing?came"]
    await tab.js("window.open('/landing?blocked'), 1")
    blank = await popup(tab, f"window.open('about:blank'{features})")
    assert await blank.js("location.href") == "about:blank"
    assert [one["url"] for one in await tab.told(OPENED)][1] == "about:blank"


# --- owned and counted


async def test_a_window_belongs_to_its_openers_run_and_is_listed_with_its_opener(world: World) -> None:
    tab = await orders(world)
    window = await popup(tab, "window.open('/landing')")
    await finished(window, "/early")
    rows = {one["sessionId"]: one for one in await listed(tab.talker)}
    assert set(rows) == {tab.id, window.id}
    assert (rows[tab.id].get("openerSessionId"), rows[window.id]["openerSessionId"]) == (None, tab.id)
    assert rows[window.id]["url"] == "http://shop.example/landing"
    for other in (world.caller(), Talker(world.host, replace(tab.talker.who, run="another run"))):
        assert await other.code("browser.cdp", sessionId=window.id, method="DOM.enable") == "SESSION_NOT_OWNED"
        assert await other.code("browser.closeSession", sessionId=window.id) == "SESSION_NOT_OWNED"
        assert await listed(other) == []
    assert await code_of(window) == ""


async def test_a_window_keeps_what_its_opener_captures(world: World) -> None:
    talker = world.caller()
    url = world.sites.filled("{shop}/orders")
    opened = await talker.ok("browser.openSession", url=url, capture=["Network.requestWillBeSent"])
    tab = Tab(talker, world.sites, opened["sessionId"])
    window = await popup(tab, "window.open('/landing')")

    async def asked() -> bool:
        return world.sites.hit("{shop}/early") == 1 and await window.js("document.title") == "Receipt"

    await until(asked, "the window's page")
    assert {event["method"] for event in await window.events()} == {SENT}


async def test_at_the_limit_a_window_is_refused_without_a_request_until_there_is_room_again(world: World) -> None:
    tab = await orders(world)
    others = [await tab.talker.open() for _ in range(MOST - 2)]
    first = await popup(tab, "window.open('/landing?first')")
    assert await gesture(tab, "window.open('/landing?second'); 2") == 2
    assert await gesture(tab, "window.open('/landing?third', '_blank', 'noopener'); 3") == 3
    told = await tab.told(REFUSED, 2)
    assert sorted(one["url"] for one in told) == [f"http://shop.example/landing?{n}" for n in ("second", "third")]
    assert all(f"limit for this app is {MOST}" in one["reason"] for one in told)
    await finished(first, "/early")
    assert world.sites.hit("{shop}/landing") == 1
    assert len(await listed(tab.talker)) == MOST
    await tab.talker.ok("browser.closeSession", sessionId=others[0])
    again = await popup(tab, "window.open('/landing?fourth')")
    await finished(again, "/early")
    assert world.sites.hit("{shop}/landing") == 2


BLOCKED = ("script", "noopener", "features", "by-a-link")


@pytest.mark.parametrize("way", BLOCKED)
async def test_a_manifest_that_wants_no_windows_gets_none(world: World, way: str) -> None:
    talker = blocked(world)
    tab = Tab(talker, world.sites, await talker.open(world.sites.filled("{shop}/orders")))
    assert await gesture(tab, f"{SCRIPTS[way]}; 'back'") == "back"
    (told,) = await tab.told(REFUSED)
    assert told["url"] == "http://shop.example/hop?n=3"
    assert "popups" in told["reason"]
    assert await tab.events(OPENED) == []
    assert [one["sessionId"] for one in await listed(talker)] == [tab.id]
    await until(lambda: only(world, 1), "the window's end")
    assert world.sites.hit("{shop}/hop") == 0
    assert await tab.js("document.title") in ("Orders", "")


async def test_a_blank_window_is_refused_too_and_the_opener_sees_it_closed(world: World) -> None:
    talker = blocked(world)
    tab = Tab(talker, world.sites, await talker.open(world.sites.filled("{shop}/orders")))
    await gesture(tab, "w = window.open(); 1")
    await tab.told(REFUSED)

    async def closed() -> bool:
        return bool(await tab.js("w === null || w.closed"))

    await until(closed, "the window's end")


async def test_a_storm_of_a_hundred_windows_fills_the_slots_and_the_rest_send_nothing(world: World) -> None:
    tab = await orders(world)
    beside = await world.open("{mail}/")
    for number in range(100):  # one after the other: Chromium lets one window pass a click
        features = "'_blank', 'noopener'" if number % 2 else "'_blank'"
        assert await gesture(tab, f"window.open('/storm?{number}', {features}); {number}") == number
    opened = await tab.told(OPENED, MOST - 1)
    refused = await until_told(tab, 100)
    assert (len(opened), refused) == (MOST - 1, 100 - (MOST - 1))
    assert await beside.js("'beside'") == "beside"
    for window in await popups_of(tab, MOST - 1):

        async def there(window: Tab = window) -> bool:
            return bool(await window.js("location.pathname") == "/storm")

        await until(there, "the window's page")
    await until(lambda: only(world, MOST + 1), "the refused windows' end", within_s=15.0)
    assert world.sites.hit("{shop}/storm") == MOST - 1
    assert await tab.js("document.title") == "Orders"


async def until_told(tab: Tab, count: int) -> int:
    """How many were refused, once so many windows have been told of, one way or the other."""

    async def all_told() -> bool:
        return len(await tab.events(OPENED, REFUSED)) >= count

    await until(all_told, f"{count} windows", within_s=20.0)
    return len(await tab.events(REFUSED))
