"""Tabs that crash, close themselves or open others, and a Chromium that dies: each with its true reason, at once."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.support.processes import browser_process, chromium_of, command_line, renderers, stat_fields, wait_until
from tests.support.site import Site
from tests.support.stdio import GRANT, LOADED, Stdio, error, opened, result, seconds


def renderer_of(host: Stdio, session: str) -> int:
    """The process behind a page: the one that works when the page does."""
    pages = [pid for pid in renderers(host.folder) if "--top-chrome-webui" not in command_line(pid)]
    before = {pid: cpu_ticks(pid) for pid in pages}
    host.js(session, "{ const end = Date.now() + 600; while (Date.now() < end); }")
    return max(pages, key=lambda pid: cpu_ticks(pid) - before[pid])


def cpu_ticks(pid: int) -> int:
    """Time spent in user mode, in clock ticks."""
    fields = stat_fields(pid)
    return int(fields[11]) if fields else 0


def test_a_crash_ends_the_call_at_once_spares_the_others_and_a_navigation_revives(
    host: Stdio, site: Site, blank: str
) -> None:
    session = host.open(site.url + "/")
    process = renderer_of(host, session)
    waiting = host.post_js(session, "new Promise(() => 0)")
    host.js(session, "1")
    start = time.monotonic()
    os.kill(process, signal.SIGKILL)
    assert error(host.reply(waiting))["code"] == "TARGET_CRASHED"
    assert seconds(start) < 1.0
    assert host.cdp_error(session, "Runtime.evaluate", {"expression": "1"})["code"] == "TARGET_CRASHED"
    assert host.js(blank, "'beside'") == "beside"
    page = host.ok("browser.events", sessionId=session, methods=["Inspector.targetCrashed"], waitMs=2000)
    assert len(page["events"]) == 1
    host.cdp(session, "Page.navigate", {"url": f"{site.url}/next.html"})
    host.js(session, LOADED)
    assert host.js(session, "document.title") == "Next page"
    host.close(session)


def test_a_crashed_session_can_be_closed(host: Stdio, site: Site) -> None:
    session = host.open(site.url + "/")
    os.kill(renderer_of(host, session), signal.SIGKILL)
    wait_until(lambda: not host.call("browser.cdp", sessionId=session, method="DOM.enable")["ok"], 2.0, "the crash")
    start = time.monotonic()
    host.close(session)
    assert seconds(start) < 3.5


def test_a_page_that_closes_itself_ends_the_session(host: Stdio) -> None:
    session = host.open("about:blank")
    start = time.monotonic()
    closing = host.post_js(session, "window.close(); new Promise(() => 0)")
    assert error(host.reply(closing))["code"] == "TARGET_GONE"
    assert seconds(start) < 3.0
    assert host.cdp_error(session, "DOM.enable")["code"] == "SESSION_CLOSED"
    assert host.ok("browser.closeSession", sessionId=session) == {}


def test_a_window_that_a_page_opens_is_lent_and_ends_with_its_opener(host: Stdio, site: Site) -> None:
    session = host.open(f"{site.url}/popups.html")
    before = site.hits["/popup-target?by=script"]
    result(host.reply(host.click(session, "shop")))
    wait_until(lambda: host.js(session, "result.textContent") == "back window", 3.0, "the opener")
    (told,) = host.ok("browser.events", sessionId=session, methods=["Host.popupOpened"], waitMs=3000)["events"]
    assert told["params"]["url"] == f"{site.url}/popup-target?by=script"
    window = told["params"]["sessionId"]
    wait_until(lambda: host.js(window, "document.title") == "Hello", 3.0, "the window's page")
    assert site.hits["/popup-target?by=script"] == before + 1
    assert host.js(session, "document.title") == "Popups"
    host.close(session)
    assert host.cdp_error(window, "DOM.enable")["code"] == "SESSION_CLOSED"


@pytest.mark.parametrize("modifiers", [pytest.param(2, id="Ctrl"), pytest.param(8, id="Shift")])
def test_a_tab_that_a_click_opens_beside_is_closed_at_once(host: Stdio, site: Site, modifiers: int) -> None:
    session = host.open(f"{site.url}/popups.html")
    before = site.hits["/popup-target?by=link"]
    processes = len(renderers(host.folder))
    result(host.reply(host.click(session, "link", modifiers)))
    time.sleep(1.0)
    assert site.hits["/popup-target?by=link"] <= before + 1
    wait_until(lambda: len(renderers(host.folder)) <= processes + 1, 3.0, "the other tab's end")
    assert host.js(session, "document.title") == "Popups"
    host.close(session)


def test_sessions_closed_in_the_middle_of_their_navigation_are_closed_promptly(host: Stdio, site: Site) -> None:
    for number in range(12):
        session = host.ok("browser.openSession", url=f"{site.url}/?{number}")["sessionId"]
        start = time.monotonic()
        host.close(session)
        assert seconds(start) < 2.0


def test_a_chromium_that_dies_ends_every_call_at_once_and_the_next_open_starts_another(place: Path, site: Site) -> None:
    with Stdio(place, *GRANT, *opened(site.places)) as host:
        first, second = host.open("about:blank"), host.open(site.url + "/")
        waiting = [host.post_js(session, "new Promise(() => 0)") for session in (first, second)]
        poll = host.post("browser.events", sessionId=first, after=host.newest(first), methods=["A.b"], waitMs=15_000)
        opening = host.post("browser.openSession", url=f"{site.url}/never")
        time.sleep(1.0)
        start = time.monotonic()
        os.kill(browser_process(place), signal.SIGKILL)
        assert [error(host.reply(number))["code"] for number in waiting] == ["BROWSER_GONE"] * 2
        assert error(host.reply(poll))["code"] in ("BROWSER_GONE", "SESSION_CLOSED")
        assert error(host.reply(opening))["code"] == "BROWSER_GONE"
        assert seconds(start) < 1.5
        assert host.cdp_error(first, "DOM.enable")["code"] == "SESSION_CLOSED"
        assert host.ok("browser.closeSession", sessionId=second) == {}
        again = host.open(site.url + "/")
        host.js(again, LOADED)
        assert host.js(again, "document.title") == "Hello"
        assert host.finish() == 0
        assert host.errors == b""


def test_a_chromium_that_dies_with_nobody_waiting_is_noticed(place: Path) -> None:
    with Stdio(place, *GRANT) as host:
        session = host.open("about:blank")
        os.kill(browser_process(place), signal.SIGKILL)
        wait_until(lambda: not chromium_of(place), 2.0, "its end")
        assert host.cdp_error(session, "DOM.enable")["code"] in ("SESSION_CLOSED", "BROWSER_GONE")
        assert host.js(host.open("about:blank"), "6") == 6
        assert host.finish() == 0


def test_a_chromium_that_dies_while_tabs_are_made_answers_every_open(place: Path) -> None:
    with Stdio(place, *GRANT) as host:
        host.open("about:blank")
        for round_number in range(3):
            start = time.monotonic()
            opening = [host.post("browser.openSession", url="about:blank") for _ in range(4)]
            time.sleep(0.02 * round_number)
            os.kill(browser_process(place), signal.SIGKILL)
            for number in opening:
                reply = host.reply(number)
                assert reply["ok"] or reply["error"]["code"] in ("BROWSER_GONE", "BROWSER_LAUNCH_FAILED")
            assert seconds(start) < 8.0
            wait_until(lambda: host.call("browser.openSession", url="about:blank")["ok"], 10.0, "the next Chromium")
        assert host.finish() == 0
        assert host.errors == b""
