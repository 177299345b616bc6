"""Attempts 10, 11, 23, 24, 38 to 40 and 44: other people's targets, the browser itself, and what does not fit."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

import pytest

from host.core.limits import KIB, MIB
from host.core.wire import Request, Unreadable, read_line
from tests.attacks.counting import attempt
from tests.attacks.lab import LIMITS, Lab, Mark, methods_of
from tests.support.inprocess import Talker

pytestmark = pytest.mark.asyncio(loop_scope="package")

AT_ONCE_S = 2.0
NOT_OWNED = "SESSION_NOT_OWNED"


async def framed(lab: Lab) -> tuple[Mark, str]:
    """A tab of a new app, and the handle of its frame of another site."""
    mark = await lab.page(f"<iframe src='{lab.put('inner', 'mail')}'></iframe>")
    return mark, await mark.child()


def raw_ids(lab: Lab, mark: Mark) -> dict[str, str]:
    """Chromium's own ids of a tab and of its frame, which no caller ever sees."""
    session = lab.host.sessions.owned(mark.talker.who, mark.id)
    (child,) = session.frames
    return {
        "target": session.target_id,
        "app": session.page.app,
        "guard": session.page.guard,
        "child target": child.target_id,
        "child app": child.app,
        "child guard": child.guard,
    }


@attempt(10, "targetSessionId of another app, another run, the guard, Chromium itself", "not owned")
async def test_no_id_but_an_own_frames_handle_is_a_target(lab: Lab) -> None:
    (mark, handle), (other, foreign) = await framed(lab), await framed(lab)
    ids = {"session": mark.id, **raw_ids(lab, mark)}
    ids |= {"other session": other.id, "other handle": foreign}
    ids |= {f"other {name}": one for name, one in raw_ids(lab, other).items()}
    for name, one in ids.items():
        assert (name, await mark.code("Runtime.evaluate", one, expression="1")) == (name, NOT_OWNED)
    assert await mark.js("1 + 1", handle) == 2  # the control: the right one is taken
    assert await other.js("1 + 1", foreign) == 2
    again = Talker(lab.host, replace(mark.talker.who, run="another run"))
    args = {"method": "Runtime.evaluate", "params": {"expression": "1"}}
    for talker in (again, other.talker):
        for where in ({}, {"targetSessionId": handle}):
            assert await talker.code("browser.cdp", sessionId=mark.id, **args, **where) == NOT_OWNED
    for name, one in raw_ids(lab, other).items():
        assert (name, await mark.talker.code("browser.cdp", sessionId=one, **args)) == (name, "SESSION_CLOSED")
    await mark.stands()


OTHERS_BODIES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Network.getResponseBody", {}),
    ("Network.searchInResponseBody", {"query": "s"}),
    ("Network.getRequestPostData", {}),
    ("Network.streamResourceContent", {}),
    ("Network.replayXHR", {}),
    ("Audits.getEncodedResponse", {"encoding": "png", "sizeOnly": True}),
)


async def test_a_body_of_another_apps_page_is_not_read_by_its_request_id(lab: Lab) -> None:
    """Chromium keeps bodies that outlive their pages browser-wide, under numbers that can be guessed."""
    theirs, mark, same = await lab.tab("{mail}/"), await lab.tab(), await lab.tab("{mail}/")
    lab.sites.put("{mail}/data", "secret")
    await theirs.js("fetch('/data', {method: 'POST', body: 'posted'}).then(r => r.text())")
    sent = {one["requestId"]: one["request"]["url"] for one in await theirs.told("Network.requestWillBeSent")}
    (request,) = [request for request, url in sent.items() if url.endswith("/data")]
    for other in (mark, same, await lab.beside(theirs.talker)):
        for one in sent:
            for method, params in OTHERS_BODIES:
                assert (method, await other.code(method, requestId=one, **params)) == (method, "CDP_ERROR")
    assert (await theirs.cdp("Network.getResponseBody", requestId=request))["body"] == "secret"  # the control
    assert (await theirs.cdp("Network.getRequestPostData", requestId=request))["postData"] == "posted"
    await mark.stands()


@attempt(11, "a sessionId smuggled in the parameters or twice in the line", "ignored or refused")
async def test_a_session_named_in_the_parameters_is_nobodys(lab: Lab) -> None:
    mark, other = await lab.tab(lab.put("a", path="/a")), await lab.tab(lab.put("b", path="/b"))
    await other.js("document.title = 'theirs'")
    session = lab.host.sessions.owned(other.talker.who, other.id)
    for raw in (other.id, session.page.app, session.page.guard, session.target_id):
        smuggled = {"expression": "document.title", "sessionId": raw, "id": 1, "method": "Page.captureScreenshot"}
        made = await mark.cdp("Runtime.evaluate", **smuggled)
        assert made["result"]["value"] == "page"
    assert await other.js("document.title") == "theirs"  # the control: it would have been read there
    inner = '{"sessionId":"%s","method":"Runtime.evaluate","params":{"expression":"1"%s}%s}'
    twice = ("", f',"sessionId":"{other.id}"'), (f',"a":1,"sessionId":"{other.id}","sessionId":"x"', "")
    for params, args in twice:
        line = read_line(f'{{"id":1,"method":"browser.cdp","args":{inner % (mark.id, params, args)}}}'.encode())
        assert isinstance(line, Unreadable)
        assert line.error.code == "BAD_ARGUMENTS"
    once = read_line(f'{{"id":1,"method":"browser.cdp","args":{inner % (mark.id, "", "")}}}'.encode())
    assert isinstance(once, Request)  # the control: only the second key is too much
    for beside in ({"session": other.id}, {"params": {}, "target": other.id}, {"flatten": True}):
        assert (
            await mark.talker.code("browser.cdp", sessionId=mark.id, method="DOM.enable", **beside) == "BAD_ARGUMENTS"
        )
    await mark.stands()


@attempt(23, "Browser.grantPermissions, close, crash, getVersion and the rest")
async def test_the_browser_itself_takes_no_orders(lab: Lab) -> None:
    mark = await lab.tab()
    methods = methods_of("Browser", "SystemInfo", "Tethering", "Extensions")
    assert {"Browser.grantPermissions", "Browser.close", "Browser.crash", "Browser.getVersion"} <= set(methods)
    for method in methods:
        await mark.refused(method, permissions=["geolocation"], port=1, path="/")
    assert "Chrome" in (await mark.raw("Browser.getVersion"))["product"]  # the control: it is answered on a page, too
    await mark.stands()


@attempt(24, "Target.*: getTargets, createTarget, setAutoAttach, sendMessageToTarget, …")
async def test_no_other_target_is_found_made_or_spoken_to(lab: Lab) -> None:
    mark, other = await lab.tab(), await lab.tab()
    target = lab.host.sessions.owned(other.talker.who, other.id).target_id
    methods = methods_of("Target")
    assert {"Target.getTargets", "Target.createTarget", "Target.setAutoAttach"} <= set(methods)
    assert {"Target.sendMessageToTarget", "Target.exposeDevToolsProtocol"} <= set(methods)
    params = {"targetId": target, "url": "about:blank", "flatten": True, "autoAttach": True, "message": "{}"}
    for method in methods:
        await mark.refused(method, **params)
    seen = (await mark.raw("Target.getTargets"))["targetInfos"]
    assert target in {one["targetId"] for one in seen}  # the control: a page may ask, if nobody stops it
    assert await other.js("6 * 7") == 42
    await mark.stands()


NEVER: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Emulation.addScreen", {"left": 2000, "top": 0, "width": 800, "height": 600}),
    ("Memory.simulatePressureNotification", {"level": "moderate"}),
    ("Page.addCompilationCache", {"url": "http://shop.example/", "data": "AAAA"}),
    ("Page.setRPHRegistrationMode", {"mode": "autoAccept"}),
    ("Page.setSPCTransactionMode", {"mode": "autoAccept"}),
)


@attempt(44, "Page.addCompilationCache, setRPHRegistrationMode, Emulation.addScreen, …")
async def test_nothing_is_set_that_all_tabs_share(lab: Lab) -> None:
    mark = await lab.tab()
    for method, params in NEVER:
        await mark.refused(method, **params)
    for method, params in NEVER[1:]:  # the control: Chromium takes them from a page
        assert await mark.raw(method, **params) == {}
    await mark.stands()


def nested(levels: int) -> Any:
    """A value of so many levels."""
    made: Any = 1
    for _ in range(levels):
        made = [made]
    return made


@attempt(38, "parameters 400 deep, of 65 KB, with a lone surrogate, with NaN", "clear error at once")
async def test_parameters_that_do_not_fit_are_refused_at_once(lab: Lab) -> None:
    mark, start = await lab.tab(), time.monotonic()
    for levels, code in ((400, "PARAMS_TOO_LARGE"), (101, "PARAMS_TOO_LARGE"), (90, "")):
        assert await mark.code("Runtime.evaluate", expression="1", extra=nested(levels)) == code
    for size, code in ((65 * KIB, "PARAMS_TOO_LARGE"), (63 * KIB, "")):
        assert await mark.code("Runtime.evaluate", expression="1 //" + "x" * size) == code
    made = await mark.cdp("Runtime.evaluate", expression="'\ud800'.length + '\ud800\udc00'.length", returnByValue=True)
    assert made["result"]["value"] == 3  # a half surrogate is what the page gets
    assert await mark.js(r"'\ud800'") in ("\ud800", "\ufffd")
    for number in ("NaN", "Infinity", "-Infinity", "1e999", "01", "1."):
        line = read_line(b'{"id": 7, "method": "browser.cdp", "args": {"params": {"x": %b}}}' % number.encode())
        assert isinstance(line, Unreadable), number
        assert line.error.category == "invalid_argument"
    deep = read_line(b'{"id": 7, "method": "browser.cdp", "args": {"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}")
    assert isinstance(deep, Unreadable)
    assert deep.error.code == "PARAMS_TOO_LARGE"
    assert time.monotonic() - start < 2 * AT_ONCE_S
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):  # the control: so deep Chromium answers without an id, and one would wait
            await mark.raw("Runtime.evaluate", expression="1", extra=nested(400))
    await mark.stands()


@attempt(39, "Runtime.evaluate that returns 1 MB and a byte, and 100 MB", "clear refusal")
async def test_a_result_that_is_too_large_is_refused_whole(lab: Lab) -> None:
    mark, other = await lab.tab(), await lab.tab()
    for size in (MIB + 1, 100 * 1000 * 1000):
        problem = await mark.problem("Runtime.evaluate", expression=f"'x'.repeat({size})", returnByValue=True)
        assert problem is not None
        assert (problem.code, problem.details["limit"]) == ("RESULT_TOO_LARGE", MIB)
        assert problem.details["actual"] > size
        assert await mark.js("'next'") == "next"
    assert len(await mark.js(f"'x'.repeat({MIB - 100})")) == MIB - 100
    assert await other.js("'beside'") == "beside"
    await mark.stands()


@attempt(40, "a heap snapshot, a console line of 100 kB, 600 events", "told as lost")
async def test_what_a_ring_cannot_hold_is_told_and_takes_no_memory(lab: Lab) -> None:
    mark = await lab.tab()
    await mark.cdp("HeapProfiler.enable")
    await mark.cdp("HeapProfiler.takeHeapSnapshot")
    assert "HeapProfiler.addHeapSnapshotChunk" in await lost(mark)
    await mark.js("console.log('x'.repeat(100000)), 1")
    assert (await lost(mark))["Runtime.consoleAPICalled"]["size"] > 100_000
    await mark.js("for (let i = 0; i < 600; i++) console.log(i); 1")
    assert (await lost(mark))["Runtime.consoleAPICalled"]["count"] > 100
    ring = lab.host.sessions.owned(mark.talker.who, mark.id).ring
    assert (len(ring) <= LIMITS.events_kept, ring.size_bytes <= LIMITS.events_bytes) == (True, True)
    kept = await mark.events("Runtime.consoleAPICalled")
    assert kept[-1]["params"]["args"][0]["value"] == 599  # the newest are there
    await mark.stands()


async def lost(mark: Mark) -> dict[str, Any]:
    """What a reader who begins at the start is told that it has missed."""
    page = await mark.talker.ok("browser.events", sessionId=mark.id)
    assert page["lost"] is True
    return dict(page["dropped"])
