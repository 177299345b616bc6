"""Frames of other origins load in an app's tab, and are not lent: nothing of them is told, read, run or dragged out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
import pytest_asyncio

from capsdk.errors import CapError
from tests.support.origin_sites import Answer
from tests.support.origin_world import LOADED, Tab, World, bodies, open_world, until

pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="module")]
ATTACHED, DETACHED = "Target.attachedToTarget", "Target.detachedFromTarget"
TEXT = "FOREIGN-TEXT"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[World]:
    async with open_world() as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def world(shared: World) -> AsyncIterator[World]:
    yield shared
    await shared.leave()


FOREIGN = f"""<!doctype html><title>{TEXT}</title><p>{TEXT}</p>
<script>console.log('{TEXT}'); fetch('/inner').then(() => 0)</script><img src=/picture>"""
HEADERS = (("Origin-Agent-Cluster", "?0"), ("X-Told", TEXT))  # what a site says that wants its origins in one process


@dataclass(frozen=True, slots=True)
class Kind:
    """A frame of the shop's page, and where its foreign document is."""

    frame: str
    site: str = "mail"


KINDS = {
    "another-site": Kind("<iframe src='{mail}/KIND'></iframe>"),
    "another-origin-of-the-site": Kind("<iframe src='{pay}/KIND'></iframe>", "pay"),
    "sandboxed": Kind("<iframe src='{mail}/KIND' sandbox='allow-scripts'></iframe>"),
    "sandboxed-of-the-site": Kind(
        "<iframe src='{pay}/KIND' sandbox='allow-scripts allow-same-origin'></iframe>", "pay"
    ),
    "redirected": Kind("<iframe src='/hop?{mail}/KIND'></iframe>"),
    "redirected-by-the-foreign-site": Kind("<iframe src='{pay}/marks?{mail}/KIND'></iframe>"),
    "in-an-own-frame": Kind('<iframe srcdoc="<iframe src={mail}/KIND></iframe>"></iframe>'),
    "in-an-own-frame-with-an-address": Kind("<iframe src='/holds?<iframe src={pay}/KIND></iframe>'></iframe>", "pay"),
    "in-a-lent-frame": Kind("<iframe src='{cdn}/holds?<iframe src={mail}/KIND></iframe>'></iframe>"),
    "around-an-own-one": Kind("<iframe src='{pay}/holds?<iframe src={shop}/KIND></iframe>'></iframe>", "shop"),
    "object": Kind("<object data='{mail}/KIND' type='text/html'></object>"),
    "embed": Kind("<embed src='{mail}/KIND' type='text/html'>"),
    "by-a-script": Kind("<iframe id=f></iframe><script>f.src = '{mail}/KIND'</script>"),
    "by-a-form": Kind(
        "<iframe name=f></iframe><form action='{mail}/KIND' method=post target=f></form>"
        "<script>document.forms[0].submit()</script>"
    ),
}


def serve(world: World, name: str) -> str:
    """Put a page with such a frame up; its URL."""
    kind, sites = KINDS[name], world.sites
    for short in ("shop", "pay"):
        sites.put(f"{{{short}}}/hop", lambda asked: Answer("", 302, headers=(("Location", asked.query),)))
    sites.put("{pay}/marks", lambda asked: Answer("", 302, headers=(("Location", f"{asked.query}?{TEXT}"),)))
    for short in ("shop", "cdn", "pay"):
        sites.put(f"{{{short}}}/holds", lambda asked: Answer(unquoted(asked.query)))
    sites.put(f"{{{kind.site}}}/{name}", Answer(FOREIGN, headers=HEADERS))
    page = "<!doctype html><title>shop</title>" + kind.frame.replace("KIND", name)
    return sites.put(f"{{shop}}/with/{name}", Answer(page, headers=HEADERS[:1]))


def unquoted(query: str) -> str:
    return "<!doctype html>" + query.replace("%3C", "<").replace("%3E", ">").replace("%20", " ")


@pytest.mark.parametrize("name", KINDS)
async def test_a_foreign_frame_loads_and_is_not_lent(world: World, name: str) -> None:
    url, inner = serve(world, name), f"{{{KINDS[name].site}}}/{name}"
    free, tab = await asyncio.gather(world.open(url), world.open(url, origins=["shop", "cdn"]))
    await until(partial(_more, world, inner, 1), "the foreign documents")
    await until(partial(_attached, free, inner), "the handle that the control gets")
    await tab.js("new Promise(done => setTimeout(done, 200))")
    control, told = await asyncio.gather(free.everything(inner, query=TEXT), tab.everything(inner, query=TEXT))
    assert TEXT in control
    assert TEXT not in told
    handles = [event["params"]["targetInfo"]["url"] for event in await tab.events(ATTACHED)]
    assert [one for one in handles if not one.startswith(world.sites.origins["cdn"])] == []
    created = [event["params"]["context"]["origin"] for event in await tab.events(*CONTEXTS)]
    assert {one.partition("//")[2] for one in created} <= {"", "shop.example", "cdn.example"}


CONTEXTS = ("Runtime.executionContextCreated",)


async def _more(world: World, url: str, before: int) -> bool:
    return world.sites.hit(url) > before


async def _attached(tab: Tab, url: str) -> bool:
    """Has some frame of the tab this document?"""
    for event in await tab.events(ATTACHED):
        try:
            if str(await tab.js("location.href", event["params"]["sessionId"])).startswith(tab.sites.filled(url)):
                return True
        except CapError:
            continue  # it goes, or has gone
    return url.startswith("{shop}") and bool(await tab.events(ATTACHED))


async def test_a_frame_that_goes_out_and_comes_back(world: World) -> None:
    sites = world.sites
    sites.put("{cdn}/own", "<title>own</title>")
    sites.put("{mail}/out", FOREIGN)
    url = sites.put("{shop}/travels", "<!doctype html><iframe id=f src='{cdn}/own'></iframe>")
    tab = await world.open(url, origins=["shop", "cdn"])
    first = (await tab.told(ATTACHED))[0]["sessionId"]
    await until(partial(_is, tab, "document.title", "own", first), "the own frame")
    await tab.js("f.src = '{mail}/out', 1")
    await tab.told(DETACHED)
    assert await tab.code("Runtime.evaluate", first, expression="1") == "TARGET_GONE"
    await until(partial(_more, world, "{mail}/out", 0), "the foreign document")
    await tab.js("f.src = '{cdn}/own?again', 1")
    second = (await tab.told(ATTACHED, 2))[1]["sessionId"]
    assert second != first
    await until(partial(_is, tab, "document.title + location.search", "own?again", second), "the frame that came back")
    assert TEXT not in await tab.everything("{mail}/out", query=TEXT)


async def test_a_frame_that_begins_outside_is_lent_when_it_comes_in(world: World) -> None:
    sites = world.sites
    sites.put("{mail}/first", FOREIGN)
    sites.put("{cdn}/own", "<title>own</title>")
    url = sites.put("{shop}/begins", "<!doctype html><iframe id=f src='{mail}/first'></iframe>")
    tab = await world.open(url, origins=["shop", "cdn"])
    await foreign_in(tab)
    assert await tab.events(ATTACHED) == []
    await tab.js("f.src = '{cdn}/own', 1")
    handle = (await tab.told(ATTACHED))[0]["sessionId"]
    await until(partial(_is, tab, "document.title", "own", handle), "the frame that came in")
    assert TEXT not in await tab.everything("{mail}/first", query=TEXT)


async def _is(tab: Tab, expression: str, value: Any, handle: str | None = None) -> bool:
    try:
        return bool(await tab.js(expression, handle) == value)
    except CapError:  # on its way
        return False


async def foreign_in(tab: Tab, *numbers: int) -> None:
    """Wait until the first frame, or those of these numbers, can not be looked into."""
    for number in numbers or (0,):
        there = f"frames.length > {number}"  # a frame that is not there yet cannot be looked into either
        closed = f"{there} && (() => {{ try {{ return !frames[{number}].document }} catch (e) {{ return true }} }})()"
        await until(partial(_is, tab, closed, True), "a foreign document in the frame")


@pytest.mark.parametrize("short", ["mail", "pay"])
async def test_what_a_script_put_into_an_own_frame_does_not_run_in_a_foreign_one(world: World, short: str) -> None:
    sites = world.sites
    sites.put("{cdn}/own", "<title>own</title>")
    sites.put(f"{{{short}}}/next", FOREIGN)
    sites.put("{shop}/ran", "ran")
    url = sites.put("{shop}/prepares", "<!doctype html><iframe id=f src='{cdn}/own'></iframe>")
    source = sites.filled("if (!origin.includes('//cdn.')) fetch('{shop}/ran', {mode: 'no-cors'})")
    for free in (True, False):
        before, ran = sites.hit(f"{{{short}}}/next"), sites.hit("{shop}/ran")
        tab = await world.open(url, origins=() if free else ("shop", "cdn"))
        handle = (await tab.told(ATTACHED))[0]["sessionId"]
        await tab.cdp("Page.addScriptToEvaluateOnNewDocument", handle, source=source)
        await tab.cdp("Runtime.addBinding", handle, name="told")
        read = {"expression": "document.documentElement.outerHTML", "returnByValue": True}
        await tab.js(f"f.src = '{{{short}}}/next', 1")
        flood: list[asyncio.Future[dict[str, Any]]] = []
        while sites.hit(f"{{{short}}}/next") == before or len(flood) < 100:
            args: dict[str, Any] = {"sessionId": tab.id, "targetSessionId": handle, "params": read}
            flood += [tab.talker.post("browser.cdp", method="Runtime.evaluate", **args) for _ in range(10)]
            await asyncio.wait(flood[-1:], timeout=5)
        answers = await asyncio.gather(*flood, return_exceptions=True)
        await tab.js("new Promise(done => setTimeout(done, 300))")
        if free:
            assert sites.hit("{shop}/ran") > ran
        else:
            assert sites.hit("{shop}/ran") == ran
            assert not [answer for answer in answers if TEXT in str(answer)]


async def test_the_body_of_a_foreign_frame_is_not_had_by_its_id(world: World) -> None:
    """The id of a document's request is that of its loader; the guard is asked for it, as nobody else is told."""
    sites = world.sites
    sites.put("{mail}/body", FOREIGN)
    url = sites.put("{shop}/bodies", "<!doctype html><iframe src='{mail}/body'></iframe>")
    for free in (True, False):
        tab = await world.open(url, origins=() if free else ("shop",))
        if free:
            handle = (await tab.told(ATTACHED))[0]["sessionId"]
            asked = await tab.told("Network.requestWillBeSent", 2)
            (loader,) = [one["requestId"] for one in asked if one["request"]["url"].endswith("/body")]
            await until(partial(_is, tab, "document.readyState", "complete", handle), "the frame")
            assert TEXT in await tab.answers("Network.getResponseBody", handle, requestId=loader)
            continue
        session = world.host.sessions.owned(tab.talker.who, tab.id)
        loader = ""
        for guard in list(session.connection.sinks):
            found = await _loader_of(world, tab, guard, sites.filled("{mail}/body"))
            loader = loader or found
        assert loader
        for method, params in bodies(TEXT):
            assert TEXT not in await tab.answers(method, requestId=loader, **params)


async def _loader_of(world: World, tab: Tab, guard: str, url: str) -> str:
    """The loader of the document that this CDP session's target shows, "" when it is another."""
    connection = world.host.sessions.owned(tab.talker.who, tab.id).connection
    try:
        frame = (await connection.start("Page.getFrameTree", {}, guard))["frameTree"]["frame"]
    except Exception:
        return ""
    return str(frame["loaderId"]) if frame["url"] == url else ""


async def test_the_commands_of_a_frame_do_not_reach_a_foreign_one(world: World) -> None:
    sites = world.sites
    sites.put("{mail}/reached", FOREIGN)
    url = sites.put("{shop}/reaches", "<!doctype html><iframe src='{mail}/reached'></iframe>")
    tab = await world.open(url, origins=["shop"])
    await foreign_in(tab)
    frame = (await tab.told("Page.frameAttached"))[0]["frameId"]
    foreign = sites.filled("{mail}/other")
    refused: dict[str, tuple[dict[str, Any], str]] = {
        "Accessibility.getFullAXTree": ({}, "CDP_ERROR"),
        "Page.createIsolatedWorld": ({"grantUniveralAccess": True}, "CDP_ERROR"),
        "Page.getResourceContent": ({"url": sites.filled("{mail}/reached")}, "BROWSER_POLICY_DENIED"),
        "Page.navigate": ({"url": foreign}, "ORIGIN_NOT_ALLOWED"),
        "Page.setDocumentContent": ({"html": "<p>mine"}, "CDP_ERROR"),
    }
    codes = {method: await tab.code(method, frameId=frame, **given) for method, (given, _) in refused.items()}
    assert codes == {method: code for method, (_, code) in refused.items()}
    assert sites.hit("{mail}/other") == 0
    main = (await tab.cdp("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    html = "<base href='{mail}/'><iframe src='reached'></iframe><p>mine</p>"
    await tab.cdp("Page.setDocumentContent", frameId=main, html=sites.filled(html))  # the control: of its own it may
    await until(partial(_more, world, "{mail}/reached", 1), "the frame of the new content")
    assert await tab.js("document.querySelector('p').textContent") == "mine"
    assert TEXT not in await tab.everything("{mail}/reached", query=TEXT)


async def test_a_frame_in_the_process_of_a_foreign_one_is_not_lent(world: World) -> None:
    sites = world.sites
    sites.put("{mail}/beside", FOREIGN)
    sites.put("{shop}/two", "<title>two</title>")
    page = "<!doctype html><iframe src='{mail}/beside'></iframe><iframe src='{mail}/beside?2'></iframe>"
    url = sites.put("{shop}/shares", page)
    tab = await world.open(url, origins=["shop"])
    await foreign_in(tab, 0, 1)
    frame = (await tab.told("Page.frameAttached"))[0]["frameId"]
    for step in ("about:blank", sites.filled("{shop}/two")):  # a blank page stays in the process that it comes to
        await tab.cdp("Page.navigate", frameId=frame, url=step)
        await tab.js("new Promise(done => setTimeout(done, 200))")
    assert await tab.js("frames[0].document.title") == "two"
    await tab.later("history.back()")
    await tab.js("new Promise(done => setTimeout(done, 500))")
    assert (
        await tab.js("(() => { try { return frames[0].document.title } catch (e) { return 'foreign' } })()")
        == "foreign"
    )
    assert await tab.events(ATTACHED) == []


async def gone_and_back(world: World, path: str) -> Tab:
    """A tab whose page went and came back out of the cache.

    Chromium drops a page from its cache whenever it likes (it was not loaded, memory is scarce), and loads it anew.
    """
    for _ in range(5):
        tab = await world.open(f"{{shop}}{path}", origins=["shop", "cdn"])
        await foreign_in(tab)
        await tab.js(LOADED)
        await tab.cdp("Page.navigate", url=world.sites.filled("{shop}/between"))
        await until(partial(_is, tab, "document.title", "between"), "the page between")
        await tab.later("history.back()")
        await until(partial(_is, tab, "location.pathname", path), "the page that comes back")
        navigated = [event["type"] for event in await tab.told("Page.frameNavigated", 3)]
        if "BackForwardCacheRestore" in navigated:
            return tab
        why = [str(told["notRestoredExplanations"])[:200] for told in await tab.told("Page.backForwardCacheNotUsed")]
        await world.leave()
    pytest.skip(f"Chromium kept no page in its cache in five tries: {why}")


async def test_a_page_that_comes_back_from_the_cache_brings_its_foreign_frame_back_unlent(world: World) -> None:
    sites = world.sites
    kept = (("Cache-Control", "max-age=60"),)
    sites.put("{shop}/between", Answer("<!doctype html><title>between</title>", headers=kept))
    for inner, lent in (("{cdn}/inner", True), ("{mail}/inner", False)):
        sites.put(inner, Answer(FOREIGN, headers=kept))
        path = "/kept/lent" if lent else "/kept"
        sites.put(f"{{shop}}{path}", Answer(f"<!doctype html><iframe src='{inner}'></iframe>", headers=kept))
        tab = await gone_and_back(world, path)
        await asyncio.sleep(0.3)
        assert bool(await tab.events(ATTACHED)) == lent
        assert (TEXT in await tab.everything(inner, query=TEXT)) == lent


DRAGS = """<!doctype html><style>body {{margin: 0}} iframe {{border: 0; width: 400px; height: 150px; display: block}}
div {{width: 400px; height: 200px}}</style><iframe src='{inner}'></iframe><div></div><script>
window.got = ''
addEventListener('dragover', event => event.preventDefault())
addEventListener('drop', event => {{ event.preventDefault(); got += event.dataTransfer.getData('text/plain') }})
</script>"""


async def drag(tab: Tab, *, caught: bool) -> str:
    """Mark all in the frame at the top and drag it out of it; what came of it."""
    await tab.cdp("Input.setInterceptDrags", enabled=caught)
    await tab.click(10, 10)
    await tab.cdp("Input.dispatchKeyEvent", type="keyDown", commands=["selectAll"], key="a", code="KeyA")
    steps = [(10, 10), *((10 + 4 * step, 10 + 12 * step) for step in range(1, 20))]
    await tab.cdp("Input.dispatchMouseEvent", type="mouseMoved", x=10, y=10)
    await tab.cdp("Input.dispatchMouseEvent", type="mousePressed", x=10, y=10, button="left", clickCount=1)
    for x, y in steps:
        await tab.cdp("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, button="left", buttons=1)
        await asyncio.sleep(0.02)
    await tab.cdp("Input.dispatchMouseEvent", type="mouseReleased", x=86, y=238, button="left", clickCount=1)
    await asyncio.sleep(0.2)
    return str(await tab.js("got")) + str(await tab.events("Input.dragIntercepted"))


@pytest.mark.parametrize("caught", [False, True], ids=["dropped", "caught"])
async def test_nothing_is_dragged_out_of_a_foreign_frame(world: World, caught: bool) -> None:
    sites = world.sites
    text = f"<!doctype html><style>body {{margin: 0; font-size: 30px}}</style>{TEXT}"
    for short in ("mail", "cdn"):
        sites.put(f"{{{short}}}/marked", text)
    got = {}
    for short in ("cdn", "mail"):
        before = sites.hit(f"{{{short}}}/marked")
        page = DRAGS.format(inner=sites.origins[short] + "/marked")
        tab = await world.open(sites.put(f"{{shop}}/drags/{short}", page), origins=["shop", "cdn"])
        await until(partial(_more, world, f"{{{short}}}/marked", before), "the frame")
        await tab.js("new Promise(done => setTimeout(done, 300))")
        got[short] = await drag(tab, caught=caught)
    assert TEXT in got["cdn"]  # the control: out of an own frame it is
    assert TEXT not in got["mail"]
