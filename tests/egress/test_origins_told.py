"""What an app's own page loads from elsewhere: no cookie, no text and no further address of it is told to a script."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import AsyncIterator
from functools import partial

import pytest
import pytest_asyncio

from tests.support.origin_fetch import (
    MINE,
    PAUSED,
    REQUESTS,
    RESPONSES,
    SECRETS,
    TEXT,
    hold,
    is_now,
    sign_in,
    tabs,
    was_hit,
)
from tests.support.origin_sites import Answer
from tests.support.origin_world import Tab, World, open_world, until

pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[World]:
    async with open_world() as made:
        await sign_in(made)
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def world(shared: World) -> AsyncIterator[World]:
    yield shared
    await shared.leave()


LOADS = """
  const add = (tag, more) => document.head.append(Object.assign(document.createElement(tag), more))
  for (const site of ['{pay}', '{mail}']) {
    new Image().src = site + '/png'
    add('script', {src: site + '/js'})
    add('link', {rel: 'stylesheet', href: site + '/css'})
    add('link', {rel: 'stylesheet', href: '/go?' + site + '/css'})
    add('link', {rel: 'manifest', href: site + '/json'})
    fetch(site + '/json', {credentials: 'include'}).catch(e => 0)
    fetch(site + '/json', {mode: 'no-cors', credentials: 'include'}).catch(e => 0)
    navigator.sendBeacon(site + '/json', 'x')
    document.body.append(Object.assign(document.createElement('iframe'), {src: site + '/page'}))
    new WebSocket(site.replace('http', 'ws') + '/socket').onerror = () => window.over = (window.over || 0) + 1
  }
"""
URLS = [f"{{{short}}}/{path}" for short in ("pay", "mail") for path in ("js", "css", "png", "json", "page")]
URLS += ["{shop}/go?{pay}/css", "{shop}/go?{mail}/css"]


async def loaded(tab: Tab, *, held: bool) -> str:
    """Have the page load what it can from foreign sites, with all eyes open; everything that was told."""
    for method in ("Audits.enable", "Debugger.enable", "CSS.enable"):
        await tab.cdp(method)
    if held:
        await hold(tab, *REQUESTS, *RESPONSES)
    await tab.later(LOADS)
    answered: set[tuple[str, bool]] = set()

    async def over() -> bool:
        for event in await tab.events(PAUSED):
            params = event["params"]
            one = (params["requestId"], "responseStatusCode" in params)
            if one not in answered:
                answered.add(one)
                if one[1]:
                    await tab.answers("Fetch.getResponseBody", requestId=one[0])
                await tab.problem("Fetch.continueRequest", requestId=one[0])
        return await is_now(tab, "window.over >= 2 && document.styleSheets.length >= 4", True)

    await until(over, "what the page loads")
    await asyncio.sleep(0.3)
    await tab.cdp("Fetch.disable")  # what is still held would hold up those who read
    return await tab.everything(*URLS, query=TEXT)


@pytest.mark.parametrize("held", [False, True], ids=["seen", "held"])
async def test_no_cookie_of_a_foreign_site_is_told(world: World, held: bool) -> None:
    tab, free = await tabs(world)
    told, control = await loaded(tab, held=held), await loaded(free, held=held)
    assert [secret for secret in SECRETS if secret in told] == []
    assert {"PAY-STRICT-COOKIE", "FRESH-COOKIE"} <= {secret for secret in SECRETS if secret in control}
    assert MINE in told  # its own are still there


async def test_what_a_page_cannot_read_of_a_foreign_answer_nobody_is_told(world: World) -> None:
    tab, free = await tabs(world)
    told, control = await loaded(tab, held=False), await loaded(free, held=False)
    assert TEXT in control
    assert TEXT not in told


ADD = "const add = (tag, more) => document.body.append(Object.assign(document.createElement(tag), more));"
LEADS_ON = {  # what asks, and what it is answered with in the end
    "fetch": ("fetch('GO', {mode: 'no-cors', credentials: 'include'})", Answer("")),
    "fetch-that-may": ("fetch('GO', {credentials: 'include'})", Answer("")),
    "image": (f"{ADD} add('img', {{src: 'GO'}})", Answer("", kind="image/png")),
    "script": (f"{ADD} add('script', {{src: 'GO'}})", Answer("1", kind="text/javascript")),
    "style": (f"{ADD} add('link', {{rel: 'stylesheet', href: 'GO'}})", Answer("b {}", kind="text/css")),
    "frame": (f"{ADD} add('iframe', {{src: 'GO'}})", Answer("<p>there")),
    "object": (f"{ADD} add('object', {{data: 'GO'}})", Answer("<p>there")),
    "download": (f"{ADD} add('iframe', {{src: 'GO'}})", Answer("x", headers=(("Content-Disposition", "attachment"),))),
    "events": ("window.kept = new EventSource('GO')", Answer("data: x\n\n", kind="text/event-stream")),
}


@pytest.mark.parametrize("name", LEADS_ON)
async def test_where_a_foreign_answer_leads_on_is_not_told(world: World, name: str) -> None:
    script, end = LEADS_ON[name]
    allow: tuple[tuple[str, str], ...] = ()
    if name in ("fetch-that-may", "events"):
        allow = (("Access-Control-Allow-Origin", "{shop}"), ("Access-Control-Allow-Credentials", "true"))
    to = (("Location", f"{{mail}}/{name}/done?code=SIGN-IN-CODE"), *allow)
    world.sites.put(f"{{mail}}/{name}", Answer("", 302, headers=to))
    done = world.sites.put(f"{{mail}}/{name}/done", end)
    tab, free = await tabs(world)
    for one in (tab, free):
        for method in ("Audits.enable", "CSS.enable", "Debugger.enable"):
            await one.cdp(method)
        await one.later(script.replace("GO", f"{{mail}}/{name}"))
    await until(partial(was_hit, world, done, 2), "where it leads to")
    await asyncio.sleep(0.3)
    told, control = await asyncio.gather(tab.everything(query="CODE"), free.everything(query="CODE"))
    assert ("SIGN-IN-CODE" in told, "SIGN-IN-CODE" in control) == (False, True)


async def test_a_foreign_answer_is_not_read_while_it_comes(world: World) -> None:
    script = "fetch('{pay}/slow', {mode: 'no-cors', credentials: 'include'}).then(r => window.kept = r)"
    encoded = base64.b64encode(TEXT.encode() * 3).decode()[:32]
    for tab, wanted in zip(await tabs(world), (False, True), strict=True):
        halfway = threading.Event()
        world.sites.put("{pay}/slow", Answer(TEXT * 30_000, kind="application/octet-stream", halfway=halfway))
        await tab.later(script)
        await until(partial(is_now, tab, "!!window.kept", True), "the answer's beginning")
        asked = await tab.told("Network.requestWillBeSent")
        (request,) = [one["requestId"] for one in asked if one["request"]["url"].endswith("/slow")]
        streamed = await tab.answers("Network.streamResourceContent", requestId=request)
        halfway.set()
        await asyncio.sleep(0.3)
        told = [streamed, *(str(event["params"].get("data", "")) for event in await tab.events("Network.dataReceived"))]
        assert any(encoded in one for one in told) == wanted


async def test_a_foreign_style_sheet_is_not_read_by_a_guessed_id(world: World) -> None:
    """Chromium numbers them, and names them where they matter to an element."""
    page = "<!doctype html><title>styled</title><style>i {}</style><link rel=stylesheet href={pay}/css><b>x</b>"
    world.sites.put("{shop}/styled", page)
    for origins in (["shop"], []):
        tab = await world.open("{shop}/styled", origins=origins)
        await tab.cdp("CSS.enable")
        await until(partial(is_now, tab, "document.styleSheets.length", 2), "the style sheets")
        first = (await tab.told("CSS.styleSheetAdded"))[0]["header"]["styleSheetId"]
        root = (await tab.cdp("DOM.getDocument"))["root"]["nodeId"]
        node = (await tab.cdp("DOM.querySelector", nodeId=root, selector="b"))["nodeId"]
        rules = (await tab.cdp("CSS.getMatchedStylesForNode", nodeId=node))["matchedCSSRules"]
        start, _, number = first.rpartition("-")
        guesses = {f"{start}-{int(number) + step}" for step in range(-3, 5)}
        guesses |= {rule["rule"]["styleSheetId"] for rule in rules if "styleSheetId" in rule["rule"]}
        texts = [await tab.answers("CSS.getStyleSheetText", styleSheetId=one) for one in sorted(guesses)]
        assert any("i {}" in text for text in texts)
        assert any(TEXT in text for text in texts) == (origins == [])


@pytest.mark.parametrize("kind", ["text/plain", "application/octet-stream"])
@pytest.mark.parametrize("path", ["{pay}/notes", "/go?{pay}/notes"], ids=["directly", "by-an-own-address"])
async def test_a_foreign_text_is_not_read_as_a_script(world: World, kind: str, path: str) -> None:
    """It is none, so the page gets nothing of it; V8 keeps it all the same."""
    done = world.sites.put("{pay}/notes", Answer("private notes: PRIVATENOTES of the owner", kind=kind))
    before = world.sites.hit(done)
    tab, free = await tabs(world)
    told = []
    for one in (tab, free):
        await one.cdp("Debugger.enable")
        script = f"Object.assign(document.createElement('script'), {{src: '{path}', onload: () => window.over = 1}})"
        await one.later(f"document.head.append({script})")
        await until(partial(is_now, one, "window.over", 1), "the end of the script")
        sources = [await one.answers("Debugger.getScriptSource", scriptId=str(number)) for number in range(1, 30)]
        assert any("window.over" in source for source in sources)  # its own it may read
        told.append("\n".join([*sources, await one.everything(query="PRIVATENOTES")]))
    assert world.sites.hit(done) == before + 2
    assert ["PRIVATENOTES" in one for one in told] == [False, True]


async def test_cookies_are_asked_of_the_apps_own_pages_alone(world: World) -> None:
    tab, free = await tabs(world)
    frame = "document.body.append(Object.assign(document.createElement('iframe'), {src: '{pay}/page?cookies'}))"
    for one, wanted in ((tab, {MINE}), (free, {MINE, "PAY-STRICT-COOKIE"})):
        before = world.sites.hit("{pay}/page")
        await one.later(frame)
        await until(partial(was_hit, world, "{pay}/page", before + 1), "the frame")
        if one is free:
            await one.told("Target.attachedToTarget")
        await asyncio.sleep(0.2)
        values = {cookie["value"] for cookie in (await one.cdp("Network.getCookies"))["cookies"]}
        assert values >= wanted
        assert values.isdisjoint({"PAY-STRICT-COOKIE"} - wanted)
        code = await one.code("Network.getCookies", urls=[world.sites.filled("{pay}/page")])
        assert code == ("BROWSER_POLICY_DENIED" if one is tab else "")
