"""Two apps on one site: what one does to its tab is its own tab's, and what they share is the profile's, no more.

Cookies, clipboard, focus and the handles of targets are among the attempts in tests/attacks; who owns a session is in
tests/live/test_ownership.py.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from capsdk.errors import CapError
from host.app import Host, open_host
from host.core.settings import Settings
from tests.live.framesite import FrameSites
from tests.live.walls import asked, soon, temporary_folders_in
from tests.support.inprocess import Talker, caller
from tests.support.stdio import LOADED

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECRET = "what only the other page holds"
NEVER_S = 0.4


@pytest.fixture(scope="module")
def sites() -> Iterator[FrameSites]:
    with FrameSites() as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(folder: Path) -> AsyncIterator[Host]:
    with temporary_folders_in(folder):
        async with open_host(Settings(), ephemeral=True) as made:
            yield made


class Tab:
    """One session of an app of its own."""

    def __init__(self, own: Talker, session: str) -> None:
        self.own = own
        self.session = session

    async def cdp(self, method: str, /, **params: Any) -> dict[str, Any]:
        """A command that has to succeed."""
        found = await self.own.ok("browser.cdp", sessionId=self.session, method=method, params=params)
        result: dict[str, Any] = found["result"]
        return result

    async def outcome(self, method: str, /, **params: Any) -> str:
        """All that the caller is told, as text."""
        try:
            return json.dumps(await self.cdp(method, **params))
        except CapError as problem:
            return f"{problem.code}: {problem.message}"

    async def js(self, expression: str) -> Any:
        """The value of an expression."""
        return await self.own.js(self.session, expression)

    async def events(self, *methods: str, after: int = 0, wait_ms: int = 0) -> list[dict[str, Any]]:
        """Up to a hundred events of these methods; of all without one."""
        args: dict[str, Any] = {"after": after, "waitMs": wait_ms, **({"methods": methods} if methods else {})}
        page = await self.own.ok("browser.events", sessionId=self.session, **args)
        found: list[dict[str, Any]] = page["events"]
        return found


@pytest_asyncio.fixture(loop_scope="module")
async def pair(shared: Host, sites: FrameSites) -> AsyncIterator[tuple[Tab, Tab]]:
    """Two apps, each with a tab on the same page."""
    url = sites.page("a", f"<title>page</title><p id=p>{SECRET}</p><input id=i>")
    tabs = []
    for app in ("one", "other"):
        own = Talker(shared, caller(app, places=sites.places))
        tabs.append(Tab(own, await own.open(url)))
        await tabs[-1].js(LOADED)
    one, other = tabs
    await one.js("p.textContent = 'own', 1")  # from here on only the other page holds the secret
    yield one, other
    for tab in tabs:
        await tab.own.ok("browser.closeSession", sessionId=tab.session)


# --- what is set for a tab

SCREEN = {"width": 500, "height": 400, "deviceScaleFactor": 3, "mobile": False}
OFFLINE = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
SETTINGS: tuple[Any, ...] = (  # method, its parameters, what a page sees of it
    pytest.param("Emulation.setUserAgentOverride", {"userAgent": "odd"}, "navigator.userAgent", id="user-agent"),
    pytest.param(
        "Network.setUserAgentOverride", {"userAgent": "odder"}, "navigator.userAgent", id="user-agent-network"
    ),
    pytest.param(
        "Emulation.setTimezoneOverride",
        {"timezoneId": "Asia/Tokyo"},
        "Intl.DateTimeFormat().resolvedOptions().timeZone",
        id="time-zone",
    ),
    pytest.param(
        "Emulation.setLocaleOverride", {"locale": "de_DE"}, "Intl.NumberFormat().resolvedOptions().locale", id="locale"
    ),
    pytest.param("Emulation.setDeviceMetricsOverride", SCREEN, "[innerWidth, devicePixelRatio]", id="screen"),
    pytest.param("Emulation.setEmulatedMedia", {"media": "print"}, "matchMedia('print').matches", id="media"),
    pytest.param(
        "Emulation.setHardwareConcurrencyOverride",
        {"hardwareConcurrency": 7},
        "navigator.hardwareConcurrency",
        id="processors",
    ),
    pytest.param("Network.emulateNetworkConditions", OFFLINE, "navigator.onLine", id="offline"),
    pytest.param(
        "Emulation.setDocumentCookieDisabled", {"disabled": True}, "navigator.cookieEnabled", id="cookies-off"
    ),
    pytest.param("Page.setWebLifecycleState", {"state": "frozen"}, "document.visibilityState", id="frozen"),
    pytest.param(
        "Network.setBlockedURLs",
        {"urls": ["*probe*"]},
        "fetch('/probe').then(r => r.status, e => 'blocked')",
        id="blocked-urls",
    ),
)


@pytest.mark.parametrize(("method", "params", "seen"), SETTINGS)
async def test_a_setting_is_seen_by_the_tab_that_it_was_made_for_and_by_no_other(
    pair: tuple[Tab, Tab], method: str, params: dict[str, Any], seen: str
) -> None:
    one, other = pair
    before = await other.js(seen)
    assert await one.js(seen) == before
    await one.cdp(method, **params)
    assert await soon(lambda: differs(one, seen, before))  # the control: it does something
    assert await other.js(seen) == before


async def differs(tab: Tab, expression: str, before: Any) -> bool:
    return bool(await tab.js(expression) != before)


async def test_a_page_held_by_its_debugger_or_with_its_time_stopped_holds_no_other(pair: tuple[Tab, Tab]) -> None:
    one, other = pair
    await one.cdp("Emulation.setVirtualTimePolicy", policy="pause")
    await one.cdp("Debugger.enable")
    await one.cdp("Debugger.pause")
    held = one.own.post(
        "browser.cdp",
        sessionId=one.session,
        method="Runtime.evaluate",
        params={"expression": "1"},
        timeoutMs=1500,
    )
    assert await other.js("new Promise(ok => setTimeout(ok, 50, 'time goes on'))") == "time goes on"
    assert await one.events("Debugger.paused", wait_ms=2000) != []  # the control: it is held
    assert await other.events("Debugger.paused") == []
    await one.cdp("Debugger.resume")
    await asyncio.wait((held,), timeout=5.0)


async def test_headers_added_for_a_tab_are_sent_by_no_other(pair: tuple[Tab, Tab], sites: FrameSites) -> None:
    one, other = pair
    await one.cdp("Network.setExtraHTTPHeaders", headers={"X-Extra": "one's"})
    paths = [sites.put("x"), sites.put("x")]
    for tab, path in zip(pair, paths, strict=True):
        assert await tab.js(f"fetch('{path}').then(r => r.status)") == 200
    assert [sites.headers[path].get("X-Extra") for path in paths] == ["one's", None]
    assert other.session != one.session


async def test_a_script_for_every_new_document_runs_in_its_own_tabs_only(
    pair: tuple[Tab, Tab], sites: FrameSites
) -> None:
    one, other = pair
    await one.cdp("Page.addScriptToEvaluateOnNewDocument", source="window.mark = 'one'")
    await one.cdp("Runtime.addBinding", name="bound")
    url = sites.page("a", "next")
    for tab in pair:
        await tab.cdp("Page.navigate", url=url)
    assert await soon(lambda: same(one, "String([window.mark, typeof bound])", "one,function"))
    assert await soon(lambda: same(other, "location.href", url))
    assert await other.js("[typeof mark, typeof bound]") == ["undefined", "undefined"]


async def same(tab: Tab, expression: str, wanted: Any) -> bool:
    return bool(await tab.js(expression) == wanted)


# --- what a tab holds


async def test_a_request_that_one_holds_is_the_others_neither_to_see_nor_to_let_go(
    pair: tuple[Tab, Tab], sites: FrameSites
) -> None:
    one, other = pair
    for tab in pair:
        await tab.cdp("Fetch.enable", patterns=[{"urlPattern": "*held*"}])
    path = sites.put("answer")
    await other.js(f"window.got = ''; fetch('{path}?held').then(r => got = r.status); 1")
    (event,) = await other.events("Fetch.requestPaused", wait_ms=5000)
    request = event["params"]["requestId"]
    for method, more in (
        ("Fetch.continueRequest", {}),
        ("Fetch.failRequest", {"errorReason": "Aborted"}),
        ("Fetch.fulfillRequest", {"responseCode": 200}),
        ("Fetch.getResponseBody", {}),
    ):
        assert (await one.outcome(method, requestId=request, **more)).startswith("CDP_ERROR"), method
    assert await one.events("Fetch.requestPaused") == []
    assert (await other.js("got"), sites.hits[path]) == ("", 0)
    await other.cdp("Fetch.continueRequest", requestId=request)  # the control: its own tab lets it go
    assert await soon(lambda: same(other, "got", 200))


async def test_no_id_of_anything_in_one_page_means_it_in_the_other(pair: tuple[Tab, Tab]) -> None:
    one, other = pair
    for tab in pair:
        await tab.cdp("Debugger.enable")
    held = (await other.cdp("Runtime.evaluate", expression="p"))["result"]["objectId"]
    node = (await other.cdp("DOM.describeNode", objectId=held))["node"]["backendNodeId"]
    document = (await other.cdp("DOM.getDocument", depth=-1))["root"]
    frame = (await other.cdp("Page.getFrameTree"))["frameTree"]["frame"]
    contexts = await other.events("Runtime.executionContextCreated")
    unique = contexts[-1]["params"]["context"]["uniqueId"]
    source = f"'{SECRET}'"
    script = (await other.cdp("Runtime.compileScript", expression=source, sourceURL="s", persistScript=True))[
        "scriptId"
    ]
    own: tuple[tuple[str, dict[str, Any]], ...] = (  # each of them tells the secret to the tab whose it is
        ("Runtime.callFunctionOn", {"objectId": held, "functionDeclaration": "function() { return this.textContent }"}),
        ("Runtime.evaluate", {"expression": "p.textContent", "uniqueContextId": unique}),
        ("DOM.getOuterHTML", {"backendNodeId": node}),
        ("DOM.getOuterHTML", {"nodeId": document["nodeId"]}),
        ("Accessibility.queryAXTree", {"backendNodeId": node, "role": "StaticText"}),
        ("Page.getResourceContent", {"frameId": frame["id"], "url": frame["url"]}),
        ("Debugger.getScriptSource", {"scriptId": script}),
    )
    told = {number: await other.outcome(method, **params) for number, (method, params) in enumerate(own)}
    assert [own[number] for number, text in told.items() if SECRET not in text] == []
    for method, params in own:
        assert SECRET not in await one.outcome(method, **params), method
    for method, params in (
        ("Page.navigate", {"frameId": frame["id"], "url": "about:blank"}),
        ("Page.setDocumentContent", {"frameId": frame["id"], "html": "taken"}),
        ("Page.createIsolatedWorld", {"frameId": frame["id"]}),
        ("DOM.getFrameOwner", {"frameId": frame["id"]}),
    ):
        assert (await one.outcome(method, **params)).startswith("CDP_ERROR"), method
    assert await other.js("[location.pathname !== 'blank', p.textContent]") == [True, SECRET]


# --- what a tab is told


async def test_a_tab_is_told_nothing_of_another_and_a_flood_in_one_loses_nothing_in_the_other(
    pair: tuple[Tab, Tab],
) -> None:
    one, other = pair
    start = (await other.own.ok("browser.events", sessionId=other.session, methods=[]))["next"]
    flood = one.js("for (let i = 0; i < 20000; i++) console.log('one ' + i); 1")
    marks = other.js("for (let i = 0; i < 90; i++) console.log('other ' + i); 1")
    await asyncio.gather(flood, marks)
    page = await other.own.ok("browser.events", sessionId=other.session, after=start)
    said = [e["params"]["args"][0]["value"] for e in page["events"] if e["method"] == "Runtime.consoleAPICalled"]
    assert said == [f"other {number}" for number in range(90)]
    assert page["lost"] is False
    flooded = await one.own.ok("browser.events", sessionId=one.session, limit=100)
    assert flooded["lost"] is True  # the control: it was one
    assert "other" not in json.dumps(flooded["events"])


async def test_a_cursor_is_a_number_in_ones_own_ring_and_nothing_in_anothers(pair: tuple[Tab, Tab]) -> None:
    one, other = pair
    await other.js("for (let i = 0; i < 200; i++) console.log(i); 1")
    far = (await other.own.ok("browser.events", sessionId=other.session, methods=[]))["next"]
    assert await one.own.code("browser.events", sessionId=one.session, after=far) == "BAD_CURSOR"
    assert await one.own.code("browser.events", sessionId=other.session, after=0) == "SESSION_NOT_OWNED"
    assert await one.own.code("browser.events", sessionId=other.session, after=far, waitMs=50) == "SESSION_NOT_OWNED"


async def test_a_named_window_of_another_app_is_not_found_by_its_name(pair: tuple[Tab, Tab]) -> None:
    one, other = pair
    await other.js("window.name = 'target', 1")
    take = "(() => { const found = open('', 'target'); found.document.title = 'taken'; return found === window })()"
    assert await asked(one.own, one.session, take) is False  # a window of its own, which is lent to it
    assert await soon(lambda: one.events("Host.popupOpened"))
    assert await other.js("[document.title, window.name]") == ["page", "target"]
    assert await other.events("Host.popupOpened") == []


# --- what is the profile's


async def test_storage_of_a_site_is_the_profiles_and_that_of_a_tab_is_not(pair: tuple[Tab, Tab]) -> None:
    """A tab of one's own is not an account of one's own: said in the guide, and so."""
    one, other = pair
    await one.js("localStorage.x = 'shared'; sessionStorage.x = 'own'; document.cookie = 'x=shared; path=/'; 1")
    assert await other.js("[localStorage.x, sessionStorage.x ?? 'none', document.cookie]") == [
        "shared",
        "none",
        "x=shared",
    ]
    await other.js("window.heard = ''; new BroadcastChannel('c').onmessage = e => heard = e.data; 1")
    await one.js("new BroadcastChannel('c').postMessage('hello'), 1")
    assert await soon(lambda: same(other, "heard", "hello"))
    await one.js("localStorage.clear(); document.cookie = 'x=; max-age=0; path=/'; 1")


async def test_another_site_shares_none_of_it(pair: tuple[Tab, Tab], shared: Host, sites: FrameSites) -> None:
    one, _ = pair
    own = Talker(shared, caller("third", places=sites.places))
    third = Tab(own, await own.open(sites.page("b", "<title>third</title>")))
    await third.js("localStorage.x = 'third'; document.cookie = 'x=third; path=/'; 1")
    assert await one.js("[localStorage.x ?? 'none', document.cookie]") == ["none", ""]
    framed = sites.page("a", f"<iframe src='{sites.page('b', '<script>localStorage.x</script>')}'></iframe>")
    await one.cdp("Page.navigate", url=framed)
    (event,) = await one.events("Target.attachedToTarget", wait_ms=5000)
    given = {"sessionId": one.session, "targetSessionId": event["params"]["sessionId"], "method": "Runtime.evaluate"}
    found = await one.own.ok("browser.cdp", **given, params={"expression": "localStorage.x ?? 'none'"})
    assert found["result"]["result"]["value"] == "none"  # a frame's storage is that of the pair of sites
    await third.js("localStorage.clear(); document.cookie = 'x=; max-age=0; path=/'; 1")
    await own.ok("browser.closeSession", sessionId=third.session)


async def test_a_service_worker_that_two_apps_share_is_lent_to_neither(
    pair: tuple[Tab, Tab], sites: FrameSites
) -> None:
    one, other = pair
    inner = sites.put("made by the worker")
    worker = sites.put(
        "onactivate = event => event.waitUntil(clients.claim());"
        "onfetch = event => { if (event.request.url.endsWith('probe'))"
        f" event.respondWith(fetch('{inner}').then(r => r.text()).then(text => new Response(text))) }}",
        "text/javascript",
    )
    for tab in pair:
        await tab.cdp("Fetch.enable", patterns=[{"urlPattern": "*"}], handleAuthRequests=False)
        await tab.cdp("Fetch.disable")
    await one.js(
        f"navigator.serviceWorker.register('{worker}').then(() => navigator.serviceWorker.ready).then(() => 1)"
    )
    probe = "fetch('/probe').then(r => r.text())"
    try:
        assert await soon(lambda: same(other, probe, "made by the worker"))  # the worker is the profile's
        await one.cdp("Network.setBypassServiceWorker", bypass=True)
        assert await soon(lambda: differs(one, probe, "made by the worker"))
        assert await other.js(probe) == "made by the worker"
        await one.cdp("Fetch.enable", patterns=[{"urlPattern": f"*{inner}"}])
        assert await other.js(probe) == "made by the worker"  # what the worker asks for is nobody's to hold
        await asyncio.sleep(NEVER_S)
        assert await one.events("Fetch.requestPaused") == []
        for tab in pair:
            assert await tab.events("Target.attachedToTarget") == []
            for method in ("ServiceWorker.enable", "ServiceWorker.stopAllWorkers", "ServiceWorker.unregister"):
                assert (await tab.outcome(method, scopeURL=sites.origins["a"])).startswith("BROWSER_POLICY_DENIED")
        await other.cdp("Network.emulateNetworkConditions", **OFFLINE)
        assert await differs(other, "navigator.onLine", True)
        await one.cdp("Network.setBypassServiceWorker", bypass=False)
        await one.cdp("Fetch.disable")
        assert await one.js(probe) == "made by the worker"  # offline is the other tab, not the worker
    finally:
        await one.js("navigator.serviceWorker.getRegistration().then(r => r.unregister())")
