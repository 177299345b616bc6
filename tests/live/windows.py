"""Windows that lent pages open, for the tests of them: sites, a host with short patience, and what a test asks."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from capsdk.errors import CapError
from host.app import open_host
from host.core.limits import Limits
from host.core.settings import Settings
from tests.live.walls import temporary_folders_in
from tests.support.inprocess import Talker
from tests.support.origin_sites import Answer, Asked, OriginSites
from tests.support.origin_world import Tab, World, until
from tests.support.stdio import LOADED

OPENED, REFUSED, SENT = "Host.popupOpened", "Host.popupRefused", "Network.requestWillBeSent"
MOST = 8
DIALOG_ANSWER_S = 1.5
COVER = "position: fixed; inset: 0; width: 100%; height: 100%"
LANDING = (
    "<!doctype html><title>Receipt</title><script>fetch('/early', {method: 'POST', body: 'sent early'})"
    ".then(r => r.text()).then(t => document.body.append(t))</script><body><img src='/pixel'>Receipt 4417"
)


SCRIPTS = {
    "script": "window.open('/hop?n=3')",
    "noopener": "window.open('/hop?n=3', '_blank', 'noopener')",
    "noreferrer": "window.open('/hop?n=3', '_blank', 'noreferrer')",
    "features": "window.open('/hop?n=3', 'small', 'width=300,height=200')",
    "by-a-link": "document.body.innerHTML = \"<a id=a target=_blank href='/hop?n=3'>\", a.click()",
}


@contextlib.asynccontextmanager
async def open_windows(folder: Path) -> AsyncIterator[World]:
    """A host for a module's tests."""
    limits = Limits(dialog_answer_s=DIALOG_ANSWER_S, sessions_per_client=MOST)
    with OriginSites() as sites, temporary_folders_in(folder):
        async with open_host(Settings(upstream_proxy=sites.upstream, limits=limits), ephemeral=True) as host:
            yield World(host, sites)


@contextlib.asynccontextmanager
async def with_nothing_left(shared: World) -> AsyncIterator[World]:
    """The host with nothing in it; afterwards neither session nor tab may be left."""
    shared.sites.put("{shop}/orders", "<!doctype html><title>Orders</title><body>")
    shared.sites.put("{shop}/landing", LANDING)
    shared.sites.put("{shop}/early", "early")
    shared.sites.put("{shop}/hop", hop)
    shared.sites.hits.clear()
    yield shared
    await shared.leave()
    assert len(shared.host.sessions) == 0
    await until(lambda: nothing_is_open(shared), "the end of all tabs")


def hop(asked: Asked) -> Answer:
    """A redirect to the next hop; the last one leads to the landing page."""
    left = int(asked.query.partition("=")[2])
    return Answer("", 302, headers=(("Location", f"/hop?n={left - 1}" if left > 1 else "/landing"),))


async def pages(world: World) -> list[str]:
    """The targets of all pages that Chromium has."""
    connection = await world.host.browser.connection()
    found = await connection.call("Target.getTargets", timeout_s=5)
    return [info["targetId"] for info in found["targetInfos"] if info["type"] == "page"]


async def nothing_is_open(world: World) -> bool:
    return await pages(world) == []


async def orders(world: World, **given: Any) -> Tab:
    """A tab on the page that windows are opened from, once it is all there."""
    tab = await world.open("{shop}/orders", **given)
    await tab.cdp("Runtime.evaluate", expression=LOADED, awaitPromise=True)
    return tab


async def gesture(tab: Tab, expression: str, handle: str | None = None) -> Any:
    """The value of an expression that a click of the user is behind."""
    params = {"expression": tab.sites.filled(expression), "returnByValue": True, "awaitPromise": True}
    made = await tab.cdp("Runtime.evaluate", handle, userGesture=True, **params)
    assert "exceptionDetails" not in made, made
    return made["result"].get("value")


async def popups_of(tab: Tab, count: int = 1) -> list[Tab]:
    """The sessions of the windows that were announced, once there are so many."""
    told = await tab.told(OPENED, count)
    return [Tab(tab.talker, tab.sites, one["sessionId"]) for one in told]


async def popup(tab: Tab, expression: str, handle: str | None = None) -> Tab:
    """The session of the window that an expression opens."""
    before = len(await tab.events(OPENED))
    await gesture(tab, f"{expression}; 1", handle)
    return (await popups_of(tab, before + 1))[before]


async def code_of(tab: Tab) -> str:
    """What a call to a session is refused with, "" when it is not."""
    try:
        await tab.cdp("Runtime.evaluate", expression="1")
    except CapError as problem:
        return problem.code
    return ""


async def listed(talker: Talker) -> list[dict[str, Any]]:
    """What `browser.sessions` tells this caller."""
    found = await talker.ok("browser.sessions")
    return list(found["sessions"])


async def finished(tab: Tab, path: str) -> str:
    """Wait until a request of this path has been loaded: its id."""
    wanted = ""

    async def there() -> bool:
        nonlocal wanted
        sent = [e["params"] for e in await tab.events(SENT) if path in e["params"]["request"]["url"]]
        done = {e["params"]["requestId"] for e in await tab.events("Network.loadingFinished")}
        wanted = next((one["requestId"] for one in sent if one["requestId"] in done), "")
        return bool(wanted)

    await until(there, f"the end of {path}")
    return wanted


def blocked(world: World) -> Talker:
    """A caller whose manifest says popups = "block"."""
    talker = world.caller()
    talker.who = replace(talker.who, popups=False)
    return talker


async def only(world: World, count: int) -> bool:
    return len(await pages(world)) == count
