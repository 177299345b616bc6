"""A window that runs through redirects at once: its first requests are there, with an opener and without one."""

from __future__ import annotations

import pytest

from tests.cases.test_network import Events, body
from tests.support.case_site import CaseSite
from tests.support.processes import wait_until
from tests.support.stdio import Stdio, result

SENT = "Network.requestWillBeSent"


def asked(event: dict[str, object]) -> bool:
    """Is it a request of the page's? Chromium asks for the icon on its own."""
    return event["method"] == SENT and "favicon" not in str(event["params"])


def loaded(events: Events) -> bool:
    """Have the rows come?"""
    rows = [event["params"]["requestId"] for event in events if asked(event) and "/_/json" in str(event["params"])]
    done = {event["params"]["requestId"] for event in events if event["method"] == "Network.loadingFinished"}
    return bool(set(rows) & done)


@pytest.mark.parametrize("button", ["js", "blank"], ids=["script", "new-tab-without-an-opener"])
def test_a_window_shows_all_of_its_redirects_and_ends_with_its_opener(
    host: Stdio, cases: CaseSite, button: str
) -> None:
    session = host.open(f"{cases.main}/popup-redirect-chain/")
    result(host.reply(host.click(session, button)))
    (told,) = host.ok("browser.events", sessionId=session, methods=["Host.popupOpened"], waitMs=5000)["events"]
    window = told["params"]["sessionId"]
    wait_until(lambda: loaded(host.events(window)), 10.0, "the rows")
    sent = [event["params"] for event in host.events(window) if asked(event)]
    paths = [one["request"]["url"].removeprefix(cases.main) for one in sent]
    assert [path.partition("&")[0] for path in paths[:3]] == [f"/_/redirect?n={n}" for n in (3, 2, 1)]
    assert paths[3:] == ["/popup-redirect-chain/landing.html", "/_/json?bytes=300"]
    statuses = [one["redirectResponse"]["status"] for one in sent if "redirectResponse" in one]
    assert statuses == [302, 302, 302]
    assert host.ok("browser.events", sessionId=window)["lost"] is False
    assert "Receipt 4417" in body(host, window, sent[3]["requestId"])["body"]
    wait_until(lambda: host.js(window, "result.textContent") == "rows:11", 3.0, "the rows")
    assert "Receipt 4417" in host.js(window, "document.body.innerText")
    listed = {one["sessionId"]: one.get("openerSessionId") for one in host.ok("browser.sessions")["sessions"]}
    assert listed[window] == session
    host.close(session)
    assert host.cdp_error(window, "DOM.enable")["code"] == "SESSION_CLOSED"
    wait_until(lambda: host.ok("browser.sessions")["sessions"] == [], 3.0, "the end of both tabs")
