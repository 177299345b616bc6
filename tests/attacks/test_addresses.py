"""Attempts 12 to 18, 33 and 35: where a page, a frame, a request or an answer may not go."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.attacks.counting import attempt
from tests.attacks.lab import LOOPS, TURNS, Lab, Mark, open_lab
from tests.support.forbidden import Forbidden
from tests.support.origin_sites import Answer
from tests.support.origin_world import until

pytestmark = pytest.mark.asyncio(loop_scope="package")

ADDRESSES = (
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    " file:///etc/passwd",
    "fi\tle:///etc/passwd",
    "\nfile:///etc/passwd",
    "/etc/passwd",
    "view-source:file:///etc/passwd",
    "view-source:http://shop.example/",
    "chrome://settings",
    "chrome://version",
    "chrome://crash",
    "chrome://kill",
    "chrome-untrusted://print/",
    "chrome-extension://mhjfbmdgcfjbbpaeojofohoefgiehjai/index.html",
    "devtools://devtools/bundled/inspector.html",
    "about:srcdoc",
    "javascript:document.title=1",
    "data:text/html,<h1>d",
    "blob:http://shop.example/0",
    "filesystem:http://shop.example/temporary/x",
    "ftp://shop.example/",
    "ws://shop.example/",
    "http://user:pass@shop.example/",
    "http:\\\\127.0.0.1\\",
)
MAIL = "mailto:a@b.example"
CHALLENGE = Answer("no", 401, headers=(("WWW-Authenticate", 'Basic realm="x"'),))
NOWHERE = ("file:///etc/passwd", MAIL, "http://127.0.0.1:1/", "http://localhost:1/", "http://[::1]:1/")


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def unwalled(folder: Path) -> AsyncIterator[Lab]:
    """The control of what must start no program: a Chromium that finds the programs of its host."""
    async with open_lab(folder, "control", with_path=True) as made:
        yield made


@attempt(12, "Page.navigate to file:, chrome:, devtools:, view-source:, javascript:, data:, …")
async def test_a_page_goes_to_sites_only(lab: Lab) -> None:
    mark = await lab.tab()
    for url in ADDRESSES:
        await mark.refused("Page.navigate", url=url)
    assert await mark.js("location.href + document.title") == "http://shop.example/"
    assert "errorText" not in await mark.raw("Page.navigate", url="view-source:http://shop.example/")  # the control
    assert "errorText" not in await mark.cdp("Page.navigate", url="http://shop.example/next")
    await mark.shows("{shop}/next")
    await mark.stands()


@attempt(13, "Page.navigate of an own frame to file:")
async def test_a_frame_goes_to_sites_only(lab: Lab) -> None:
    mark = await lab.page("<iframe id=f src='/inner'></iframe>")
    frame = (await mark.cdp("Page.getFrameTree"))["frameTree"]["childFrames"][0]["frame"]["id"]
    for url in ADDRESSES:
        await mark.refused("Page.navigate", frameId=frame, url=url)
    assert await mark.js("f.contentWindow.location.href") == "http://shop.example/inner"
    assert "errorText" not in await mark.cdp("Page.navigate", frameId=frame, url="http://shop.example/next")
    await until(lambda: same(mark, "f.contentWindow.location.pathname", "/next"), "the frame")
    await mark.stands()


async def same(mark: Mark, expression: str, wanted: Any) -> bool:
    return bool(await mark.js(expression) == wanted)


@attempt(14, "Page.navigate mailto:", "refused, no program")
async def test_a_mail_address_starts_no_program(lab: Lab, unwalled: Lab) -> None:
    mark, bare = await lab.tab(), await unwalled.tab()
    for url in (MAIL, "MAILTO:a@b.example", " mailto:a@b.example", "mail\nto:a@b.example", "tel:1", "xdg-open:x"):
        await mark.refused("Page.navigate", url=url)
    await bare.raw("Page.navigate", url="mailto:control@b.example")  # the control: it would have been started
    assert await unwalled.spy.has_seen("mailto:control@")
    assert lab.spy.notes == []
    await mark.stands()
    await unwalled.leave()


@attempt(15, "302 to mailto:, a click on a mailto: link", "no program")
async def test_a_site_starts_no_program(lab: Lab, unwalled: Lab) -> None:
    marks = [(await led_to_mail(one), await clicked_mail(one)) for one in (unwalled, lab)]
    for way in ("redirected", "clicked"):
        assert await unwalled.spy.has_seen(f"mailto:{way}@")
    await asyncio.sleep(0.3)  # the other one has had longer than that
    assert lab.spy.notes == []
    for mark in marks[1]:
        await mark.stands()
    await unwalled.leave()


async def led_to_mail(lab: Lab) -> Mark:
    """A tab that a site has redirected to a mail address."""
    mark = await lab.page("here")
    lab.sites.redirect("{shop}/mail", "mailto:redirected@b.example")
    await mark.click()  # Chromium lets a page do that again only when the user did something
    await mark.js("location = '/mail', 1")
    return mark


async def clicked_mail(lab: Lab) -> Mark:
    """A tab in which a link with a mail address was clicked."""
    mark = await lab.page("<a href='mailto:clicked@b.example' style='position: fixed; inset: 0'>mail</a>")
    await mark.click()
    return mark


async def paused(mark: Mark, path: str = "/held") -> str:
    """A fetch of the page that waits for Fetch: its id."""
    await mark.cdp("Fetch.enable", patterns=[{"urlPattern": f"*{path}*"}])
    await mark.later(f"fetch('{path}').then(r => r.text()).then(t => {{ document.title = t }})")
    return str((await mark.told("Fetch.requestPaused"))[-1]["requestId"])


@attempt(16, "Fetch.continueRequest with a URL of file:, mailto:, loopback")
async def test_a_request_is_not_sent_elsewhere(lab: Lab) -> None:
    mark = await lab.tab()
    lab.sites.put("{shop}/other", "elsewhere")
    request = await paused(mark)
    for url in (*NOWHERE, "about:blank", "data:,x", "http://2130706433:1/", "http://0.0.0.0:1/"):
        await mark.refused("Fetch.continueRequest", requestId=request, url=url)
    await mark.cdp("Fetch.continueRequest", requestId=request, url="http://shop.example/other")
    await until(lambda: same(mark, "document.title", "elsewhere"), "the answer")
    assert lab.sites.hit("{shop}/held") == 0
    await mark.stands()


@attempt(17, "Fetch.fulfillRequest 302 to file:, mailto:, also as binary headers")
async def test_an_answer_made_up_leads_nowhere_else(lab: Lab) -> None:
    mark = await lab.tab()
    lab.sites.put("{shop}/landing", "landed")
    request = await paused(mark)
    made: dict[str, Any] = {"requestId": request, "responseCode": 302}
    for where in (*NOWHERE, "ma\tilto:a@b", "//127.0.0.1:1/", "\\\\127.0.0.1:1\\"):
        for headers in (location(where), binary(f"Location: {where}"), binary(f"A: b\0lOCATION:{where}")):
            await mark.refused("Fetch.fulfillRequest", **made, **headers)
    await mark.refused("Fetch.continueResponse", **made, **location(MAIL))
    await mark.cdp("Fetch.fulfillRequest", **made, **location("/landing"))
    await until(lambda: same(mark, "document.title", "landed"), "the page's own redirect")
    assert lab.spy.notes == []
    await mark.stands()


def location(where: str) -> dict[str, Any]:
    return {"responseHeaders": [{"name": "Location", "value": where}]}


def binary(text: str) -> dict[str, Any]:
    return {"binaryResponseHeaders": base64.b64encode(text.encode()).decode()}


@attempt(18, "Fetch.enable with handleAuthRequests, continueWithAuth", "taken as false, refused")
async def test_a_script_is_not_asked_for_a_password(lab: Lab) -> None:
    lab.sites.put("{shop}/private", CHALLENGE)
    mark = await lab.tab()
    patterns = [{"urlPattern": "*private*"}]
    await mark.cdp("Fetch.enable", handleAuthRequests=True, patterns=patterns)
    await mark.later("fetch('/private').then(r => { document.title = r.status })")
    request = (await mark.told("Fetch.requestPaused"))[0]["requestId"]
    answer = {"response": "ProvideCredentials", "username": "kim", "password": "pear"}
    await mark.refused("Fetch.continueWithAuth", requestId=request, authChallengeResponse=answer)
    await mark.cdp("Fetch.continueRequest", requestId=request)
    await until(lambda: hit(lab, "{shop}/private"), "the request")
    await asyncio.sleep(0.3)
    assert await mark.events("Fetch.authRequired") == []
    assert "authorization" not in lab.sites.asked["shop.example", "/private"].headers
    await mark.stands()


async def test_a_page_that_wants_a_password_is_told_at_once_that_there_is_none(lab: Lab) -> None:
    lab.sites.put("{shop}/private", CHALLENGE)
    mark = await lab.tab()
    async with asyncio.timeout(5.0):
        opened = await mark.talker.ok("browser.openSession", url="http://shop.example/private")
        assert opened["navigation"] == {"url": "http://shop.example/private", "status": 401}
        assert await mark.js("fetch('/private').then(r => r.status)") == 401


@attempt(33, "a redirect to loopback, a name whose answer changes", "the checked address is used")
async def test_a_redirect_and_a_turning_name_lead_to_what_was_checked(lab: Lab) -> None:
    with Forbidden() as forbidden:
        port = forbidden.port
        mark = await lab.tab()
        for to in (f"http://127.0.0.1:{port}/r", f"http://localhost:{port}/r", f"http://{LOOPS}:{port}/r"):
            lab.sites.redirect("{mail}/away", to)
            assert await mark.js("fetch('{mail}/away', {mode: 'no-cors'}).then(() => 'came', () => 'refused')") != ""
            opened = await mark.talker.code("browser.openSession", url=lab.sites.filled("{mail}/away"))
            assert opened == "EGRESS_REFUSED"
        turned = [await mark.js(f"fetch('http://{TURNS}:{port}/t', {{mode: 'no-cors'}}).then(r => r.type)")]
        await mark.js(f"fetch('http://{TURNS}:{port}/t', {{mode: 'no-cors'}}).then(() => 1, () => 0)")
        assert turned == ["opaque"]
        assert lab.sites.hits[TURNS, "/t"] == 1  # it went where the first answer led, and the second went nowhere
        assert forbidden.total == 0
        given = await lab.tab(places=(f"127.0.0.1:{port}",))  # the control: an opened place is reached
        await given.js(f"fetch('http://127.0.0.1:{port}/r', {{mode: 'no-cors'}}).then(() => 1, () => 0)")
        assert forbidden.requests["/r"] == 1
    await mark.stands()


@attempt(35, "the Host header, by Network.setExtraHTTPHeaders and by Fetch")
async def test_no_header_of_the_connection_is_set(lab: Lab) -> None:
    mark = await lab.tab()
    request = await paused(mark)
    for name in ("Host", "hOST", " host", "Connection", "Proxy-Authorization", "Proxy-Connection", "TE", "Upgrade"):
        await mark.refused("Network.setExtraHTTPHeaders", headers={"X-Extra": "1", name: "mail.example"})
        header = {"name": name, "value": "mail.example"}
        await mark.refused("Fetch.continueRequest", requestId=request, headers=[header])
    await mark.cdp("Fetch.continueRequest", requestId=request, headers=[{"name": "X-Own", "value": "1"}])
    await mark.cdp("Network.setExtraHTTPHeaders", headers={"X-Extra": "1"})
    await mark.js("fetch('/extra').then(r => r.text())")
    await until(lambda: hit(lab, "{shop}/held"), "the request that waited")
    own, extra = (lab.sites.asked["shop.example", path].headers for path in ("/held", "/extra"))
    assert (own["host"], own["x-own"], extra["host"], extra["x-extra"]) == ("shop.example", "1", "shop.example", "1")
    await mark.stands()


async def hit(lab: Lab, url: str) -> bool:
    return lab.sites.hit(url) > 0
