"""A script that intercepts does not undo its app's `origins`: no foreign answer is read, made up or got in disguise."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest
import pytest_asyncio

from tests.support.origin_fetch import (
    PAUSED,
    REQUESTS,
    RESPONSES,
    TEXT,
    foreign_pauses,
    hold,
    is_now,
    paused,
    result,
    sign_in,
    tabs,
    was_hit,
)
from tests.support.origin_world import Tab, World, open_world, until

pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="module")]
REFUSED = "Host.navigationRefused"
NOT_ALLOWED = "ORIGIN_NOT_ALLOWED"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[World]:
    async with open_world() as made:
        await sign_in(made)
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def world(shared: World) -> AsyncIterator[World]:
    yield shared
    await shared.leave()


def fetches(url: str, options: str = "") -> str:
    """A script that fetches, and keeps what it gets."""
    given = f"{{credentials: 'include', {options}}}"
    return f"delete window.got, fetch('{url}', {given}).then(r => r.text(), e => 'failed').then(t => window.got = t)"


# --- documents


async def test_a_foreign_page_is_not_made_up_by_the_script(world: World) -> None:
    tab, free = await tabs(world)
    made = {"responseCode": 200, "body": base64.b64encode(b"<title>made up</title>").decode()}
    await hold(free, *REQUESTS)
    await free.later("location.href = '{mail}/page?top'")
    held = await paused(free, "/page?top")
    await free.cdp("Fetch.fulfillRequest", requestId=held["requestId"], **made)
    await free.shows("{mail}/page?top")
    assert await free.js("document.title + origin") == f"made up{world.sites.origins['mail']}"

    before = world.sites.hit("{mail}/page")
    newest = int(held["requestId"].rpartition("-")[2].partition(".")[0])
    await hold(tab, *REQUESTS, *RESPONSES)
    await tab.later("location.href = '{mail}/page?top'")
    codes: dict[str, str] = {}

    async def refused_at_last() -> bool:
        for one in [f"interception-job-{number}.{hop}" for number in range(newest, newest + 12) for hop in (0, 1)]:
            codes[one] = await tab.code("Fetch.fulfillRequest", requestId=one, **made) or codes.get(one, "")
        return bool(await tab.events(REFUSED))

    await until(refused_at_last, "the refusal")
    held_ids = {event["params"]["requestId"] for event in await tab.events(PAUSED)}
    assert {code for one, code in codes.items() if one not in held_ids} == {"CDP_ERROR"}
    assert await foreign_pauses(tab) == []
    assert await tab.js("document.title") == "shop"
    assert world.sites.hit("{mail}/page") == before


@pytest.mark.parametrize("short", ["pay", "mail"])
async def test_a_foreign_frame_is_not_made_up_or_shown_to_the_script(world: World, short: str) -> None:
    frame = f"document.body.append(Object.assign(document.createElement('iframe'), {{src: '{{{short}}}/page?frame'}}))"
    tab, free = await tabs(world)
    for one in (free, tab):
        await hold(one, *REQUESTS, *RESPONSES)
    await free.later(frame)
    held = await paused(free, "/page?frame")
    made = base64.b64encode(b"<title>made up</title>").decode()
    await free.cdp("Fetch.fulfillRequest", requestId=held["requestId"], responseCode=200, body=made)
    handle = (await free.told("Target.attachedToTarget"))[0]["sessionId"]
    await until(partial(is_now, free, "document.title", "made up", handle), "the made up frame")

    before = world.sites.hit(f"{{{short}}}/page")
    await tab.later(frame)
    await until(partial(was_hit, world, f"{{{short}}}/page", before + 1), "the frame")
    assert await foreign_pauses(tab) == []
    await tab.cdp("Fetch.disable")  # what is held would hold up those who read
    assert TEXT not in await tab.everything(f"{{{short}}}/page?frame", query=TEXT)


async def test_what_the_script_switches_off_does_not_take_the_fence_down(world: World) -> None:
    tab, _ = await tabs(world)
    await hold(tab, *REQUESTS)
    for method in ("Fetch.disable", "Network.disable", "Runtime.disable", "Page.disable", "DOM.disable", "Log.disable"):
        await tab.cdp(method)
    await tab.cdp("Network.setBypassServiceWorker", bypass=False)
    before = world.sites.hit("{mail}/page")
    await tab.later("location.href = '{mail}/page?after'")
    await tab.told(REFUSED)
    assert world.sites.hit("{mail}/page") == before


# --- requests in disguise


async def test_a_request_is_not_rewritten_to_a_foreign_address(world: World) -> None:
    foreign = world.sites.filled("{pay}/json")
    tab, free = await tabs(world)
    for one in (free, tab):
        await hold(one, *REQUESTS)
    await free.later(fetches("/data"))
    held = await paused(free, "/data")
    await free.cdp("Fetch.continueRequest", requestId=held["requestId"], url=foreign)
    assert "PAY-STRICT-COOKIE" in await result(free)  # the control: the page reads it as its own

    before = world.sites.hits_of("pay")
    await tab.later(fetches("/data"))
    held = await paused(tab, "/data")
    for url in (foreign, foreign.upper(), foreign.replace("http:", "http:/")):
        assert await tab.code("Fetch.continueRequest", requestId=held["requestId"], url=url) == NOT_ALLOWED
    await tab.cdp("Fetch.continueRequest", requestId=held["requestId"])
    assert await result(tab) == "OWN-DATA"

    await tab.later("location.href = '/data?page'")
    held = await paused(tab, "/data?page")
    assert await tab.code("Fetch.continueRequest", requestId=held["requestId"], url=foreign) == NOT_ALLOWED
    await tab.cdp("Fetch.continueRequest", requestId=held["requestId"])
    await tab.shows("{shop}/data?page")
    assert world.sites.hits_of("pay") == before


def location(value: str) -> dict[str, Any]:
    return {"responseHeaders": [{"name": "location", "value": value}]}


def binary(value: str) -> dict[str, Any]:
    return {"binaryResponseHeaders": base64.b64encode(f"x: y\0Location: {value}".encode()).decode()}


LOCATIONS = {
    "absolute": location("{mail}/page?moved"),
    "without-a-scheme": location("//mail.example/page?moved"),
    "with-backslashes": location("\\\\mail.example/page?moved"),
    "with-spaces-around": location(" {mail}/page?moved "),
    "binary": binary("{mail}/page?moved"),
    "binary-without-a-scheme": binary("//mail.example/page?moved"),
}


@pytest.mark.parametrize("name", LOCATIONS)
async def test_a_redirect_that_the_script_answers_does_not_lead_outside(world: World, name: str) -> None:
    tab, _ = await tabs(world)
    await hold(tab, *REQUESTS)
    before = world.sites.hit("{mail}/page")
    given = {
        key: [{**header, "value": world.sites.filled(header["value"])} for header in value]
        if isinstance(value, list)
        else base64.b64encode(world.sites.filled(base64.b64decode(value).decode()).encode()).decode()
        for key, value in LOCATIONS[name].items()
    }
    await tab.later("new Image().src = '/data?image', location.href = '/data?page'")
    for path in ("/data?image", "/data?page"):
        held = await paused(tab, path)
        for _ in range(2):
            problem = await tab.problem("Fetch.fulfillRequest", requestId=held["requestId"], responseCode=302, **given)
            assert getattr(problem, "code", "") == NOT_ALLOWED
    relative = location("/data?relative")
    await tab.cdp("Fetch.fulfillRequest", requestId=held["requestId"], responseCode=302, **relative)
    held = await paused(tab, "/data?relative")
    await tab.cdp("Fetch.continueRequest", requestId=held["requestId"])
    await tab.shows("{shop}/data?relative")  # the control: a redirect of the script leads on inside
    assert world.sites.hit("{mail}/page") == before


async def test_a_redirect_of_the_script_leads_outside_without_origins(world: World) -> None:
    _, free = await tabs(world)
    await hold(free, {"urlPattern": "*/data*"})
    await free.later("location.href = '/data?page'")
    held = await paused(free, "/data?page")
    given = location(world.sites.filled("{mail}/page?control"))
    await free.cdp("Fetch.fulfillRequest", requestId=held["requestId"], responseCode=302, **given)
    await free.shows("{mail}/page?control")


def allowing(world: World) -> list[dict[str, str]]:
    """What a server answers that lets the shop's pages read it (Fetch standard, 3.2.3)."""
    names = {
        "Access-Control-Allow-Origin": world.sites.origins["shop"],
        "Access-Control-Allow-Credentials": "true",
        "Access-Control-Allow-Methods": "PUT",
        "Access-Control-Allow-Headers": "content-type",
    }
    return [{"name": name, "value": value} for name, value in names.items()]


async def test_a_foreign_answer_is_not_opened_by_headers_of_the_script(world: World) -> None:
    tab, free = await tabs(world)
    for one in (free, tab):
        await hold(one, {"urlPattern": "*/json*", "requestStage": "Response"})
        await one.later(fetches("{pay}/json"))
    held = await paused(free, "/json", stage="response")
    given = {"responseCode": 200, "responseHeaders": allowing(world)}
    await free.cdp("Fetch.continueResponse", requestId=held["requestId"], **given)
    assert (await result(free)).startswith(f"{TEXT} GET for")
    assert TEXT in await free.everything("{pay}/json", query=TEXT)

    assert await result(tab) == "failed"
    assert await foreign_pauses(tab) == []
    assert TEXT not in await tab.everything("{pay}/json", query=TEXT)


async def test_a_foreign_write_is_not_let_through_by_an_answer_of_the_script(world: World) -> None:
    options = "method: 'PUT', headers: {'content-type': 'application/json'}, body: '{}'"
    tab, free = await tabs(world)
    for one in (free, tab):
        await hold(one, {"urlPattern": "*/json*"})
    path = await preflight(free, options)
    held = await paused(free, path, method="OPTIONS")
    given = {"responseCode": 204, "responseHeaders": allowing(world)}
    await free.cdp("Fetch.fulfillRequest", requestId=held["requestId"], **given)
    held = await paused(free, path, method="PUT")
    await free.cdp("Fetch.continueRequest", requestId=held["requestId"])
    await until(partial(_asked_by, world, "PUT"), "the control's write")

    before = world.sites.hit("{pay}/json")
    await tab.later(fetches("{pay}/json?write", options))
    assert await result(tab) == "failed"
    assert await foreign_pauses(tab) == []
    assert (world.sites.hit("{pay}/json"), await _asked_by(world, "OPTIONS")) == (before + 1, True)


async def preflight(tab: Tab, options: str) -> str:
    """Fetch until Chromium has Fetch hold the question before: it does not always. Each address is asked for once."""
    for number in range(10):
        await tab.later(fetches(f"{{pay}}/json?free-{number}", options))
        await until(partial(is_now, tab, "typeof got == 'string'", True), "an answer", within_s=1.0, or_not=True)
        if await foreign_pauses(tab):
            return f"/json?free-{number}"
    raise AssertionError("no preflight was held")


async def test_a_foreign_request_goes_out_as_the_page_made_it(world: World) -> None:
    script = "fetch('{pay}/json?as-made', {mode: 'no-cors', credentials: 'include'}).catch(e => 0)"
    tab, free = await tabs(world)
    for one in (free, tab):
        await hold(one, {"urlPattern": "*/json*"})
    await free.later(script)
    held = await paused(free, "/json?as-made")
    forged = {"method": "POST", "postData": base64.b64encode(b"forged").decode()}
    await free.cdp("Fetch.continueRequest", requestId=held["requestId"], **forged)
    await until(partial(_asked_by, world, "POST"), "the control's request")

    before = world.sites.hit("{pay}/json")
    await tab.later(script)
    await until(partial(was_hit, world, "{pay}/json", before + 1), "the request, which nobody holds")
    assert await _asked_by(world, "GET")
    assert await foreign_pauses(tab) == []


async def _asked_by(world: World, method: str) -> bool:
    last = world.sites.asked.get(("pay.shop.example", "/json"))
    return last is not None and last.method == method


async def test_headers_of_the_script_do_not_go_to_a_foreign_site(world: World) -> None:
    """A site knows its own forms by such headers."""
    forged = {
        "Origin": world.sites.origins["pay"],
        "Sec-Fetch-Site": "same-origin",
        "X-Requested-With": "XMLHttpRequest",
    }
    page = "<!doctype html><iframe name=f></iframe><form action='{pay}/buy' method=post target=f><input name=n></form>"
    world.sites.put("{shop}/form", page)
    for origins, wanted in (([], True), (["shop"], False)):
        before = world.sites.hit("{pay}/buy")
        tab = await world.open("{shop}/form", origins=origins)
        await tab.problem("Network.setExtraHTTPHeaders", headers=forged)
        await tab.later("document.forms[0].submit()")
        await until(partial(was_hit, world, "{pay}/buy", before + 1), "the form")
        came = world.sites.asked["pay.shop.example", "/buy"].headers
        assert [came.get(name.lower()) == value for name, value in forged.items()] == [wanted] * len(forged)
