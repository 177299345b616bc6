"""A page that tries to leave its app's `origins`: each way is refused before anybody is asked, and works without."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
import pytest_asyncio

from capsdk.errors import CapError
from tests.support.origin_sites import Answer, OriginSites
from tests.support.origin_world import LOADED, Tab, World, open_world, until

pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="module")]
REFUSED = "Host.navigationRefused"
NOT_ALLOWED = "ORIGIN_NOT_ALLOWED"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[World]:
    async with open_world() as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def world(shared: World) -> AsyncIterator[World]:
    yield shared
    await shared.leave()


@dataclass(frozen=True, slots=True)
class Way:
    """A page of the shop, then what it does (or a click on it); TO is where it wants to go."""

    page: str = ""
    script: str = ""
    click: bool = False
    headers: tuple[tuple[str, str], ...] = ()


LINK = "<style>a {position: fixed; inset: 0; font-size: 90px}</style>"
BLOB = "URL.createObjectURL(new Blob([\"<script>location.href = 'TO'</script>\"], {type: 'text/html'}))"
WAYS = {
    "location": Way(script="location.href = 'TO'"),
    "location-replace": Way(script="location.replace('TO')"),
    "navigation-api": Way(script="navigation.navigate('TO')"),
    "open-into-itself": Way(script="window.open('TO', '_self')"),
    "meta-refresh": Way(page="<meta http-equiv=refresh content='0; url=TO'>"),
    "refresh-header": Way(headers=(("Refresh", "0; url=TO"),)),
    "form-get": Way(page="<form action='TO'><input name=a value=b></form>", script="document.forms[0].submit()"),
    "form-post": Way(page="<form action='TO' method=post><input name=a></form>", script="document.forms[0].submit()"),
    "link": Way(page=f"{LINK}<a href='TO'>go</a>", click=True),
    "link-by-a-base": Way(page=f"<base href='{{mail}}/'>{LINK}<a href='TO'>go</a>", click=True),
    "link-of-a-script": Way(page=f"{LINK}<a href=\"javascript:void(location = 'TO')\">go</a>", click=True),
    "link-of-a-frame": Way(
        page=f'<iframe style="position: fixed; inset: 0" srcdoc="{LINK}<a href=TO target=_top>go</a>"></iframe>',
        click=True,
    ),
    "script-of-a-frame": Way(page="<iframe srcdoc=\"<script>top.location = 'TO'</script>\"></iframe>"),
    "script-written-into-a-frame": Way(
        page="<iframe id=f></iframe>",
        script="f.contentDocument.write('<script>top.location = \"TO\"<' + '/script>'), f.contentDocument.close()",
    ),
    "script-written-over-the-page": Way(
        script="document.open(), document.write('<script>location = \"TO\"<' + '/script>'), document.close()"
    ),
    "blob-document": Way(script=f"location.href = {BLOB}"),
    "redirect-301": Way(script="location.href = '/hop/301?TO'"),
    "redirect-302": Way(script="location.href = '/hop/302?TO'"),
    "redirect-303": Way(script="location.href = '/hop/303?TO'"),
    "redirect-307-of-a-post": Way(
        page="<form action='/hop/307?TO' method=post></form>", script="document.forms[0].submit()"
    ),
    "redirect-308": Way(script="location.href = '/hop/308?TO'"),
    "redirect-twice": Way(script="location.href = '/hop/302?/hop/302?TO'"),
    "with-a-name": Way(script="window.name = 'carried', location.href = 'TO'"),
    "reload-of-what-moved": Way(script="history.replaceState(0, '', '/hop/302?TO'), location.reload()"),
}


def serve(sites: OriginSites, name: str, way: Way) -> str:
    """Put the pages of a way up; its URL."""
    target = f"{{mail}}/landed/{name}"
    sites.put(target, "<title>foreign</title><script>document.title = 'foreign ' + name</script>")
    for status in (301, 302, 303, 307, 308):
        sites.put(f"{{shop}}/hop/{status}", hop(status))
    headers = tuple((key, value.replace("TO", target)) for key, value in way.headers)
    page = way.page.replace("TO", f"landed/{name}" if "<base" in way.page else target)
    return sites.put(f"{{shop}}/way/{name}", Answer(f"<!doctype html>{page}", headers=headers))


def hop(status: int) -> Any:
    return lambda asked: Answer("", status, headers=(("Location", asked.query),))


async def go(tab: Tab, name: str, way: Way) -> None:
    """Do what the way is about."""
    if way.script:
        await tab.later(way.script.replace("TO", f"{{mail}}/landed/{name}"))
    if way.click:
        await tab.click()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pair(shared: World) -> AsyncIterator[tuple[World, Tab, Tab]]:
    """Two tabs for all ways: one is kept inside, one is the control."""
    lasting = World(shared.host, shared.sites, "ways")
    yield lasting, await lasting.open("about:blank", origins=["shop"]), await lasting.open("about:blank")
    await lasting.leave()


@pytest.mark.parametrize("name", WAYS)
async def test_a_page_does_not_leave_its_origins(pair: tuple[World, Tab, Tab], name: str) -> None:
    world, kept, free = pair
    await asyncio.gather(_stays(world, kept, f"{name}/kept", WAYS[name]), _leaves(free, f"{name}/free", WAYS[name]))


async def _stays(world: World, tab: Tab, name: str, way: Way) -> None:
    await tab.from_now()
    await tab.cdp("Page.navigate", url=serve(world.sites, name, way))
    await go(tab, name, way)
    (told,) = await tab.told(REFUSED)
    assert (told["code"], told["origin"]) == (NOT_ALLOWED, world.sites.origins["mail"])
    assert str(await tab.js("location.origin")) in (world.sites.origins["shop"], "null")
    assert world.sites.hit(f"{{mail}}/landed/{name}") == 0
    row = (await world.ledger("navigation", tab.talker))[-1]
    assert (row.verdict, world.sites.origins["mail"] in row.reason) == (NOT_ALLOWED, True)


async def _leaves(tab: Tab, name: str, way: Way) -> None:
    """The control."""
    await tab.cdp("Page.navigate", url=serve(tab.sites, name, way))
    await go(tab, name, way)
    await until(partial(_at, tab, f"{{mail}}/landed/{name}"), "the control at the foreign page")
    assert tab.sites.hit(f"{{mail}}/landed/{name}") == 1


async def _at(tab: Tab, url: str) -> bool:
    try:
        return str(await tab.js("location.href")).startswith(tab.sites.filled(url))
    except CapError:  # on its way
        return False


async def test_a_page_that_is_asked_for_outside_is_refused_by_name(world: World) -> None:
    sites, talker = world.sites, world.caller(["shop"])
    sites.put("{shop}/", "<title>shop</title>")
    sites.put("{shop}/hop/302", hop(302))
    foreign = sites.put("{mail}/asked", "<title>foreign</title>")
    before = len(world.host.sessions)
    for url in (foreign, sites.filled(f"{{shop}}/hop/302?{foreign}")):
        with pytest.raises(CapError) as refused:
            await talker.ok("browser.openSession", url=url)
        assert (refused.value.code, sites.origins["mail"] in refused.value.message) == (NOT_ALLOWED, True)
    await until(partial(_is, lambda: len(world.host.sessions) == before), "the slots given back")
    tab = Tab(talker, sites, await talker.open(sites.filled("{shop}/")))
    await tab.js(LOADED)
    for url in (foreign, sites.filled(f"{{shop}}/hop/302?{foreign}")):
        problem = await tab.problem("Page.navigate", url=url)
        assert problem is not None
        assert (problem.code, sites.origins["mail"] in problem.message) == (NOT_ALLOWED, True)
    assert await tab.js("document.title") == "shop"
    assert sites.hit("{mail}/asked") == 0
    control = world.caller()
    for _ in range(2):
        assert (await control.ok("browser.openSession", url=url))["navigation"] == {"url": foreign, "status": 200}


async def _is(condition: Any) -> bool:
    return bool(condition())


def moves(sites: OriginSites, name: str, gone: list[str]) -> str:
    """Serve a page of the shop that is sent on to a foreign one once its name is in `gone`; its URL."""
    sites.put(f"{{mail}}/{name}", "<title>foreign</title>")
    there = Answer("", 302, headers=(("Location", sites.filled(f"{{mail}}/{name}")),))
    # Out of the back/forward cache nobody would be asked; such a page is not kept there.
    page = "<title>at home</title><script>addEventListener('unload', () => 0)</script>"
    here = Answer(page, headers=(("Permissions-Policy", "unload=(self)"),))
    return sites.put(f"{{shop}}/{name}", lambda asked: there if name in gone else here)


@pytest.mark.parametrize("how", ["reload", "step-back"])
async def test_what_was_at_home_does_not_lead_outside_when_it_is_asked_for_again(world: World, how: str) -> None:
    sites, gone = world.sites, list[str]()
    sites.put("{shop}/next", "<title>next</title>")
    for name, origins in ((f"{how}-inside", ["shop"]), (f"{how}-free", [])):
        tab = await world.open(moves(sites, name, gone), origins=origins)
        gone.append(name)
        if how == "reload":
            await tab.js(LOADED)
            await tab.cdp("Page.reload", ignoreCache=True, scriptToEvaluateOnLoad="document.title = 'mine'")
        else:
            await tab.cdp("Page.navigate", url=sites.filled("{shop}/next"))
            await tab.shows("{shop}/next")
            history = (await tab.cdp("Page.getNavigationHistory"))["entries"]
            (entry,) = [one["id"] for one in history if one["url"].endswith(name)]
            await tab.problem("Page.navigateToHistoryEntry", entryId=entry)
        if origins:
            await tab.told(REFUSED)
            assert await tab.js("document.title") == ("at home" if how == "reload" else "next")
            assert sites.hit(f"{{mail}}/{name}") == 0
        else:
            await until(partial(_at, tab, f"{{mail}}/{name}"), "the control at the foreign page")


INSIDE = {  # what is no way out, and is left alone: script, and where the page is then
    "push-state": ("history.pushState(0, '', '/pushed')", "{shop}/pushed"),
    "fragment": ("location.hash = 'there'", "{shop}/stays#there"),
    "own-blob": (f"location.href = {BLOB.replace('TO', '#x')}", None),
    "blank": ("location.href = 'about:blank'", "about:blank"),
    "written-over": ("document.open(), document.write('<p>mine'), document.close()", "{shop}/stays"),
    "another-own-page": ("location.href = '/hop/302?/other'", "{shop}/other"),
}


@pytest.mark.parametrize("name", INSIDE)
async def test_what_stays_inside_is_left_alone(world: World, name: str) -> None:
    script, url = INSIDE[name]
    world.sites.put("{shop}/stays", "<title>stays</title>")
    world.sites.put("{shop}/hop/302", hop(302))
    tab = await world.open("{shop}/stays", origins=["shop"])
    await tab.later(script)
    await until(partial(_at, tab, url or "blob:{shop}/"), "the page where it wanted to be")
    assert await tab.events(REFUSED) == []
    assert await tab.js("1 + 1") == 2


async def test_a_window_is_not_opened_outside(world: World) -> None:
    sites = world.sites
    sites.put("{mail}/window", "<title>foreign</title>")
    page = f"<!doctype html>{LINK}<a href='{{mail}}/window?REL' target=_blank REL>go</a>"
    for rel in ("rel=opener", "rel=noopener"):
        url = sites.put("{shop}/opens", page.replace("REL", rel))
        tab = await world.open(url, origins=["shop"])
        await tab.click()
        await until(partial(_any, tab, "Host.popupRefused", "Host.popupOpened"), "word of the window")
        assert sites.hit("{mail}/window") == 0
        for session in world.host.sessions.of(tab.talker.who):
            if session.id != tab.id:
                other = Tab(tab.talker, sites, session.id)
                await other.told(REFUSED)
                assert await other.js("location.href") == "about:blank"
        assert await tab.js("1 + 1") == 2
    assert sites.hit("{mail}/window") == 0


async def _any(tab: Tab, *methods: str) -> bool:
    return bool(await tab.events(*methods))


# --- what answers navigations without the network

SW = """
addEventListener('install', () => skipWaiting())
addEventListener('activate', event => event.waitUntil(clients.claim()))
addEventListener('fetch', event => {
  const url = new URL(event.request.url)
  if (url.pathname == '/by-redirect') event.respondWith(Response.redirect('{lmail}/seen'))
  if (url.pathname == '/by-fetch') event.respondWith(fetch('{lmail}/seen'))
  if (url.pathname == '/by-itself') event.respondWith(new Response('<title>made</title>MADE-BY-WORKER',
    {headers: {'Content-Type': 'text/html'}}))
})
"""
REGISTER = (
    "<!doctype html><title>-</title><script>navigator.serviceWorker.register('/sw.js')"
    ".then(() => navigator.serviceWorker.ready).then(() => document.title = 'ready')</script>"
)


async def register(world: World, short: str) -> Tab:
    """Have a site's service worker installed by somebody else in the same profile."""
    world.sites.put(f"{{{short}}}/sw.js", Answer(SW, kind="text/javascript"))
    world.sites.put(f"{{{short}}}/register", REGISTER)
    tab = await world.open(f"{{{short}}}/register", places=["lshop", "lpay", "lmail"])

    async def ready() -> bool:
        return bool(await tab.js("document.title") == "ready")

    await until(ready, "the service worker")
    return tab


async def test_a_foreign_service_worker_shows_nothing(world: World) -> None:
    sites = world.sites
    other = await register(world, "lmail")
    await other.cdp("Page.navigate", url=sites.filled("{lmail}/by-itself"))
    await other.shows("{lmail}/by-itself")
    assert await other.js("document.title") == "made"  # the control: it answers, and nobody is asked
    assert sites.hit("{lmail}/by-itself") == 0
    tab = await world.open("{lshop}/", origins=["lshop"], places=["lshop"])
    ran = f"fetch('{sites.origins['lshop']}/ran', {{mode: 'no-cors'}})"
    for method in ("Fetch.disable", "Network.disable", "Page.disable"):
        await tab.cdp(method)
    await tab.cdp("Network.setBypassServiceWorker", bypass=False)
    await tab.cdp("Page.enable")
    await tab.cdp("Page.addScriptToEvaluateOnNewDocument", source=f"if (!origin.includes('//shop.')) {ran}")
    read = {"expression": "document.documentElement.outerHTML", "returnByValue": True}
    flood = [tab.talker.post("browser.cdp", sessionId=tab.id, method="Runtime.evaluate", params=read)]
    await tab.later("location.href = '{lmail}/by-itself'")
    while not await tab.events(REFUSED) or len(flood) < 60:
        for _ in range(20):
            flood.append(tab.talker.post("browser.cdp", sessionId=tab.id, method="Runtime.evaluate", params=read))
        await asyncio.wait(flood[-1:], timeout=5)
    answers = await asyncio.gather(*flood, return_exceptions=True)
    assert not [answer for answer in answers if "MADE-BY-WORKER" in str(answer)]
    assert (sites.hit("{lshop}/ran"), sites.hit("{lmail}/by-itself")) == (0, 0)
    assert await tab.js("location.origin") == sites.origins["lshop"]


async def test_the_service_worker_of_the_app_itself_does_not_lead_outside(world: World) -> None:
    sites = world.sites
    sites.put("{lmail}/seen", Answer("<title>seen</title>", headers=(("Access-Control-Allow-Origin", "*"),)))
    other = await register(world, "lshop")
    for path, ends in (("/by-redirect", "{lmail}/seen"), ("/by-fetch", "{lshop}/by-fetch")):
        await other.cdp("Page.navigate", url=sites.filled(f"{{lshop}}{path}"))
        await other.shows(ends)
    assert sites.hit("{lmail}/seen") == 2  # the control
    tab = await world.open("{lshop}/", origins=["lshop"], places=["lshop"])
    for path in ("/by-redirect", "/by-fetch"):
        await tab.cdp("Page.navigate", url=sites.filled(f"{{lshop}}{path}"))
        await tab.shows(f"{{lshop}}{path}")
        assert sites.hit(f"{{lshop}}{path}") == 1  # the site was asked, as if there were no worker
    assert sites.hit("{lmail}/seen") == 2


@pytest.mark.parametrize("action", ["prefetch", "prerender"])
async def test_a_page_that_was_fetched_in_advance_is_not_shown(world: World, action: str) -> None:
    sites = world.sites
    await world.open("about:blank", places=["lshop", "lpay"])  # somebody has the place open: the proxy lets it pass
    sites.put(f"{{lpay}}/{action}", Answer("<title>foreign</title>", headers=(("Cache-Control", "max-age=60"),)))
    urls = [sites.filled(f"{{lpay}}/{action}")]
    rules = json.dumps({action: [{"source": "list", "urls": urls, "eagerness": "immediate"}]})
    script = f"{{type: 'speculationrules', textContent: '{rules}'}}"
    add = f"document.head.append(Object.assign(document.createElement('script'), {script}))"
    tab = await world.open("{lshop}/", origins=["lshop"], places=["lshop"])
    await tab.cdp("Preload.enable")
    ran = f"if (!origin.includes('//shop.')) fetch('{sites.origins['lshop']}/ran', {{mode: 'no-cors'}})"
    await tab.cdp("Page.addScriptToEvaluateOnNewDocument", source=ran)
    await tab.js(f"{add}, 1")
    await tab.told("Preload.prefetchStatusUpdated")
    await asyncio.sleep(0.3)
    await tab.later(f"location.href = '{{lpay}}/{action}'")
    (told,) = await tab.told(REFUSED)
    assert told["origin"] == sites.origins["lpay"]
    assert sites.hit("{lshop}/ran") == 0


# --- when one is outside all the same


async def outside_somehow(world: World, tab: Tab) -> None:
    """Bring a foreign page to the top past the fence, as no caller can."""
    session = world.host.sessions.owned(tab.talker.who, tab.id)
    connection = session.connection
    await connection.start("Fetch.disable", {}, session.page.guard)
    connection.start("Page.navigate", {"url": world.sites.filled("{mail}/outside")}, session.page.app)


async def test_a_page_outside_closes_its_session_and_no_other(world: World) -> None:
    sites = world.sites
    tab = await world.open("{shop}/", origins=["shop"])
    beside = Tab(tab.talker, sites, await tab.talker.open(sites.filled("{shop}/")))
    notices: list[tuple[str, Any]] = []
    world.host.dispatcher.hear(tab.talker.who, lambda notice, data: notices.append((notice, data)))
    await outside_somehow(world, tab)

    async def closed() -> bool:
        return await tab.code("Runtime.evaluate", expression="1") == "SESSION_CLOSED"

    await until(closed, "the end of the session")
    assert [(notice, data["sessionId"]) for notice, data in notices] == [("session.closed", tab.id)]
    rows = await world.ledger("navigation", tab.talker)
    assert [(row.verdict, sites.origins["mail"] in row.reason) for row in rows] == [(NOT_ALLOWED, True)]
    assert await beside.js("location.href") == sites.filled("{shop}/")
    assert [session.id for session in world.host.sessions.of(tab.talker.who)] == [beside.id]

    free = await world.open("{shop}/")
    await outside_somehow(world, free)
    await free.shows("{mail}/outside")


async def test_a_blank_page_of_a_foreign_frame_closes_the_session(world: World) -> None:
    sites = world.sites
    sites.put("{mail}/leads-to-nothing", f"<!doctype html>{LINK}<a href='about:blank' target=_top>go</a>")
    page = "<!doctype html><iframe style='position: fixed; inset: 0' src='{mail}/leads-to-nothing'></iframe>"
    url = sites.put("{shop}/frames-it", page)
    free = await world.open(url)
    await free.told("Target.attachedToTarget")
    await until(partial(_clicks_to_blank, free), "the control on a blank page")
    assert await free.js("origin") == sites.origins["mail"]  # it is its creator's

    tab = await world.open(url, origins=["shop"])

    async def closed() -> bool:
        try:
            await tab.click()
        except CapError as problem:
            return problem.code == "SESSION_CLOSED"
        return False

    await until(closed, "the end of the session")
    (row,) = await world.ledger("navigation", tab.talker)
    assert (row.verdict, sites.origins["mail"] in row.reason) == (NOT_ALLOWED, True)


async def _clicks_to_blank(tab: Tab) -> bool:
    if not await _at(tab, "about:blank"):
        await tab.click()
    return await _at(tab, "about:blank")
