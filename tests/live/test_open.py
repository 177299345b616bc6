"""Opening on real Chromium: how the first navigation ends, and that its events are whole."""

from __future__ import annotations

import time

import pytest

from tests.support.processes import wait_until
from tests.support.site import Site
from tests.support.stdio import LOADED, Stdio, result, seconds

OPEN_S = 6


@pytest.fixture(scope="module")
def limits() -> dict[str, str]:
    return {"CAPSDK_LIMIT_OPEN_TIMEOUT_S": str(OPEN_S)}


def test_the_walk_that_one_types_by_hand_opens_asks_listens_and_closes(host: Stdio, site: Site) -> None:
    reply = host.call("browser.openSession", url=site.url + "/")
    session = reply["result"]["sessionId"]
    assert reply["result"]["navigation"] == {"url": site.url + "/", "status": 200}
    host.js(session, LOADED)
    assert host.js(session, "document.title") == "Hello"
    page = host.ok("browser.events", sessionId=session, methods=["Runtime.consoleAPICalled"], waitMs=2000)
    assert [event["params"]["args"][0]["value"] for event in page["events"]] == ["hello from the page"]
    assert set(page) == {"events", "next", "lost", "dropped"}
    assert host.call("browser.closeSession", sessionId=session)["result"] == {}
    assert host.error("browser.cdp", sessionId=session, method="DOM.enable")["code"] == "SESSION_CLOSED"


def test_a_blank_tab_has_no_status_and_no_error(host: Stdio) -> None:
    opened = host.ok("browser.openSession", url="about:blank")
    assert opened["navigation"] == {"url": "about:blank"}
    host.close(opened["sessionId"])


NAVIGATIONS = (  # path asked for, what `navigation` holds
    pytest.param("/status?code=404", {"url": "/status?code=404", "status": 404}, id="not-found"),
    pytest.param("/status?code=500", {"url": "/status?code=500", "status": 500}, id="server-error"),
    pytest.param("/redirect?to=/next.html", {"url": "/next.html", "status": 200}, id="redirect"),
    pytest.param(
        "/redirect?to=/redirect%3Fto=/status%3Fcode=404", {"url": "/status?code=404", "status": 404}, id="redirects"
    ),
    pytest.param("/next.html#part", {"url": "/next.html#part", "status": 200}, id="fragment"),
)


@pytest.mark.parametrize(("path", "wanted"), NAVIGATIONS)
def test_the_first_navigation_tells_where_it_ended_and_with_what_status(
    host: Stdio, site: Site, path: str, wanted: dict[str, object]
) -> None:
    opened = host.ok("browser.openSession", url=site.url + path)
    assert opened["navigation"] == {**wanted, "url": f"{site.url}{wanted['url']}"}
    host.close(opened["sessionId"])


def test_a_navigation_without_a_page_still_lends_the_tab_and_says_what_happened(host: Stdio, site: Site) -> None:
    opened = host.ok("browser.openSession", url=f"{site.url}/status?code=204")
    assert opened["navigation"]["errorText"] == "net::ERR_ABORTED"
    assert host.js(opened["sessionId"], "1 + 1") == 2
    host.close(opened["sessionId"])


def test_a_refused_connection_still_lends_the_tab(host: Stdio, site: Site) -> None:
    opened = host.ok("browser.openSession", url=f"http://{site.refused}/")
    assert opened["navigation"] == {"url": f"http://{site.refused}/", "errorText": "net::ERR_CONNECTION_REFUSED"}
    assert host.cdp(opened["sessionId"], "Page.navigate", {"url": site.url + "/"}).keys() >= {"frameId", "loaderId"}
    host.close(opened["sessionId"])


def test_a_server_that_never_answers_is_a_timeout_and_the_tab_is_closed(host: Stdio, site: Site) -> None:
    start = time.monotonic()
    problem = host.error("browser.openSession", url=f"{site.url}/never")
    assert problem["code"] == "BROWSER_TIMEOUT"
    assert problem["details"] == {"limitMs": OPEN_S * 1000, "sessionClosed": True}
    assert OPEN_S - 0.1 < seconds(start) < OPEN_S + 2.0
    opened = [host.open("about:blank") for _ in range(8)]  # so no slot is held by the one that failed
    for session in opened:
        host.close(session)


def test_tabs_that_are_still_opening_take_one_slot_each(host: Stdio, site: Site) -> None:
    never = [f"/never?slot-{number}" for number in range(4)]
    waiting = [host.post("browser.openSession", url=site.url + path) for path in never]
    wait_until(lambda: all(site.hits[path] for path in never), OPEN_S, "the four navigations")  # so the tabs are made
    opening = [host.post("browser.openSession", url="about:blank") for _ in range(4)]
    opened = [result(host.reply(number))["sessionId"] for number in opening]
    assert host.error("browser.openSession", url="about:blank")["code"] == "BROWSER_TAB_LIMIT"
    assert [host.reply(number)["error"]["code"] for number in waiting] == ["BROWSER_TIMEOUT"] * 4
    for session in opened:
        host.close(session)


FIRST_EVENTS = {
    "Network.requestWillBeSent",
    "Network.responseReceived",
    "Network.loadingFinished",
    "Page.frameNavigated",
    "Page.domContentEventFired",
    "Page.loadEventFired",
    "Runtime.executionContextCreated",
    "Runtime.consoleAPICalled",
}


def test_the_events_of_the_first_page_are_whole_in_thirty_opens_of_thirty(host: Stdio, site: Site) -> None:
    for number in range(10):
        waiting = [host.post("browser.openSession", url=f"{site.url}/?{number}.{one}") for one in range(3)]
        for session in [result(host.reply(one))["sessionId"] for one in waiting]:
            page = host.ok("browser.events", sessionId=session, methods=["Page.loadEventFired"], waitMs=3000)
            assert page["events"] != []
            assert {event["method"] for event in host.events(session)} >= FIRST_EVENTS
            host.close(session)


def test_what_was_before_the_first_page_is_no_event(host: Stdio, site: Site) -> None:
    session = host.open(site.url + "/")
    events = host.events(session)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    urls = [e["params"]["frame"]["url"] for e in events if e["method"] == "Page.frameNavigated"]
    assert urls == [site.url + "/"]
    host.close(session)


REFUSED_URLS = (
    pytest.param("file:///etc/passwd", id="file"),
    pytest.param("FILE:///etc/passwd", id="file-in-capitals"),
    pytest.param("view-source:http://example.com/", id="view-source"),
    pytest.param("chrome://settings", id="chrome"),
    pytest.param("javascript:1", id="javascript"),
    pytest.param("data:text/html,1", id="data"),
    pytest.param("http://user:word@example.com/", id="credentials"),
    pytest.param("http://127.0.0.1:9/", id="loopback-not-opened"),
    pytest.param("http://2130706433:9/", id="loopback-as-a-number"),
    pytest.param("http://169.254.169.254/latest", id="metadata"),
)


@pytest.mark.parametrize("url", REFUSED_URLS)
def test_a_refused_url_takes_no_slot_and_is_refused_as_a_navigation_too(host: Stdio, blank: str, url: str) -> None:
    opened = [host.open("about:blank") for _ in range(7)]  # with `blank` that is all there may be
    assert host.error("browser.openSession", url=url)["code"] == "BROWSER_POLICY_DENIED"
    assert host.cdp_error(blank, "Page.navigate", {"url": url})["code"] == "BROWSER_POLICY_DENIED"
    assert host.js(blank, "location.href") == "about:blank"
    for session in opened:
        host.close(session)


def test_the_ninth_session_is_refused_and_a_closed_one_makes_room(host: Stdio) -> None:
    opened = [host.open("about:blank") for _ in range(8)]
    problem = host.error("browser.openSession", url="about:blank")
    assert (problem["code"], problem["details"]) == ("BROWSER_TAB_LIMIT", {"limit": 8, "actual": 8})
    host.close(opened.pop())
    opened.append(host.open("about:blank"))
    for session in opened:
        host.close(session)
