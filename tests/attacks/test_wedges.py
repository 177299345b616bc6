"""Attempts 36, 37, 41 to 43 and 45: windows, pages that stop, what is captured all the same, and the host's end."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from capsdk.errors import CapError
from host.app import BROWSER_UID
from tests.attacks.counting import attempt
from tests.attacks.lab import DIALOG_ANSWER_S, Lab, Mark
from tests.support.origin_world import until
from tests.support.processes import chromium_of, command_line, read, renderers, started_for, uids, wait_until
from tests.support.stdio import GRANT, Stdio

pytestmark = pytest.mark.asyncio(loop_scope="package")

COVER = "position: fixed; inset: 0"
SHORT_MS = 1000
ENDS_S = 6.0  # a second to the command's own deadline, and at most 2.5 to see whether the tab still hears
CLOSES_S = 4.0
AT_ONCE_S = 2.0


async def test_chromium_has_its_own_sandbox_around_its_pages(lab: Lab, folder: Path) -> None:
    """What all the attempts rely on: they are not tried on a Chromium that was made easier."""
    await lab.page("here")
    pages = renderers(folder)
    assert pages
    for pid in pages:
        assert b"Seccomp:\t2\n" in read(pid, "status")
    for pid in chromium_of(folder):
        assert not [word for word in command_line(pid) if word.startswith("--no-sandbox")]
        assert os.geteuid() != 0 or uids(pid) == {BROWSER_UID}


async def sessions_of(mark: Mark) -> list[str]:
    """What the caller has."""
    return [one["sessionId"] for one in (await mark.talker.ok("browser.sessions"))["sessions"]]


@attempt(36, "window.open", "adopted; blocked: no request")
async def test_a_window_is_lent_or_never_asks_for_anything(lab: Lab) -> None:
    other = await lab.tab()
    mark, blocked = await lab.tab(), await lab.tab(popups=False)
    url = lab.put("window", path="/window")
    assert await mark.gesture(f"window.open('{url}?adopted'), 1") == 1
    window = (await mark.told("Host.popupOpened"))[0]["sessionId"]
    await until(lambda: hits(lab, 1), "the window's request")
    assert await blocked.gesture(f"window.open('{url}?blocked'), 2") == 2
    assert "popups" in (await blocked.told("Host.popupRefused"))[0]["reason"]
    await asyncio.sleep(0.3)
    assert lab.sites.hit("{shop}/window") == 1
    assert await sessions_of(mark) == [mark.id, window]
    assert (await sessions_of(blocked), await sessions_of(other)) == ([blocked.id], [other.id])
    assert await other.talker.code("browser.cdp", sessionId=window, method="DOM.enable") == "SESSION_NOT_OWNED"
    for one in (mark, blocked, other):
        await one.stands()


async def hits(lab: Lab, count: int) -> bool:
    return lab.sites.hit("{shop}/window") == count


# --- pages that stop


async def stopped(mark: Mark, expression: str = "1", **params: Any) -> tuple[str, float]:
    """What a command to a page that has stopped ends with, and after how long."""
    start = time.monotonic()
    given = {"expression": expression, "awaitPromise": True, **params}
    args = {"method": "Runtime.evaluate", "params": given, "timeoutMs": SHORT_MS}
    try:
        await mark.talker.ok("browser.cdp", sessionId=mark.id, **args)
    except CapError as problem:
        return problem.code, time.monotonic() - start
    return "", time.monotonic() - start


async def alert(mark: Mark) -> str:
    await mark.later("alert('stop')")
    await mark.told("Page.javascriptDialogOpening")
    return "DIALOG_OPEN"


async def leaving(mark: Mark) -> str:
    await mark.click()  # Chromium asks only where the user did something
    await mark.js("addEventListener('beforeunload', e => e.preventDefault()), 1")
    assert await mark.code("Page.navigate", url="http://shop.example/away") == "DIALOG_OPEN"
    return "DIALOG_OPEN"


async def loop(mark: Mark) -> str:
    await mark.later("while (true);")
    return "BROWSER_TIMEOUT"


async def breakpoint_hit(mark: Mark) -> str:
    await mark.cdp("Debugger.enable")
    await mark.later("debugger")
    await mark.told("Debugger.paused")
    return "BROWSER_TIMEOUT"


async def stopped_clock(mark: Mark) -> str:
    await mark.cdp("Emulation.setVirtualTimePolicy", policy="pause")
    return "BROWSER_TIMEOUT"


async def killed(mark: Mark) -> str:
    await mark.refused("Page.navigate", url="chrome://kill")
    await mark.refused("Page.navigate", url="chrome://hang")
    await mark.refused("Page.crash")
    return ""


STOPS: dict[str, Callable[[Mark], Awaitable[str]]] = {
    "alert": alert,
    "beforeunload": leaving,
    "while-true": loop,
    "debugger-paused": breakpoint_hit,
    "virtual-time-paused": stopped_clock,
    "chrome-kill": killed,
}


@attempt(37, "alert, beforeunload, while(1), debugger, virtual time, chrome://kill", "ends in time, closes")
@pytest.mark.parametrize("stop", STOPS)
async def test_a_page_that_stops_ends_its_commands_closes_and_disturbs_nobody(lab: Lab, stop: str) -> None:
    mark, other = await lab.page("here"), await lab.page("beside")  # of one site, and in processes of their own
    wanted = await STOPS[stop](mark)
    waits = "new Promise(ok => setTimeout(ok, 50))" if stop == "virtual-time-paused" else "1"
    outcome, beside = asyncio.create_task(stopped(mark, waits)), time.monotonic()
    assert await other.js("'beside'") == "beside"
    assert time.monotonic() - beside < AT_ONCE_S
    code, took_s = await outcome
    assert code == wanted
    assert took_s < (AT_ONCE_S if wanted in ("DIALOG_OPEN", "") else ENDS_S)
    start = time.monotonic()
    assert await mark.talker.ok("browser.closeSession", sessionId=mark.id) == {}
    assert time.monotonic() - start < CLOSES_S
    again = await lab.beside(mark.talker)  # the place is free again
    assert await again.js("'again'") == "again"
    await other.stands()


async def test_a_dialog_that_nobody_answers_is_answered(lab: Lab) -> None:
    mark = await lab.page("here")
    await alert(mark)
    await until(lambda: works(mark), "the default answer", within_s=DIALOG_ANSWER_S + 3.0)
    await mark.stands()


async def works(mark: Mark) -> bool:
    return await mark.code("Runtime.evaluate", expression="1") == ""


# --- what is seen all the same


@attempt(41, "Network.disable, Page.disable, Fetch.disable", "the guard sees all the same")
async def test_a_script_that_looks_away_does_not_blind_the_host(lab: Lab) -> None:
    mark = await lab.tab(popups=False)
    for domain in ("Network", "Page", "Fetch", "Runtime", "DOM", "Log"):
        await mark.cdp(f"{domain}.disable")
    await mark.later("alert('seen?')")
    await until(lambda: shows_dialog(mark), "the dialog")
    await until(lambda: works(mark), "the default answer", within_s=DIALOG_ANSWER_S + 3.0)
    url = lab.put("window", path="/window")
    lab.sites.hits.clear()
    await mark.gesture(f"window.open('{url}'), 1")
    await mark.told("Host.popupRefused")
    assert lab.sites.hit("{shop}/window") == 0
    assert await mark.events("Page.javascriptDialogOpening") == []  # the control: the script itself has looked away
    await mark.stands()


async def shows_dialog(mark: Mark) -> bool:
    return await mark.code("Runtime.evaluate", expression="1") == "DIALOG_OPEN"


@attempt(42, "the early request of a frame of another site", "captured; body by the child's id")
async def test_the_first_request_of_a_frame_is_captured_and_its_body_is_the_frames(lab: Lab) -> None:
    inner = lab.put("<script>fetch('/first').then(r => r.text()).then(t => { document.title = t })</script>", "mail")
    lab.sites.put("{mail}/first", "early body")
    mark = await lab.page(f"<iframe src='{inner}'></iframe>")
    handle = await mark.child()
    await until(lambda: titled(mark, "early body", handle), "the answer")
    (sent,) = [e for e in await mark.events("Network.requestWillBeSent") if url_of(e).endswith("/first")]
    assert sent["targetSessionId"] == handle
    request = {"requestId": sent["params"]["requestId"]}
    assert (await mark.cdp("Network.getResponseBody", handle, **request))["body"] == "early body"
    (page,) = [e for e in await mark.events("Network.requestWillBeSent") if url_of(e) == inner]
    document = {"requestId": page["params"]["requestId"]}
    assert "fetch('/first')" in (await mark.cdp("Network.getResponseBody", handle, **document))["body"]
    await mark.stands()


def url_of(event: dict[str, Any]) -> str:
    return str(event["params"]["request"]["url"])


async def titled(mark: Mark, title: str, handle: str | None = None) -> bool:
    try:
        return bool(await mark.js("document.title", handle) == title)
    except CapError:  # on its way
        return False


@attempt(43, "a body of the page before, after a click has left it", "readable")
async def test_a_body_outlives_its_page(lab: Lab) -> None:
    lab.sites.put("{shop}/data", "rows of the page before")
    mark = await lab.page(
        f"<a href='/next' style='{COVER}'>next</a><script>fetch('/data').then(r => r.text())</script>"
    )
    lab.sites.put("{shop}/next", "<!doctype html><title>next</title>")
    await until(lambda: finished(mark, "/data"), "the data")
    (sent,) = [e for e in await mark.events("Network.requestWillBeSent") if url_of(e).endswith("/data")]
    await mark.click()
    await until(lambda: titled(mark, "next"), "the next page")
    body = await mark.cdp("Network.getResponseBody", requestId=sent["params"]["requestId"])
    assert body["body"] == "rows of the page before"
    await mark.stands()


async def finished(mark: Mark, path: str) -> bool:
    sent = [e["params"]["requestId"] for e in await mark.events("Network.requestWillBeSent") if path in url_of(e)]
    done = {e["params"]["requestId"] for e in await mark.events("Network.loadingFinished")}
    return bool(sent) and sent[0] in done


@attempt(45, "the host is killed", "Chromium gone within 2 s")
async def test_chromium_does_not_outlive_its_host(folder: Path) -> None:
    place = folder / "killed"
    place.mkdir(mode=0o711)
    await asyncio.to_thread(kill_and_look, place)


def kill_and_look(place: Path) -> None:
    with Stdio(place, *GRANT) as host:
        session = host.open("about:blank")
        host.post_js(session, "while (true);")
        assert chromium_of(place)  # the control: it is there, and busy
        os.kill(host.process.pid, signal.SIGKILL)
        host.process.wait(5.0)
        wait_until(lambda: not chromium_of(place), 2.0, "Chromium was left behind")
        wait_until(lambda: not started_for(place), 2.0, "processes were left behind")
        assert list(place.glob("capsdk-profile-*")) == []
