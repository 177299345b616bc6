"""How windows of lent pages end, and what they may not: nothing outlives its opener, nothing goes where it may not."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from capsdk.errors import CapError
from tests.live.windows import (
    COVER,
    SCRIPTS,
    code_of,
    finished,
    listed,
    nothing_is_open,
    only,
    open_windows,
    orders,
    popup,
    popups_of,
    with_nothing_left,
)
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


# --- ended

ENDS: dict[str, Callable[[Tab], Any]] = {
    "closed": lambda tab: tab.talker.ok("browser.closeSession", sessionId=tab.id),
    "page-closed": lambda tab: tab.cdp("Page.close"),
    "closes-itself": lambda tab: tab.later("window.close()"),
    "run-ended": lambda tab: tab.talker.host.dispatcher.caller_ended(tab.talker.who),
}


@pytest.mark.parametrize("way", ENDS)
async def test_windows_end_with_the_session_whose_page_opened_them(world: World, way: str) -> None:
    # A page may close itself only before it has a history: the first blank page counts.
    tab = await (world.open("about:blank") if way == "closes-itself" else orders(world))
    first = await popup(tab, "window.open('{shop}/landing')")
    await finished(first, "/early")
    second = await popup(first, "window.open('/landing', '_blank', 'noopener')")
    await finished(second, "/early")
    third = await popup(second, "window.open('/landing')")
    other = await world.open("{shop}/orders")
    await ENDS[way](tab)

    async def all_ended() -> bool:
        return [await code_of(one) for one in (tab, first, second, third)] == ["SESSION_CLOSED"] * 4

    await until(all_ended, "the windows' end")
    await until(lambda: only(world, 1), "their tabs' end")
    assert await listed(tab.talker) == []
    assert await other.js("'other'") == "other"


async def test_a_window_in_the_middle_of_the_chain_takes_those_behind_it_along(world: World) -> None:
    tab = await orders(world)
    first = await popup(tab, "window.open('/landing')")
    second = await popup(first, "window.open('/landing')")
    await tab.talker.ok("browser.closeSession", sessionId=first.id)
    assert await code_of(second) == "SESSION_CLOSED"
    assert await tab.js("document.title") == "Orders"
    assert [one["sessionId"] for one in await listed(tab.talker)] == [tab.id]


CLOSERS = {
    "itself": lambda tab, window: window.later("window.close()"),
    "its-opener": lambda tab, window: tab.js("w.close(), 1"),
}


@pytest.mark.parametrize("closer", CLOSERS)
async def test_a_window_that_a_page_closes_ends_its_session_only(world: World, closer: str) -> None:
    tab = await orders(world)
    window = await popup(tab, "w = window.open('/landing')")
    waiting = window.talker.post(
        "browser.cdp",
        sessionId=window.id,
        method="Runtime.evaluate",
        params={"expression": "new Promise(() => 0)", "awaitPromise": True},
    )
    await window.js("1")
    await CLOSERS[closer](tab, window)
    with pytest.raises(CapError) as ended:
        await asyncio.wait_for(waiting, 5.0)
    assert ended.value.code == "TARGET_GONE"
    assert await code_of(window) == "SESSION_CLOSED"
    assert await tab.talker.ok("browser.closeSession", sessionId=window.id) == {}
    assert await tab.js("w.closed") is True
    again = await popup(tab, "w = window.open('/landing')")
    assert await code_of(again) == ""


async def test_a_window_given_back_is_closed_for_its_opener(world: World) -> None:
    tab = await orders(world)
    window = await popup(tab, "w = window.open('/landing')")
    assert await tab.talker.ok("browser.closeSession", sessionId=window.id) == {}

    async def closed() -> bool:
        return await tab.js("w.closed") is True

    await until(closed, "the window's end")
    assert await code_of(window) == "SESSION_CLOSED"


@pytest.mark.parametrize("delay_s", [0.0, 0.005, 0.02, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("way", ["script", "noopener"])
async def test_a_window_that_comes_while_its_opener_is_given_back_is_left_to_nobody(
    world: World, way: str, delay_s: float
) -> None:
    tab = await orders(world)
    params = {"expression": f"{SCRIPTS[way]}; 1", "userGesture": True}
    opening = tab.talker.post("browser.cdp", sessionId=tab.id, method="Runtime.evaluate", params=params)
    await asyncio.sleep(delay_s)
    assert await tab.talker.ok("browser.closeSession", sessionId=tab.id) == {}
    with contextlib.suppress(CapError):
        await asyncio.wait_for(opening, 5.0)
    await until(lambda: nothing_is_open(world), "the tabs' end")
    assert await listed(tab.talker) == []
    assert len(world.host.sessions) == 0


# --- tabs that a click opens beside

BESIDE: dict[str, dict[str, Any]] = {
    "ctrl-click": {"modifiers": 2},
    "shift-click": {"modifiers": 8},
    "middle-click": {"button": "middle"},
    "ctrl-click-on-a-blank-target": {"modifiers": 2},
}


@pytest.mark.parametrize("way", BESIDE)
async def test_a_tab_that_a_click_opens_beside_is_closed_at_once_and_nothing_is_lent(world: World, way: str) -> None:
    target = "target=_blank " if "target" in way else ""
    link = f"<!doctype html><title>Orders</title><a {target}href='/beside' style='{COVER}'>Receipt</a>"
    tab = await world.open(world.sites.put("{shop}/links", link))
    for kind in ("mousePressed", "mouseReleased"):
        at: dict[str, Any] = {"x": 20, "y": 20, "button": "left", "clickCount": 1, **BESIDE[way]}
        await tab.cdp("Input.dispatchMouseEvent", type=kind, **at)
    await asyncio.sleep(0.4)
    await until(lambda: only(world, 1), "the other tab's end")
    assert world.sites.hit("{shop}/beside") <= 1
    assert [one["sessionId"] for one in await listed(tab.talker)] == [tab.id]
    assert await tab.js("document.title") == "Orders"


async def test_the_same_link_opens_a_window_or_a_page_with_a_plain_click(world: World) -> None:
    """The control: so the clicks above did meet it."""
    for target, opened in (("", 0), ("target=_blank ", 1)):
        link = f"<!doctype html><a {target}href='/beside' style='{COVER}'>Receipt</a>"
        tab = await world.open(world.sites.put("{shop}/links", link))
        await tab.click()
        shown = tab if not opened else (await popups_of(tab))[0]
        await shown.shows("{shop}/beside")


# --- what a window may not


async def test_a_dialog_in_a_windows_first_script_is_told_and_answered_by_default(world: World) -> None:
    asking = "<!doctype html><title>Asking</title><script>answer = confirm('first?')</script>"
    world.sites.put("{shop}/asking", asking)
    for way in ("window.open('/asking')", "window.open('/asking', '_blank', 'noopener')"):
        tab = await orders(world)
        window = await popup(tab, way)

        async def met(window: Tab = window) -> bool:
            problem = await window.problem("DOM.enable")
            return problem is not None and (problem.code, problem.details["message"]) == ("DIALOG_OPEN", "first?")

        await until(met, "the dialog")
        (told,) = await window.told("Page.javascriptDialogOpening")
        assert (told["type"], told["message"]) == ("confirm", "first?")

        async def answered(window: Tab = window) -> bool:
            return await code_of(window) == ""

        await until(answered, "the default answer")
        assert await window.js("answer") is False
        assert await tab.js("document.title") == "Orders"


async def test_a_dialog_in_a_window_can_be_answered_by_its_caller(world: World) -> None:
    world.sites.put("{shop}/asking", "<!doctype html><script>answer = prompt('who?')</script>")
    for way in ("window.open('/asking')", "window.open('/asking', '_blank', 'noopener')"):
        tab = await orders(world)
        window = await popup(tab, way)
        await window.told("Page.javascriptDialogOpening")
        await window.cdp("Page.handleJavaScriptDialog", accept=True, promptText="Plum")
        assert await window.js("answer") == "Plum"


NOT_OPEN = (  # a place each: what is refused soon again is told later
    pytest.param("127.0.0.1", "", id="script"),
    pytest.param("localhost", ", '_blank', 'noopener'", id="noopener"),
)


@pytest.mark.parametrize(("name", "features"), NOT_OPEN)
async def test_a_window_to_a_place_that_is_not_open_reaches_nothing(world: World, name: str, features: str) -> None:
    tab = await orders(world)
    place = f"{name}:{world.sites.port}"
    window = await popup(tab, f"w = window.open('http://{place}/secret'{features})")

    async def refused() -> bool:
        answers = [event["params"] for event in await window.events("Network.responseReceived")]
        return [one["response"]["status"] for one in answers if one["type"] == "Document"] == [403]

    await until(refused, "the proxy's answer")
    assert world.sites.hits[name, "/secret"] == 0

    async def written() -> bool:
        await world.host.store.flush()
        return any(row.kind == "egress" and place in row.reason for row in await world.host.store.tail(1000))

    await until(written, "a line in the ledger")
    given = await world.open("{shop}/orders", places=["lshop"])  # the control: a place that is open
    there = await popup(given, f"window.open('{{lshop}}/open'{features})")
    await there.shows("{lshop}/open")
    assert world.sites.hit("{lshop}/open") == 1


FOREIGN = {
    "direct": "{mail}/foreign",
    "same-site": "{pay}/foreign",
    "redirected": "{shop}/away",
}


@pytest.mark.parametrize("features", ["", ", '_blank', 'noopener'", ", '', 'width=300'"], ids=lambda f: f or "script")
@pytest.mark.parametrize("way", FOREIGN)
async def test_a_window_outside_the_apps_origins_asks_for_nothing(world: World, way: str, features: str) -> None:
    world.sites.redirect("{shop}/away", world.sites.filled("{mail}/foreign"))
    tab = await orders(world, origins=["shop"])
    window = await popup(tab, f"w = window.open('{FOREIGN[way]}'{features})")
    (told,) = await window.told("Host.navigationRefused")
    assert told["code"] == "ORIGIN_NOT_ALLOWED"
    assert told["origin"] == world.sites.origins["pay" if way == "same-site" else "mail"]
    await asyncio.sleep(0.2)
    assert (world.sites.hits_of("mail"), world.sites.hits_of("pay")) == (0, 0)
    assert await tab.js("document.title") == "Orders"
    own = await popup(tab, f"w = window.open('{{shop}}/landing'{features})")
    await finished(own, "/early")
    assert await own.js("document.title") == "Receipt"


async def test_a_window_that_its_opener_sends_outside_stays_where_it_is(world: World) -> None:
    tab = await orders(world, origins=["shop"])
    window = await popup(tab, "w = window.open('{shop}/landing')")
    await finished(window, "/early")
    await tab.js("w.location = '{mail}/foreign', 1")
    await window.told("Host.navigationRefused")
    assert world.sites.hits_of("mail") == 0
    assert await window.js("document.title") == "Receipt"
